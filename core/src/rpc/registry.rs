//! `RegistryService`: every registered tool as one tenant has it.

use bytes::Bytes;
use tonic::{Request, Response, Status};
use toolgate_contract::{
    registry::{Freshness, Group, ToolDef},
    v1::{
        ListRegistryRequest, ListRegistryResponse, RegisteredTool, registry_service_server::RegistryService,
    },
};

use super::Rpc;
use crate::{
    identity::{Action, Role},
    registry,
    snapshot::{Hidden, Snapshot},
    token_cost,
    why::{self, Rule},
};

#[tonic::async_trait]
impl RegistryService for Rpc {
    async fn list_registry(
        &self,
        request: Request<ListRegistryRequest>,
    ) -> Result<Response<ListRegistryResponse>, Status> {
        let caller = self.caller(&request, Action::SeePolicy).await?;
        let counts = self.answer(&caller, token_cost::counts().await).await?;
        let snapshot = &caller.snapshot;
        let here = registry::tools().filter(|tool| snapshot.hides(tool, None) != Some(Hidden::Absent));
        let mut tools: Vec<_> = here
            .map(|tool| told(snapshot, tool, counts.of(tool.name)))
            .collect();
        tools.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Response::new(ListRegistryResponse { tools }))
    }
}

// Asked for someone who may call tools and has no profile: what is left hides a tool from everyone.
fn told(snapshot: &Snapshot, tool: &'static ToolDef, tokens: u32) -> RegisteredTool {
    let standing = snapshot.standing(None, None, crate::profiles::UnknownProfile::Open);
    let why = why::explain(snapshot, Role::Admin, &standing, tool.name);
    RegisteredTool {
        name: tool.name.into(),
        function_name: tool.function_name.into(),
        title: tool.title.into(),
        description: tool.description.into(),
        adapter_type: tool.adapter.into(),
        group: tool.group.map(|group| group.as_str().to_owned()),
        effect: tool.effect.as_str().into(),
        freshness: tool
            .freshness
            .map(|freshness: Freshness| freshness.as_str().to_owned()),
        state: state(why.rule).into(),
        why: why.sentence,
        disabled: snapshot.disables(tool),
        tokens,
        input_schema: Bytes::from_static(tool.input_schema.as_bytes()),
        output_schema: Bytes::from_static(tool.output_schema.as_bytes()),
        targets: targets(snapshot, tool),
    }
}

fn state(rule: Rule) -> &'static str {
    match rule {
        Rule::Policy => "disabled",
        Rule::NoBackEnd => "no_back_end",
        Rule::ReadOnly => "read_only",
        Rule::GatewayTool => "on_request",
        Rule::NothingHides => "listed",
        // Of roles, profiles and names that are none: nobody has one here.
        Rule::NotRegistered
        | Rule::Project
        | Rule::WriteAttempt
        | Rule::Role
        | Rule::ProfilePinned
        | Rule::ProfileAsked
        | Rule::ProfileUnknownClosed
        | Rule::DisclosureSearch
        | Rule::ProfileUnknownOpen => "hidden",
    }
}

/// Enabled targets that can serve it.
fn targets(snapshot: &Snapshot, tool: &ToolDef) -> u32 {
    let serving = match tool.group {
        Some(Group::Fleet) => snapshot.projects().count(),
        _ => snapshot
            .targets_of(tool.adapter)
            .filter(|target| target.lets(tool))
            .count(),
    };
    u32::try_from(serving).unwrap_or(u32::MAX)
}
