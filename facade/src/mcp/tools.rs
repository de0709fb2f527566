//! The catalog as `tools/list` tells it, written once per version.
//!
//! What a project says of its tool is its own word: its definition is copied, never written anew.

use bytes::{BufMut, Bytes, BytesMut};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use toolgate_contract::v1::{ListToolsResponse, TargetChoice, ToolDescription};

use super::{
    mirrored::Mirrors,
    result::{ServerInfo, one_line},
};
use crate::{
    ToolNames,
    catalog::{Written, schema},
};

/// How long a list may be kept: a tool that was taken away is gone after as long as a revoked credential.
const TTL_MS: u64 = 5_000;

/// A written catalog.
#[derive(Debug)]
pub(super) struct Tools {
    /// The JSON array on one line.
    pub(super) tools: Bytes,
    /// What follows it in revision 2026-07-28, up to the end of the message.
    pub(super) tail: Bytes,
    /// What its tools want in headers as well.
    pub(super) mirrors: Mirrors,
}

impl Written for Tools {
    fn size(&self) -> usize {
        self.tools.len() + self.tail.len()
    }
}

/// Writes a catalog. Schemas stay the bytes they are.
pub(super) fn write(
    answer: &ListToolsResponse,
    names: ToolNames,
    server: &ServerInfo,
) -> serde_json::Result<Tools> {
    let tools = answer.tools.iter();
    let tools: Vec<_> = tools.filter_map(|tool| Entry::of(tool, names)).collect();
    let mut tools = serde_json::to_vec(&tools)?;
    one_line(&mut tools);
    let definitions = answer.tools.iter();
    let definitions = definitions.filter_map(|tool| std::str::from_utf8(&tool.definition).ok());
    let mut tail = BytesMut::new();
    tail.put_slice(format!(",\"ttlMs\":{TTL_MS},\"cacheScope\":\"private\",\"_meta\":{{").as_bytes());
    server.write(&mut tail);
    tail.put_slice(b"}}}");
    Ok(Tools {
        tools: tools.into(),
        tail: tail.freeze(),
        mirrors: Mirrors::of(definitions),
    })
}

/// One tool of the list.
#[derive(Serialize)]
#[serde(untagged)]
enum Entry<'a> {
    /// In the words of the project that brings it.
    Raw(&'a RawValue),
    Ours(Tool<'a>),
}

impl<'a> Entry<'a> {
    /// `None` for a definition that is no object: one project must not take everybody's list away.
    fn of(tool: &'a ToolDescription, names: ToolNames) -> Option<Self> {
        if tool.definition.is_empty() {
            return Some(Self::Ours(Tool { tool, names }));
        }
        let definition = serde_json::from_slice(&tool.definition).ok();
        let definition = definition.filter(|definition: &&RawValue| definition.get().starts_with('{'));
        if definition.is_none() {
            tracing::error!(
                tool = tool.name,
                "the definition of a project's tool is no JSON object"
            );
        }
        definition.map(Self::Raw)
    }
}

struct Tool<'a> {
    tool: &'a ToolDescription,
    names: ToolNames,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    title: &'a str,
    description: &'a str,
    input_schema: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<&'a RawValue>,
    annotations: Annotations<'a>,
    #[serde(rename = "_meta")]
    meta: Meta<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Annotations<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    title: &'a str,
    read_only_hint: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    destructive_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotent_hint: Option<bool>,
    open_world_hint: bool,
}

#[derive(Serialize)]
struct Meta<'a> {
    #[serde(rename = "toolgate/name")]
    name: &'a str,
    #[serde(rename = "toolgate/freshness", skip_serializing_if = "str::is_empty")]
    freshness: &'a str,
    #[serde(rename = "toolgate/targets", skip_serializing_if = "Vec::is_empty")]
    targets: Vec<Choice<'a>>,
}

#[derive(Serialize)]
struct Choice<'a> {
    id: &'a str,
    name: &'a str,
}

impl<'a> From<&'a TargetChoice> for Choice<'a> {
    fn from(target: &'a TargetChoice) -> Self {
        Self {
            id: &target.id,
            name: &target.name,
        }
    }
}

impl Serialize for Tool<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tool = self.tool;
        let output_schema = match tool.output_schema.is_empty() {
            true => None,
            false => Some(schema::<S>(&tool.output_schema)?),
        };
        Listed {
            name: self.names.of(tool),
            title: &tool.title,
            description: &tool.description,
            input_schema: match tool.input_schema.is_empty() {
                true => schema::<S>(b"{\"type\":\"object\"}")?,
                false => schema::<S>(&tool.input_schema)?,
            },
            output_schema,
            annotations: Annotations::of(tool),
            meta: Meta {
                name: &tool.name,
                freshness: &tool.freshness,
                targets: tool.targets.iter().map(Choice::from).collect(),
            },
        }
        .serialize(serializer)
    }
}

impl<'a> Annotations<'a> {
    /// Of a tool that changes something nothing more is known, so that nothing is promised.
    fn of(tool: &'a ToolDescription) -> Self {
        let read_only = tool
            .annotations
            .as_ref()
            .is_some_and(|hints| hints.read_only_hint);
        Self {
            title: &tool.title,
            read_only_hint: read_only,
            destructive_hint: read_only.then_some(false),
            idempotent_hint: read_only.then_some(true),
            open_world_hint: !tool.freshness.is_empty(),
        }
    }
}

impl ToolNames {
    fn of(self, tool: &ToolDescription) -> &str {
        match self {
            Self::Underscore if !tool.function_name.is_empty() => &tool.function_name,
            Self::Underscore | Self::Canonical => &tool.name,
        }
    }
}

#[cfg(test)]
mod tests;
