//! The answer to a turn: what the client puts into its history as it is, and beside it what happened to each call.

use bytes::Bytes;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use toolgate_contract::v1::{CallResponse, ErrorReason, Failure};

use super::{Form, failure, output::Output};

/// One id with the end of its call.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) id: String,
    pub(crate) ending: Ending,
}

/// How a call ended.
#[derive(Debug)]
pub(crate) enum Ending {
    /// The tool ran.
    Ran(CallResponse),
    /// The call was not carried out, or failed.
    Failed(Box<Failure>),
}

/// Writes the answer to a turn, in the order in which its calls were asked for.
pub(crate) fn answer(form: Form, answered: &[Answered]) -> serde_json::Result<Bytes> {
    let entries = || answered.iter().map(|answered| Entry { form, answered });
    let calls = answered.iter().map(Report::of).collect::<Result<_, _>>()?;
    let whole = match form {
        Form::Chat => Whole {
            messages: Some(entries().collect()),
            output: None,
            calls,
        },
        Form::Responses => Whole {
            messages: None,
            output: Some(entries().collect()),
            calls,
        },
    };
    serde_json::to_vec(&whole).map(Bytes::from)
}

#[derive(Serialize)]
struct Whole<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Vec<Entry<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Vec<Entry<'a>>>,
    calls: Vec<Report<'a>>,
}

/// What the history takes.
struct Entry<'a> {
    form: Form,
    answered: &'a Answered,
}

impl Serialize for Entry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Message<'a> {
            role: &'a str,
            tool_call_id: &'a str,
            content: Output<'a>,
        }
        #[derive(Serialize)]
        struct Item<'a> {
            r#type: &'a str,
            call_id: &'a str,
            output: Output<'a>,
        }
        let id = self.answered.id.as_str();
        let output = self.answered.ending.output(self.form);
        match self.form {
            Form::Chat => Message {
                role: "tool",
                tool_call_id: id,
                content: output,
            }
            .serialize(serializer),
            Form::Responses => Item {
                r#type: "function_call_output",
                call_id: id,
                output,
            }
            .serialize(serializer),
        }
    }
}

impl Ending {
    fn output(&self, form: Form) -> Output<'_> {
        match self {
            Self::Failed(failure) => Output::Text(failure::text(failure).into()),
            Self::Ran(call) => {
                let Some(result) = &call.result else {
                    return Output::Text("{}".into());
                };
                Output::of(form, result).unwrap_or_else(|error| {
                    tracing::error!(%error, "a result of the core is no list of content blocks");
                    let failure = Failure::new(ErrorReason::Internal, "internal fault; try again later");
                    Output::Text(failure::text(&failure).into())
                })
            }
        }
    }
}

/// What happened to a call, for the client and not for the model.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    id: &'a str,
    is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<i64>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<&'a RawValue>,
}

impl<'a> Report<'a> {
    fn of(answered: &'a Answered) -> serde_json::Result<Self> {
        let id = answered.id.as_str();
        Ok(match &answered.ending {
            Ending::Failed(failure) => Self {
                id,
                is_error: true,
                reason: Some(failure.reason().name()),
                retry_after: failure.retry_after_seconds(),
                correlation_id: failure.metadata.get("correlationId").map(String::as_str),
                duration_ms: None,
                meta: None,
            },
            Ending::Ran(call) => Self {
                id,
                is_error: call.result.as_ref().is_some_and(|result| result.is_error),
                reason: None,
                retry_after: None,
                correlation_id: Some(&call.correlation_id),
                duration_ms: Some(call.duration_ms),
                meta: match call.result.as_ref().map_or(&[][..], |result| &result.meta) {
                    [] => None,
                    json => Some(serde_json::from_slice(json)?),
                },
            },
        })
    }
}
