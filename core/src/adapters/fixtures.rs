//! What the fixtures of conformance runs answer. Only with the feature `conformance`.

mod content;

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::{json, value::RawValue};

use crate::{
    fixtures::Fixtures,
    journal::Contact,
    snapshot::Snapshots,
    upstream::{Level, Payload, Reports, ToolResult, Upstream, UpstreamCall, UpstreamError},
};

/// Between two things that a fixture tells.
const PAUSE: Duration = Duration::from_millis(50);
/// A text may be this long, as an answer of a target may be.
const LONGEST: usize = 8 << 20;
/// Who says the fixtures' lines.
const LOGGER: &str = "fixtures";

/// The stand-in that answers for every fixture.
#[derive(Debug)]
pub struct FixtureTools {
    fixtures: Fixtures,
    snapshots: Snapshots,
}

#[derive(Debug, Deserialize)]
struct Big {
    bytes: usize,
}

#[derive(Debug, Deserialize)]
struct Slow {
    ms: Option<u64>,
    #[serde(default)]
    report: bool,
}

impl FixtureTools {
    /// Over what is seen of them and the lists they change.
    #[must_use]
    pub fn new(fixtures: Fixtures, snapshots: Snapshots) -> Arc<Self> {
        Arc::new(Self { fixtures, snapshots })
    }

    async fn answer(&self, contact: &Contact, call: UpstreamCall) -> Result<ToolResult, UpstreamError> {
        let UpstreamCall {
            tool,
            arguments,
            reports,
            ..
        } = call;
        match tool {
            "test_simple_text" => content::text("This is a simple text response for testing."),
            "test_image_content" => content::of(&json!([content::image()])),
            "test_audio_content" => content::of(&json!([content::audio()])),
            "test_embedded_resource" => content::of(&json!([content::resource()])),
            "test_multiple_content_types" => content::of(&content::mixed()),
            "test_error_handling" => Ok(ToolResult {
                is_error: true,
                ..content::text("This tool intentionally returns an error for testing")?
            }),
            "test_tool_with_logging" => logging(&reports).await,
            "test_tool_with_progress" => progress(&reports).await,
            "test_logging_tool" => {
                reports.log(Level::Info, LOGGER, || json!("This tool logs."));
                content::text("This tool has logged.")
            }
            "test_trigger_tool_change" => self.change(contact).await,
            "test_big" => big(&arguments),
            "test_slow" => self.slow(&arguments, &reports).await,
            "test_echo" => echo(&arguments),
            _ => content::text("This tool has nothing else to say."),
        }
    }

    async fn change(&self, contact: &Contact) -> Result<ToolResult, UpstreamError> {
        self.fixtures.toggle(contact.tenant());
        self.snapshots
            .refresh(contact.tenant())
            .await
            .map_err(|_| UpstreamError::Failed)?;
        content::text("The list of tools has changed.")
    }

    // Dropped where it waits, it has been cancelled and says so.
    async fn slow(&self, arguments: &Payload, reports: &Reports) -> Result<ToolResult, UpstreamError> {
        let Slow { ms, report } = read(arguments)?;
        if report {
            reports.progress(0.0, Some(1.0), Some("waiting"));
        }
        let slow = self.fixtures.slow();
        tokio::time::sleep(Duration::from_millis(ms.unwrap_or(60_000))).await;
        slow.end();
        content::text("This tool has waited.")
    }
}

impl Upstream for FixtureTools {
    fn call<'a>(
        &'a self,
        contact: &'a Contact,
        call: UpstreamCall,
    ) -> BoxFuture<'a, Result<ToolResult, UpstreamError>> {
        Box::pin(self.answer(contact, call))
    }
}

async fn logging(reports: &Reports) -> Result<ToolResult, UpstreamError> {
    for said in [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ] {
        reports.log(Level::Info, LOGGER, || json!(said));
        tokio::time::sleep(PAUSE).await;
    }
    content::text("This tool has logged.")
}

async fn progress(reports: &Reports) -> Result<ToolResult, UpstreamError> {
    for at in [0.0, 50.0, 100.0] {
        reports.progress(at, Some(100.0), None);
        tokio::time::sleep(PAUSE).await;
    }
    content::text("This tool has told its progress.")
}

fn big(arguments: &Payload) -> Result<ToolResult, UpstreamError> {
    let Big { bytes } = read(arguments)?;
    match bytes <= LONGEST {
        true => content::text(&"x".repeat(bytes)),
        false => Err(UpstreamError::TooLarge),
    }
}

// As they are: no number is read, no key moved.
fn echo(arguments: &Payload) -> Result<ToolResult, UpstreamError> {
    let text = String::from_utf8(arguments.0.to_vec()).map_err(|_| UpstreamError::Invalid)?;
    let structured = RawValue::from_string(text).map_err(|_| UpstreamError::Invalid)?;
    Ok(ToolResult {
        structured: Some(structured.clone()),
        ..content::text(structured.get())?
    })
}

fn read<'a, T: Deserialize<'a>>(arguments: &'a Payload) -> Result<T, UpstreamError> {
    serde_json::from_slice(&arguments.0).map_err(|_| UpstreamError::Invalid)
}
