//! `FleetService`: the projects as they are registered, and how they do.

use tonic::{Request, Response, Status};
use toolgate_contract::v1::{
    AcceptToolsRequest, AcceptToolsResponse, CreateProjectRequest, CreateProjectResponse,
    DeleteProjectRequest, DeleteProjectResponse, GetProjectRequest, GetProjectResponse, ListProjectsRequest,
    ListProjectsResponse, ListRelaysRequest, ListRelaysResponse, PinRelayRequest, PinRelayResponse, Project,
    ProjectEvent, ProjectTool, RepinRelayRequest, RepinRelayResponse, SetDefaultProjectRequest,
    SetDefaultProjectResponse, UpdateProjectRequest, UpdateProjectResponse,
    fleet_service_server::FleetService,
};

use super::{Rpc, manage::by, relays, targets::told_enrolment};
use crate::{
    fleet::Event,
    identity::Action,
    projects::{Known, Tool},
    rfc3339,
};

#[tonic::async_trait]
impl FleetService for Rpc {
    async fn create_project(
        &self,
        request: Request<CreateProjectRequest>,
    ) -> Result<Response<CreateProjectResponse>, Status> {
        let caller = self.caller(&request, Action::ChangeTargets).await?;
        let CreateProjectRequest { name, config } = request.into_inner();
        let created = self.projects.create(by(&caller), name, config).await;
        let (project, enrolment) = self.answer(&caller, created).await?;
        Ok(Response::new(CreateProjectResponse {
            project: Some(told(project)),
            enrolment: enrolment.as_ref().map(told_enrolment),
        }))
    }

    async fn list_projects(
        &self,
        request: Request<ListProjectsRequest>,
    ) -> Result<Response<ListProjectsResponse>, Status> {
        let caller = self.caller(&request, Action::SeeTargets).await?;
        let listed = self.projects.list(&by(&caller)).await;
        let projects = self.answer(&caller, listed).await?;
        Ok(Response::new(ListProjectsResponse {
            projects: projects.into_iter().map(told).collect(),
        }))
    }

    async fn get_project(
        &self,
        request: Request<GetProjectRequest>,
    ) -> Result<Response<GetProjectResponse>, Status> {
        let caller = self.caller(&request, Action::SeeTargets).await?;
        let found = self.projects.get(&by(&caller), &request.into_inner().name).await;
        let whole = self.answer(&caller, found).await?;
        Ok(Response::new(GetProjectResponse {
            project: Some(told(whole.project)),
            tools: whole.tools.iter().map(told_tool).collect(),
            events: whole.events.iter().map(told_event).collect(),
            withheld_tools: whole.withheld.iter().map(told_tool).collect(),
        }))
    }

    async fn update_project(
        &self,
        request: Request<UpdateProjectRequest>,
    ) -> Result<Response<UpdateProjectResponse>, Status> {
        let caller = self.caller(&request, Action::ChangeTargets).await?;
        let UpdateProjectRequest {
            name,
            config,
            disabled,
        } = request.into_inner();
        let updated = self.projects.update(by(&caller), &name, config, disabled).await;
        let project = Some(told(self.answer(&caller, updated).await?));
        Ok(Response::new(UpdateProjectResponse { project }))
    }

    async fn delete_project(
        &self,
        request: Request<DeleteProjectRequest>,
    ) -> Result<Response<DeleteProjectResponse>, Status> {
        let caller = self.caller(&request, Action::ChangeTargets).await?;
        let deleted = self
            .projects
            .delete(by(&caller), &request.into_inner().name)
            .await;
        self.answer(&caller, deleted).await?;
        Ok(Response::new(DeleteProjectResponse {}))
    }

    async fn accept_tools(
        &self,
        request: Request<AcceptToolsRequest>,
    ) -> Result<Response<AcceptToolsResponse>, Status> {
        let caller = self.caller(&request, Action::ChangeTargets).await?;
        let AcceptToolsRequest { name, hash } = request.into_inner();
        let accepted = self.projects.accept(by(&caller), &name, &hash).await;
        let project = Some(told(self.answer(&caller, accepted).await?));
        Ok(Response::new(AcceptToolsResponse { project }))
    }

    async fn repin_relay(
        &self,
        request: Request<RepinRelayRequest>,
    ) -> Result<Response<RepinRelayResponse>, Status> {
        let caller = self.caller(&request, Action::ChangeTargets).await?;
        let RepinRelayRequest { name, key } = request.into_inner();
        let repinned = self.projects.repin(by(&caller), &name, &key).await;
        let project = Some(told(self.answer(&caller, repinned).await?));
        Ok(Response::new(RepinRelayResponse { project }))
    }

    async fn list_relays(
        &self,
        request: Request<ListRelaysRequest>,
    ) -> Result<Response<ListRelaysResponse>, Status> {
        relays::list(self, request).await
    }

    async fn pin_relay(
        &self,
        request: Request<PinRelayRequest>,
    ) -> Result<Response<PinRelayResponse>, Status> {
        relays::pin(self, request).await
    }

    async fn set_default_project(
        &self,
        request: Request<SetDefaultProjectRequest>,
    ) -> Result<Response<SetDefaultProjectResponse>, Status> {
        let caller = self.caller(&request, Action::ChangeTargets).await?;
        let name = request.into_inner().name;
        let wanted = (!name.is_empty()).then_some(&*name);
        let set = self.projects.set_default(by(&caller), wanted).await;
        self.answer(&caller, set).await?;
        Ok(Response::new(SetDefaultProjectResponse { name }))
    }
}

fn told(project: Known) -> Project {
    let status = project.status();
    let server = status.server.as_ref();
    let time = |at: Option<i64>| at.map(rfc3339::format).unwrap_or_default();
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let (config, source) = project.target.settings_and_source();
    Project {
        id: project.target.id.to_string(),
        name: project.target.name.clone(),
        config: config.to_string().into(),
        state: project.state().into(),
        why: text(status.why.as_deref()),
        is_default: project.is_default,
        last_seen: time(status.last_seen_us),
        latency_ms: status.latency_ms,
        last_event: time(status.last_event_us),
        pinned_key: project
            .target
            .relay_key
            .map(|key| key.to_string())
            .unwrap_or_default(),
        live_key: project.live_key().map(|key| key.to_string()).unwrap_or_default(),
        mismatch: project.mismatch(),
        tools: u32::try_from(status.tools).unwrap_or(u32::MAX),
        tools_hash: text(project.tools_hash()),
        withheld_hash: text(project.withheld_hash()),
        server: [
            server.and_then(|server| server.name.as_deref()),
            server.and_then(|server| server.version.as_deref()),
        ]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" "),
        revision: text(server.and_then(|server| server.revision.as_deref())),
        source: source.into(),
    }
}

fn told_tool(tool: &Tool) -> ProjectTool {
    ProjectTool {
        name: tool.name.to_string(),
        own_name: tool.own_name.to_string(),
        read_only: tool.read_only,
        shown: tool.shown,
        description: tool.description.clone(),
        change: tool.change.into(),
        definition: tool.definition.clone(),
        former_definition: tool.former_definition.clone(),
    }
}

fn told_event(event: &Event) -> ProjectEvent {
    ProjectEvent {
        at: rfc3339::format(event.at_us),
        method: event.method.to_string(),
        // It may have been cut within a character.
        params: String::from_utf8_lossy(&event.params).into_owned(),
    }
}
