//! The catalog of a caller as a list, with a version that is equal exactly when the list is.

use bytes::Bytes;
use data_encoding::HEXLOWER;
use prost::Message;
use ring::digest::{SHA256, digest};
use toolgate_contract::{
    registry::{Effect, Freshness, ToolDef},
    v1::{ListToolsResponse, TargetChoice, ToolAnnotations, ToolDescription},
};

use crate::{broker::Caller, registry, telemetry};

pub(super) fn of(caller: &Caller) -> ListToolsResponse {
    let shown = registry::tools().filter(|tool| caller.snapshot.lists(tool, caller.profile()));
    let mut tools: Vec<_> = shown.map(|tool| description(tool, caller)).collect();
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
