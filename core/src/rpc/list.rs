//! The catalog of a caller as a list, with a version that is equal exactly when the list is.

use std::sync::Arc;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use prost::Message;
use ring::digest::{SHA256, digest};
use toolgate_contract::{
    registry::{Effect, Freshness, ToolDef},
    splice,
    v1::{ListToolsResponse, TargetChoice, ToolAnnotations, ToolDescription},
};

use crate::{
    broker::{self, Broker, Caller},
    fleet::{Published, ToolList},
    registry,
    snapshot::Target,
    telemetry,
};

/// The list of now.
pub(super) fn now(broker: &Broker, caller: &Caller) -> Arc<ListToolsResponse> {
    let rooms = broker.rooms();
    let project = broker::listed(rooms, caller)
        .and_then(|target| Some((rooms.fleet.list(&target)?, target)))
        .map(|(list, target)| (target, list));
    let key = project
        .as_ref()
        .map(|(target, list)| (target.id, Arc::clone(&list.hash)));
    caller
        .snapshot
        .list(caller.profile(), key, || of(caller, project.as_ref()))
}

fn of(caller: &Caller, project: Option<&(Arc<Target>, Arc<ToolList>)>) -> ListToolsResponse {
    let shown = registry::tools().filter(|tool| caller.snapshot.lists(tool, caller.profile()));
    let mut tools: Vec<_> = shown.map(|tool| description(tool, caller)).collect();
    if let Some((target, list)) = project {
        let reads_only = !target.may_write();
        let shown = list
            .tools()
            .iter()
            .filter(|tool| !reads_only || tool.tool.read_only);
        let capped = caller
            .profile()
            .is_some_and(|profile| profile.result_cap.is_some());
        tools.extend(shown.map(|tool| brought(tool, target, capped)));
    }
    tools.sort_by(|one, other| one.name.cmp(&other.name));
    telemetry::registered_tools(caller.profile().map(|profile| &*profile.name), tools.len());
    let mut list = ListToolsResponse {
        tools,
        version: String::new(),
        unchanged: false,
    };
    let hash = digest(&SHA256, &list.encode_to_vec());
    list.version = HEXLOWER.encode(&hash.as_ref()[..16]);
    list
}

/// A tool that a project brings: its texts are the project's own.
fn brought(tool: &Published, project: &Target, capped: bool) -> ToolDescription {
    // A result that is cut keeps no promise of a structured part.
    let promises = std::str::from_utf8(&tool.definition)
        .ok()
        .filter(|_| capped)
        .and_then(|definition| splice::without(definition, "outputSchema").ok())
        .map(|(definition, _)| Bytes::from(definition.into_owned()));
    ToolDescription {
        name: tool.name.to_string(),
        function_name: tool.function_name.to_string(),
        title: tool.title.clone(),
        description: tool.description.clone(),
        input_schema: tool.input_schema.clone(),
        output_schema: match capped {
            true => Bytes::new(),
            false => tool.output_schema.clone(),
        },
        annotations: Some(ToolAnnotations {
            read_only_hint: tool.tool.read_only,
        }),
        adapter_type: registry::PROJECT.into(),
        freshness: String::new(),
        targets: vec![],
        project: project.name.clone(),
        definition: promises.unwrap_or_else(|| tool.definition.clone()),
    }
}

fn description(tool: &'static ToolDef, caller: &Caller) -> ToolDescription {
    ToolDescription {
        name: tool.name.into(),
        function_name: tool.function_name.into(),
        title: tool.title.into(),
        description: tool.description.into(),
        input_schema: Bytes::from_static(tool.input_schema.as_bytes()),
        output_schema: match caller
            .profile()
            .is_some_and(|profile| profile.result_cap.is_some())
        {
            // A result that is cut keeps no promise of a structured part.
            true => Bytes::new(),
            false => Bytes::from_static(tool.output_schema.as_bytes()),
        },
        annotations: Some(ToolAnnotations {
            read_only_hint: tool.effect != Effect::Write,
        }),
        adapter_type: tool.adapter.into(),
        freshness: match tool.freshness {
            Some(Freshness::Live) => "live".into(),
            Some(Freshness::Inventory) => "inventory".into(),
            None => String::new(),
        },
        targets: caller
            .snapshot
            .targets_of(tool.adapter)
            .map(|target| TargetChoice {
                id: target.id.to_string(),
                name: target.name.clone(),
            })
            .collect(),
        project: String::new(),
        definition: Bytes::new(),
    }
}
