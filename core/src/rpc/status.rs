//! `StatusService`: whether calls can be carried now.

use tonic::{Request, Response, Status};
use toolgate_contract::v1::{
    GetStatusRequest, GetStatusResponse, StatusCheck, status_service_server::StatusService,
};

use super::Rpc;
use crate::store::StoreError;

#[tonic::async_trait]
impl StatusService for Rpc {
    async fn get_status(&self, _: Request<GetStatusRequest>) -> Result<Response<GetStatusResponse>, Status> {
        let rooms = self.broker.rooms();
        let mut checks = vec![
            check("store", rooms.snapshots.check().await.map_err(for_anyone)),
            check("audit", rooms.journal.check().await),
        ];
        if rooms.entrance.is_ending() {
            checks.push(check("stay", Err("the gateway is stopping")));
        }
        Ok(Response::new(GetStatusResponse {
            ready: checks.iter().all(|check| check.ok),
            checks,
            version: env!("CARGO_PKG_VERSION").into(),
        }))
    }
}

/// A probe needs no credential, so it tells no address; that stands in the log.
fn for_anyone(error: StoreError) -> String {
    match error {
        StoreError::Connect { .. } => "the database cannot be reached".to_owned(),
        StoreError::Served { .. } => "another gateway serves the database".to_owned(),
        error => error.to_string(),
    }
}

fn check<E: std::fmt::Display>(name: &str, found: Result<(), E>) -> StatusCheck {
    let detail = found.as_ref().err().map_or_else(String::new, ToString::to_string);
    StatusCheck {
        name: name.into(),
        ok: found.is_ok(),
        detail,
    }
}
