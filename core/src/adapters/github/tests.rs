//! The adapter against a peer on loopback: what it sends, what it makes of odd answers, what it refuses.

mod answers;
mod examples;
mod limits;
mod pages;
mod prism;
mod refusals;
mod settings;

use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolgate_contract::ids::CallId;

use super::*;
use crate::{
    registry,
    upstream::{
        Payload, Reports,
        reader::peer::{self, Asked, Peer, Reply},
    },
};

/// A token of the kind that is taken.
pub(super) const TOKEN: &str = "github_pat_11TESTS_nobodyEverMadeThisOne";

/// The adapter, and who is asked.
pub(super) struct World<P = Peer> {
    pub(super) peer: P,
    pub(super) github: Github,
    pub(super) clock: Clock,
    pub(super) contact: Contact,
}

/// What a tool answered, taken apart.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) text: String,
    pub(super) structured: Value,
    pub(super) is_error: bool,
}

impl World {
    /// A GitHub on loopback that answers so.
    pub(super) fn answering(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        Self::below("", answer)
    }

    /// The same below a base path.
    pub(super) fn below(path: &str, answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let peer = Peer::answering(answer);
        let World {
            github,
            clock,
            contact,
            ..
        } = World::at(&format!("{}{path}", peer.base()));
        Self {
            peer,
            github,
            clock,
            contact,
        }
    }

    /// Paths and queries that were asked for, in order.
    pub(super) fn asked(&self) -> Vec<String> {
        let asked = self.peer.asked().into_iter();
        asked.map(|asked| asked.path_and_query).collect()
    }
}

impl World<()> {
    /// Somebody else's GitHub on loopback.
    pub(super) fn at(url: &str) -> Self {
        let (clock, contact) = (Clock::manual(1_800_000_000_000_000), peer::contact());
        let stored = json!({"baseUrl": url, "allowLoopback": true, "allowHttp": true});
        let github = Github::open(&stored, TOKEN, clock.clone()).unwrap();
        Self {
            peer: (),
            github,
            clock,
            contact,
        }
    }
}

impl<P> World<P> {
    /// Calls a tool; a result is held against the tool's schema.
    pub(super) async fn call(&self, tool: &'static str, arguments: Value) -> Result<Told, UpstreamError> {
        let definition = registry::tool(tool).unwrap();
        assert_eq!(registry::violations(definition, &arguments), [], "{arguments}");
        let call = UpstreamCall {
            call: CallId::mint(),
            tool,
            arguments: Payload(serde_json::to_vec(&arguments).unwrap().into()),
            secret: None,
            deadline: Duration::from_secs(10),
            cancelled: CancellationToken::new(),
            reports: Reports::none(),
            message: None,
        };
        let result = self.github.call(&self.contact, call).await?;
        let content: Value = serde_json::from_str(result.content.get()).unwrap();
        let text = content[0]["text"].as_str().unwrap().to_owned();
        assert!(text.lines().count() <= 110 && !text.contains(TOKEN), "{text}");
        match &result.structured {
            Some(structured) => assert!(registry::fits_output(tool, structured), "{}", structured.get()),
            None => assert!(result.is_error, "a result without its structured part"),
        }
        Ok(Told {
            text,
            structured: result
                .structured
                .map_or(Value::Null, |raw| serde_json::from_str(raw.get()).unwrap()),
            is_error: result.is_error,
        })
    }

    pub(super) async fn repos(&self, arguments: Value) -> Result<Told, UpstreamError> {
        self.call("github.list_repos", arguments).await
    }

    pub(super) async fn runs(&self, more: Value) -> Result<Told, UpstreamError> {
        let mut arguments = json!({"owner": "acme", "repo": "site"});
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        self.call("github.get_recent_ci_runs", arguments).await
    }

    pub(super) async fn run(&self, id: u64) -> Result<Told, UpstreamError> {
        let arguments = json!({"owner": "acme", "repo": "site", "run_id": id});
        self.call("github.get_workflow_run", arguments).await
    }
}

/// A page of these runs.
pub(super) fn page_of(runs: &[Value]) -> Value {
    json!({"total_count": runs.len(), "workflow_runs": runs})
}

/// A no of this status with this message.
pub(super) fn said(status: u16, message: &str) -> Reply {
    Reply::json(&json!({"message": message, "documentation_url": "https://docs.github.com/rest"}))
        .with_status(status)
}
