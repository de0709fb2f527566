//! The fleet, of which a test asks nothing but that it is there.

use tonic::{Request, Response, Status};
use toolgate_contract::v1::{fleet_service_server::FleetService, *};

use super::ScriptedCore;

#[tonic::async_trait]
impl FleetService for ScriptedCore {
    async fn create_project(
        &self,
        request: Request<CreateProjectRequest>,
    ) -> Result<Response<CreateProjectResponse>, Status> {
        self.note("CreateProject", request)?;
        Ok(Response::new(CreateProjectResponse::default()))
    }

    async fn list_projects(
        &self,
        request: Request<ListProjectsRequest>,
    ) -> Result<Response<ListProjectsResponse>, Status> {
        self.note("ListProjects", request)?;
        Ok(Response::new(ListProjectsResponse::default()))
    }

    async fn get_project(
        &self,
        request: Request<GetProjectRequest>,
    ) -> Result<Response<GetProjectResponse>, Status> {
        self.note("GetProject", request)?;
        Ok(Response::new(GetProjectResponse::default()))
    }

    async fn update_project(
        &self,
        request: Request<UpdateProjectRequest>,
    ) -> Result<Response<UpdateProjectResponse>, Status> {
        self.note("UpdateProject", request)?;
        Ok(Response::new(UpdateProjectResponse::default()))
    }

    async fn delete_project(
        &self,
        request: Request<DeleteProjectRequest>,
    ) -> Result<Response<DeleteProjectResponse>, Status> {
        self.note("DeleteProject", request)?;
        Ok(Response::new(DeleteProjectResponse::default()))
    }

    async fn accept_tools(
        &self,
        request: Request<AcceptToolsRequest>,
    ) -> Result<Response<AcceptToolsResponse>, Status> {
        self.note("AcceptTools", request)?;
        Ok(Response::new(AcceptToolsResponse::default()))
    }

    async fn repin_relay(
        &self,
        request: Request<RepinRelayRequest>,
    ) -> Result<Response<RepinRelayResponse>, Status> {
        self.note("RepinRelay", request)?;
        Ok(Response::new(RepinRelayResponse::default()))
    }

    async fn list_relays(
        &self,
        request: Request<ListRelaysRequest>,
    ) -> Result<Response<ListRelaysResponse>, Status> {
        self.note("ListRelays", request)?;
        Ok(Response::new(ListRelaysResponse::default()))
    }

    async fn pin_relay(
        &self,
        request: Request<PinRelayRequest>,
    ) -> Result<Response<PinRelayResponse>, Status> {
        self.note("PinRelay", request)?;
        Ok(Response::new(PinRelayResponse::default()))
    }

    async fn set_default_project(
        &self,
        request: Request<SetDefaultProjectRequest>,
    ) -> Result<Response<SetDefaultProjectResponse>, Status> {
        self.note("SetDefaultProject", request)?;
        Ok(Response::new(SetDefaultProjectResponse::default()))
    }
}
