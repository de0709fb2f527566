//! `GET /api/mcp/tools`: the caller's catalog, serialised once per catalog version.
//!
//! The core is asked every time, because only it knows who the caller is and what it may see now; it leaves the list
//! out when the version is one we have already written.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex, PoisonError},
};

use axum::{extract::State, response::Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use toolgate_contract::v1::{ListToolsRequest, ListToolsResponse, ToolDescription};

use crate::{
    link::Caller,
    problem::Problem,
    routes::{Shared, json_answer},
};

pub(in crate::rest) const PATH: &str = "/api/mcp/tools";

/// Lists of a generation, and callers whose version is remembered. Two generations are kept.
const GENERATION: usize = 512;
/// Bytes of lists of a generation.
const GENERATION_BYTES: usize = 8 * 1024 * 1024;

pub(in crate::rest) async fn tools(
    State(shared): State<Shared>,
    headers: HeaderMap,
    caller: Caller,
) -> Result<Response, Problem> {
    let key = shared.rest.lists.key(&caller);
    let had = Tags::of(&headers);
    let known = shared.rest.lists.of_caller(key);
    let asked = known
        .as_ref()
        .map(|list| list.version.clone())
        .or_else(|| had.first());
    let again = caller.again();
    let mut answer = ask(&shared, caller, asked.clone()).await?;
    if answer.unchanged {
        let version = asked.unwrap_or_default();
        if had.contains(&version) {
            return Ok(not_modified(&version));
        }
        if let Some(list) = known {
            return Ok(list.answer());
        }
        // The caller named a version that it does not claim to have after all; ask for the whole list.
        answer = ask(&shared, again, None).await?;
    }
    let list = Arc::new(List::render(&answer)?);
    shared.rest.lists.remember(key, &list);
    if had.contains(&list.version) {
        Ok(not_modified(&list.version))
    } else {
        Ok(list.answer())
    }
}

async fn ask(shared: &Shared, caller: Caller, known: Option<String>) -> Result<ListToolsResponse, Problem> {
    let request = caller.request(ListToolsRequest { known_version: known });
    shared.link.ask(shared.link.broker().list_tools(request)).await
}

fn not_modified(version: &str) -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    if let Some(tag) = tag(version) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

fn tag(version: &str) -> Option<HeaderValue> {
    let plain = !version.is_empty()
        && version
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'"');
    plain
        .then(|| HeaderValue::try_from(format!("\"{version}\"")).ok())
        .flatten()
}

/// The entity tags that the caller has.
struct Tags {
    any: bool,
    tags: Vec<String>,
}

impl Tags {
    fn of(headers: &HeaderMap) -> Self {
        let lines = headers
            .get_all(header::IF_NONE_MATCH)
            .iter()
            .filter_map(|line| line.to_str().ok());
        let mut had = Self {
            any: false,
            tags: Vec::new(),
        };
        for tag in lines.flat_map(|line| line.split(',')).map(str::trim) {
            let weak = tag.strip_prefix("W/").unwrap_or(tag);
            match weak.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')) {
                Some(version) => had.tags.push(version.to_owned()),
                None => had.any |= tag == "*",
            }
        }
        had
    }

    fn first(&self) -> Option<String> {
        self.tags.first().cloned()
    }

    fn contains(&self, version: &str) -> bool {
        self.any || self.tags.iter().any(|tag| tag == version)
    }
}

/// One catalog, written.
#[derive(Debug)]
struct List {
    version: String,
    tag: Option<HeaderValue>,
    body: Bytes,
}

impl List {
    fn render(answer: &ListToolsResponse) -> Result<Self, Problem> {
        let catalog = Catalog {
            tools: answer.tools.iter().map(Tool).collect(),
        };
        let body = serde_json::to_vec(&catalog).map_err(|error| {
            tracing::error!(%error, "a schema of the core's catalog is no JSON");
            Problem::internal()
        })?;
        Ok(Self {
            version: answer.version.clone(),
            tag: tag(&answer.version),
            body: body.into(),
        })
    }

    fn answer(&self) -> Response {
        let mut response = json_answer(StatusCode::OK, self.body.clone());
        if let Some(tag) = &self.tag {
            response.headers_mut().insert(header::ETAG, tag.clone());
        }
        response
    }
}

/// The written catalogs, by caller. Callers are told apart by a keyed hash; a collision only costs a second question,
/// because the core compares versions for the caller it sees.
#[derive(Debug, Default)]
pub(in crate::rest) struct Lists {
    hasher: RandomState,
    generations: Mutex<[HashMap<u64, Arc<List>>; 2]>,
}

impl Lists {
    fn key(&self, caller: &Caller) -> u64 {
        self.hasher.hash_one(caller.identity())
    }

    fn of_caller(&self, key: u64) -> Option<Arc<List>> {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(list) = generations[0].get(&key) {
            return Some(Arc::clone(list));
        }
        let list = generations[1].remove(&key)?;
        Self::insert(&mut generations, key, &list);
        Some(list)
    }

    fn remember(&self, key: u64, list: &Arc<List>) {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        Self::insert(&mut generations, key, list);
    }

    fn insert(generations: &mut [HashMap<u64, Arc<List>>; 2], key: u64, list: &Arc<List>) {
        // Callers with the same catalog share its bytes.
        let shared = generations[0]
            .values()
            .find(|other| other.version == list.version);
        let list = Arc::clone(shared.unwrap_or(list));
        let bytes: usize = generations[0].values().map(|list| list.body.len()).sum();
        if generations[0].len() >= GENERATION || bytes + list.body.len() > GENERATION_BYTES {
            generations[1] = std::mem::take(&mut generations[0]);
        }
        generations[0].insert(key, list);
    }
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
            input_schema: raw::<S>(&tool.input_schema)?,
            output_schema: raw::<S>(&tool.output_schema)?,
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
        }
        .serialize(serializer)
    }
}

fn raw<S: Serializer>(json: &[u8]) -> Result<&RawValue, S::Error> {
    let json = if json.is_empty() { b"{}" } else { json };
    serde_json::from_slice(json).map_err(serde::ser::Error::custom)
}
