//! Walks the golden cases.
//!
//! A case is a text of sections. `== catalog` (tool descriptions) gives `== chat` and `== responses`. `== body` gives
//! `== read`; with `== outcomes`, one JSON line a call, it gives `== answer` as well.

use std::{fmt::Write as _, fs, path::PathBuf};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use toolgate_contract::v1::{
    CallResponse, ErrorReason, Failure, TargetChoice, ToolDescription, ToolResult, Violation,
};

use super::super::{Answered, Ending, Form, answer, calls::Turn, read, tools};

const DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/openai");

#[test]
fn every_golden_case_is_translated_as_it_stands() {
    #[allow(
        clippy::disallowed_methods,
        reason = "the switch of the golden files is no configuration"
    )]
    let update = std::env::var_os("UPDATE").is_some();
    let mut files: Vec<PathBuf> = fs::read_dir(DIRECTORY)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() >= 20, "{}", files.len());
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let now = translated(&text);
        if update {
            fs::write(&file, &now).unwrap();
        } else {
            assert_eq!(now, text, "{}", file.display());
        }
    }
}

fn translated(text: &str) -> String {
    let (head, _) = text.split_once("== ").unwrap();
    let section = |name: &str| {
        let (_, rest) = text.split_once(&format!("== {name}\n"))?;
        Some(rest.split("\n== ").next().unwrap().trim_end())
    };
    let mut out = head.to_owned();
    let mut put = |name: &str, text: &str| write!(out, "== {name}\n{}\n", text.trim_end()).unwrap();
    if let Some(catalog) = section("catalog") {
        put("catalog", catalog);
        let described: Vec<Described<'_>> = serde_json::from_str(catalog).unwrap();
        let described: Vec<_> = described.into_iter().map(ToolDescription::from).collect();
        put("chat", &shown(&tools(Form::Chat, &described).unwrap()));
        put("responses", &shown(&tools(Form::Responses, &described).unwrap()));
    }
    if let Some(body) = section("body") {
        put("body", body);
        let turn = read(&Bytes::copy_from_slice(body.as_bytes()));
        put("read", &told(&turn));
        if let Some(outcomes) = section("outcomes") {
            put("outcomes", outcomes);
            put("answer", &shown(&answered(turn.unwrap(), outcomes)));
        }
    }
    out
}

fn told(turn: &Result<Turn, Box<Failure>>) -> String {
    let turn = match turn {
        Err(failure) => return format!("refused: {} {}", failure.reason().name(), failure.message),
        Ok(turn) => turn,
    };
    let calls = turn.asked.iter().map(|asked| match &asked.call {
        Ok(call) => format!(
            "{:?}: {:?} {}",
            asked.id,
            call.name,
            String::from_utf8_lossy(&call.arguments)
        ),
        Err(failure) => format!("{:?}: {} {}", asked.id, failure.reason().name(), failure.message),
    });
    let lines: Vec<_> = [format!("{:?}", turn.form)].into_iter().chain(calls).collect();
    lines.join("\n")
}

fn answered(turn: Turn, outcomes: &str) -> Bytes {
    let mut outcomes = outcomes.lines();
    let answered: Vec<_> = turn
        .asked
        .into_iter()
        .map(|asked| Answered {
            id: asked.id,
            ending: match asked.call {
                Err(failure) => Ending::Failed(failure),
                Ok(_) => serde_json::from_str::<Outcome<'_>>(outcomes.next().unwrap())
                    .unwrap()
                    .into(),
            },
        })
        .collect();
    assert_eq!(outcomes.next(), None);
    answer(turn.form, &answered).unwrap()
}

/// One entry a line, so that a difference is seen where it is.
fn shown(json: &Bytes) -> String {
    #[derive(Deserialize)]
    struct Whole<'a> {
        #[serde(borrow)]
        tools: Option<Vec<&'a RawValue>>,
        #[serde(borrow)]
        messages: Option<Vec<&'a RawValue>>,
        #[serde(borrow)]
        output: Option<Vec<&'a RawValue>>,
        #[serde(borrow)]
        calls: Option<Vec<&'a RawValue>>,
    }
    let whole: Whole<'_> = serde_json::from_slice(json).unwrap();
    let lists = [
        ("tools", whole.tools),
        ("messages", whole.messages),
        ("output", whole.output),
        ("calls", whole.calls),
    ];
    let mut lines = Vec::new();
    for (name, list) in lists {
        let Some(list) = list else { continue };
        lines.push(format!("{name}:"));
        lines.extend(list.iter().map(|entry| entry.get().to_owned()));
    }
    lines.join("\n")
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Outcome<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    structured_content: Option<&'a RawValue>,
    #[serde(default)]
    is_error: bool,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
    reason: Option<String>,
    #[serde(default)]
    message: String,
    retry_after_ms: Option<i64>,
    #[serde(default)]
    violations: Vec<[String; 3]>,
    #[serde(default)]
    targets: Vec<[String; 2]>,
}

impl From<Outcome<'_>> for Ending {
    fn from(outcome: Outcome<'_>) -> Self {
        const CALL_ID: &str = "01JDZ3V8Q4T7X9K2M5N6P8R0SA";
        let bytes = |raw: Option<&RawValue>| {
            raw.map_or_else(Bytes::new, |raw| Bytes::copy_from_slice(raw.get().as_bytes()))
        };
        let Some(reason) = outcome.reason else {
            return Self::Ran(CallResponse {
                correlation_id: CALL_ID.into(),
                result: Some(ToolResult {
                    content: bytes(outcome.content),
                    structured_content: bytes(outcome.structured_content),
                    is_error: outcome.is_error,
                    meta: bytes(outcome.meta),
                    ..Default::default()
                }),
                duration_ms: 12,
            });
        };
        let mut failure =
            Failure::new(ErrorReason::from_name(&reason).unwrap(), outcome.message)
                .with_metadata("correlationId", CALL_ID)
                .with_violations(outcome.violations.into_iter().map(|[pointer, keyword, message]| {
                    Violation {
                        pointer,
                        keyword,
                        message,
                    }
                }))
                .with_targets(
                    outcome
                        .targets
                        .into_iter()
                        .map(|[id, name]| TargetChoice { id, name }),
                );
        failure.retry_after_ms = outcome.retry_after_ms;
        Self::Failed(Box::new(failure))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Described<'a> {
    name: String,
    description: String,
    #[serde(borrow)]
    input_schema: &'a RawValue,
    #[serde(default)]
    targets: Vec<[String; 2]>,
}

impl From<Described<'_>> for ToolDescription {
    fn from(described: Described<'_>) -> Self {
        Self {
            function_name: described.name.replace('.', "_"),
            name: described.name,
            description: described.description,
            input_schema: Bytes::copy_from_slice(described.input_schema.get().as_bytes()),
            targets: described
                .targets
                .into_iter()
                .map(|[id, name]| TargetChoice { id, name })
                .collect(),
            ..Self::default()
        }
    }
}
