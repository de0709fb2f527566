//! `GET /api/mcp/tools`: the caller's catalog, serialised once per catalog version.
//!
//! The core is asked every time, because only it knows who the caller is and what it may see now; it leaves the list
//! out when the version is one we have already written.

use axum::{extract::State, response::Response};
use bytes::Bytes;
use http::HeaderMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use toolgate_contract::v1::{ListToolsResponse, ToolDescription};

use crate::{
    catalog::{Found, schema},
    entity_tags::{Tags, answer, not_modified},
    link::Caller,
    problem::Problem,
    routes::Shared,
};

pub(in crate::rest) const PATH: &str = "/api/mcp/tools";

pub(in crate::rest) async fn tools(
    State(shared): State<Shared>,
    headers: HeaderMap,
    caller: Caller,
) -> Result<Response, Problem> {
    let had = Tags::of(&headers);
    let lists = &shared.rest.lists;
    let found = lists.ask_unless(&shared.link, caller, had.first(), write).await?;
    Ok(match found {
        Found::Same(version) => not_modified(&version),
        Found::List(list) if had.contains(&list.version) => not_modified(&list.version),
        Found::List(list) => answer(&list),
    })
}

fn write(answer: &ListToolsResponse) -> serde_json::Result<Bytes> {
    let catalog = Catalog {
        tools: answer.tools.iter().map(Tool).collect(),
    };
    serde_json::to_vec(&catalog).map(Bytes::from)
}

#[derive(Serialize)]
struct Catalog<'a> {
    tools: Vec<Tool<'a>>,
}

struct Tool<'a>(&'a ToolDescription);

impl Serialize for Tool<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Written<'a> {
            name: &'a str,
            function_name: &'a str,
            title: &'a str,
            description: &'a str,
            input_schema: &'a RawValue,
            output_schema: &'a RawValue,
            annotations: Annotations,
            adapter_type: &'a str,
            freshness: &'a str,
            targets: Vec<Choice<'a>>,
            project: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            definition: Option<&'a RawValue>,
        }
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Annotations {
            read_only_hint: bool,
        }
        #[derive(Serialize)]
        struct Choice<'a> {
            id: &'a str,
            name: &'a str,
        }
        let tool = self.0;
        Written {
            name: &tool.name,
            function_name: &tool.function_name,
            title: &tool.title,
            description: &tool.description,
            input_schema: schema::<S>(&tool.input_schema)?,
            output_schema: schema::<S>(&tool.output_schema)?,
            annotations: Annotations {
                read_only_hint: tool
                    .annotations
                    .as_ref()
                    .is_some_and(|hints| hints.read_only_hint),
            },
            adapter_type: &tool.adapter_type,
            freshness: &tool.freshness,
            targets: tool
                .targets
                .iter()
                .map(|each| Choice {
                    id: &each.id,
                    name: &each.name,
                })
                .collect(),
            project: &tool.project,
            // The project's own bytes; what is none of JSON is not told.
            definition: serde_json::from_slice(&tool.definition).ok(),
        }
        .serialize(serializer)
    }
}
