//! The figures of the overview: none.

use tonic::{Request, Response, Status};
use toolgate_contract::v1::{
    GetOverviewRequest, GetOverviewResponse, overview_service_server::OverviewService,
};

use super::ScriptedCore;

#[tonic::async_trait]
impl OverviewService for ScriptedCore {
    async fn get_overview(
        &self,
        request: Request<GetOverviewRequest>,
    ) -> Result<Response<GetOverviewResponse>, Status> {
        self.note("GetOverview", request)?;
        Ok(Response::new(GetOverviewResponse::default()))
    }
}
