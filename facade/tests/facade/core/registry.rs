//! The registry, of which a test asks nothing but that it is there.

use tonic::{Request, Response, Status};
use toolgate_contract::v1::{registry_service_server::RegistryService, *};

use super::ScriptedCore;

#[tonic::async_trait]
impl RegistryService for ScriptedCore {
    async fn list_registry(
        &self,
        request: Request<ListRegistryRequest>,
    ) -> Result<Response<ListRegistryResponse>, Status> {
        self.note("ListRegistry", request)?;
        Ok(Response::new(ListRegistryResponse::default()))
    }
}
