//! `BrokerService`: list and watch the list, invoke and watch, call, run.

use futures::{Stream, stream};
use tonic::{Request, Response, Status};
use toolgate_contract::v1::{
    CallRequest, CallResponse, ErrorReason, InvokeRequest, InvokeResponse, ListToolsRequest,
    ListToolsResponse, ReportRefusalRequest, ReportRefusalResponse, RunRequest, RunResponse, WatchRequest,
    WatchResponse, WatchToolsRequest, WatchToolsResponse, broker_service_server::BrokerService,
};

use super::{Rpc, ask, list, run, status, watch_tools::Watcher};
use crate::{
    broker::{Door, Wish},
    identity::Action,
    limits::Use,
    results,
};

#[tonic::async_trait]
impl BrokerService for Rpc {
    async fn list_tools(
        &self,
        request: Request<ListToolsRequest>,
    ) -> Result<Response<ListToolsResponse>, Status> {
        let caller = self
            .broker
            .caller(&ask::of(&request), Action::UseTools)
            .await
            .map_err(status)?;
        let principal = caller.principal();
        if let Err(error) = self
            .broker
            .rooms()
            .buckets
            .take(Use::List, &principal.tenant, &principal.name)
        {
            return Err(status(self.broker.refuse(&caller, error).await));
        }
        let list = list::now(&self.broker, &caller);
        if request.into_inner().known_version.as_deref() == Some(list.version.as_str()) {
            let version = list.version.clone();
            return Ok(Response::new(ListToolsResponse {
                tools: Vec::new(),
                version,
                unchanged: true,
            }));
        }
        Ok(Response::new(ListToolsResponse::clone(&list)))
    }

    async fn invoke(&self, request: Request<InvokeRequest>) -> Result<Response<InvokeResponse>, Status> {
        let ask = ask::of(&request);
        let InvokeRequest {
            name,
            arguments,
            target_id,
        } = request.into_inner();
        let call = self
            .broker
            .invoke(
                &ask,
                Wish {
                    name,
                    arguments,
                    target_id,
                },
            )
            .await
            .map_err(status)?;
        let stream_url = format!("/api/mcp/stream/{call}");
        Ok(Response::new(InvokeResponse {
            correlation_id: call.to_string(),
            stream_url,
        }))
    }

    type WatchStream = std::pin::Pin<Box<dyn Stream<Item = Result<WatchResponse, Status>> + Send>>;

    async fn watch(&self, request: Request<WatchRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let caller = self
            .broker
            .caller(&ask::of(&request), Action::UseTools)
            .await
            .map_err(status)?;
        let WatchRequest {
            correlation_id,
            last_event_id,
        } = request.into_inner();
        let results = &self.broker.rooms().results;
        match results.watch(&correlation_id, last_event_id.as_deref(), caller.principal()) {
            Ok(watcher) => Ok(Response::new(Box::pin(events(watcher)))),
            Err(error) => Err(status(self.broker.refuse(&caller, error).await)),
        }
    }

    async fn call(&self, request: Request<CallRequest>) -> Result<Response<CallResponse>, Status> {
        let ask = ask::of(&request);
        let CallRequest {
            name,
            arguments,
            target_id,
        } = request.into_inner();
        let settled = self
            .broker
            .call(
                &ask,
                Wish {
                    name,
                    arguments,
                    target_id,
                },
            )
            .await
            .map_err(status)?;
        Ok(Response::new(run::outcome(&settled)))
    }

    type RunStream = std::pin::Pin<Box<dyn Stream<Item = Result<RunResponse, Status>> + Send>>;

    async fn run(&self, request: Request<RunRequest>) -> Result<Response<Self::RunStream>, Status> {
        let ask = ask::of(&request);
        let RunRequest {
            name,
            arguments,
            target_id,
            progress,
            log_level,
        } = request.into_inner();
        let wanted = match run::wanted(progress, log_level.as_deref()) {
            Ok(wanted) => wanted,
            Err(error) => {
                let caller = self.broker.caller(&ask, Action::UseTools).await.map_err(status)?;
                return Err(status(self.broker.refuse(&caller, error).await));
            }
        };
        let wish = Wish {
            name,
            arguments,
            target_id,
        };
        let running = self.broker.run(&ask, wish, wanted).await.map_err(status)?;
        Ok(Response::new(Box::pin(run::events(running))))
    }

    type WatchToolsStream = std::pin::Pin<Box<dyn Stream<Item = Result<WatchToolsResponse, Status>> + Send>>;

    async fn watch_tools(
        &self,
        request: Request<WatchToolsRequest>,
    ) -> Result<Response<Self::WatchToolsStream>, Status> {
        let watcher = Watcher::new(&self.broker, ask::of(&request))
            .await
            .map_err(status)?;
        Ok(Response::new(Box::pin(watcher.versions())))
    }

    async fn report_refusal(
        &self,
        request: Request<ReportRefusalRequest>,
    ) -> Result<Response<ReportRefusalResponse>, Status> {
        if request.extensions().get::<Door>() != Some(&Door::Facade) {
            return Err(Status::permission_denied("for facades only"));
        }
        let ask = ask::of(&request);
        match request.into_inner().reason() {
            reason @ (ErrorReason::OriginForbidden
            | ErrorReason::RequestMalformed
            | ErrorReason::RequestTooLarge) => {
                self.broker.refused_outside(&ask, reason).await;
                Ok(Response::new(ReportRefusalResponse {}))
            }
            _ => Err(Status::invalid_argument(
                "reason: not one that a facade refuses with",
            )),
        }
    }
}

// Pulled by the transport: a slow reader holds nothing but its own place in the list.
fn events(watcher: results::Watcher) -> impl Stream<Item = Result<WatchResponse, Status>> + Send {
    stream::unfold(watcher, async |mut watcher| {
        let event = watcher.next().await?;
        Some((Ok(event), watcher))
    })
}
