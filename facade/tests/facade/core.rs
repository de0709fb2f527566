//! A core that answers what a test tells it to, and remembers what it was asked.

mod fleet;
mod overview;
mod pipe;
mod registry;
mod sign_in;

pub(crate) use self::pipe::{Pipe, event};

use std::{
    collections::{HashMap, VecDeque},
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use futures::Stream;
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming, service::Routes};
use toolgate_contract::v1::{
    audit_service_server::{AuditService, AuditServiceServer},
    broker_service_server::{BrokerService, BrokerServiceServer},
    fleet_service_server::FleetServiceServer,
    overview_service_server::OverviewServiceServer,
    pipe_service_server::PipeServiceServer,
    policy_service_server::{PolicyService, PolicyServiceServer},
    profile_service_server::{ProfileService, ProfileServiceServer},
    registry_service_server::RegistryServiceServer,
    session_service_server::{SessionService, SessionServiceServer},
    sign_in_service_server::SignInServiceServer,
    status_service_server::{StatusService, StatusServiceServer},
    target_service_server::{TargetService, TargetServiceServer},
    token_service_server::{TokenService, TokenServiceServer},
    uplink_service_server::{UplinkService, UplinkServiceServer},
    *,
};
use toolgate_facade::CoreService;
use tower::{ServiceExt, util::BoxCloneSyncService};

pub(crate) const CALL_ID: &str = "01JDZ3V8Q4T7X9K2M5N6P8R0SA";

/// One question: the rpc, the metadata and the message as text.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) rpc: &'static str,
    pub(crate) metadata: http::HeaderMap,
    pub(crate) message: String,
}

type Events = mpsc::Receiver<Result<WatchResponse, Status>>;

type Runs = mpsc::Receiver<Result<RunResponse, Status>>;

/// The script.
#[derive(Clone)]
pub(crate) struct ScriptedCore(Arc<Script>);

pub(crate) struct Script {
    pub(crate) asked: Mutex<Vec<Asked>>,
    /// Answers every rpc when set.
    pub(crate) failure: Mutex<Option<Failure>>,
    pub(crate) tools: Mutex<ListToolsResponse>,
    pub(crate) result: Mutex<CallResponse>,
    /// What calls of a tool answer where it is something else than `result`; with none they hang for ever.
    pub(crate) calls: Mutex<HashMap<String, Option<Result<CallResponse, Failure>>>>,
    pub(crate) arguments: Mutex<Vec<bytes::Bytes>>,
    pub(crate) events: Mutex<VecDeque<Events>>,
    /// What the next runs tell; without one, a run ends at once with `result`.
    pub(crate) runs: Mutex<VecDeque<Runs>>,
    /// The versions of the catalog that watchers are told.
    pub(crate) versions: watch::Sender<String>,
    /// How watches of the catalog end, once told.
    pub(crate) watch_ends: watch::Sender<Option<Failure>>,
    pub(crate) ready: Mutex<GetStatusResponse>,
    pub(crate) export: Mutex<Vec<Result<&'static str, Status>>>,
    /// How many calls and watches are open now.
    pub(crate) open: watch::Sender<usize>,
    /// What the facade reported of its own refusals.
    pub(crate) refused: watch::Sender<Vec<(ErrorReason, http::HeaderMap)>>,
    /// Calls hang while true.
    pub(crate) hang: watch::Sender<bool>,
    pub(crate) panic: Mutex<bool>,
    /// How an uplink ends once a frame `bye` came.
    pub(crate) uplink_end: Mutex<Option<Failure>>,
    /// The server of a project.
    pub(crate) pipe: Pipe,
}

impl std::ops::Deref for ScriptedCore {
    type Target = Script;

    fn deref(&self) -> &Script {
        &self.0
    }
}

impl ScriptedCore {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Script {
            asked: Mutex::default(),
            failure: Mutex::default(),
            tools: Mutex::new(ListToolsResponse {
                version: "v1".into(),
                ..Default::default()
            }),
            result: Mutex::new(CallResponse {
                correlation_id: CALL_ID.into(),
                result: Some(ToolResult {
                    content: r#"[{"type":"text","text":"up 3 days"}]"#.into(),
                    ..Default::default()
                }),
                duration_ms: 12,
            }),
            calls: Mutex::default(),
            arguments: Mutex::default(),
            events: Mutex::default(),
            runs: Mutex::default(),
            versions: watch::Sender::new("v1".into()),
            watch_ends: watch::Sender::new(None),
            ready: Mutex::new(GetStatusResponse {
                ready: true,
                checks: vec![],
                version: "9.9.9".into(),
            }),
            export: Mutex::default(),
            open: watch::Sender::new(0),
            refused: watch::Sender::new(Vec::new()),
            hang: watch::Sender::new(false),
            panic: Mutex::default(),
            uplink_end: Mutex::default(),
            pipe: Pipe::default(),
        }))
    }

    pub(crate) fn failing(failure: Failure) -> Self {
        let core = Self::new();
        *core.failure.lock().unwrap() = Some(failure);
        core
    }

    /// Scripts the next watch.
    pub(crate) fn will_stream(&self) -> mpsc::Sender<Result<WatchResponse, Status>> {
        let (sender, receiver) = mpsc::channel(64);
        self.events.lock().unwrap().push_back(receiver);
        sender
    }

    pub(crate) fn service(&self) -> CoreService {
        let routes = Routes::new(BrokerServiceServer::new(self.clone()))
            .add_service(TargetServiceServer::new(self.clone()))
            .add_service(TokenServiceServer::new(self.clone()))
            .add_service(PolicyServiceServer::new(self.clone()))
            .add_service(ProfileServiceServer::new(self.clone()))
            .add_service(AuditServiceServer::new(self.clone()))
            .add_service(SessionServiceServer::new(self.clone()))
            .add_service(PipeServiceServer::new(self.clone()))
            .add_service(FleetServiceServer::new(self.clone()))
            .add_service(OverviewServiceServer::new(self.clone()))
            .add_service(RegistryServiceServer::new(self.clone()))
            .add_service(SignInServiceServer::new(self.clone()))
            .add_service(StatusServiceServer::new(self.clone()))
            .add_service(
                UplinkServiceServer::new(self.clone())
                    .max_decoding_message_size(16 << 20)
                    .max_encoding_message_size(16 << 20),
            );
        BoxCloneSyncService::new(ServiceExt::<http::Request<tonic::body::Body>>::map_err(
            routes,
            tower::BoxError::from,
        ))
    }

    pub(crate) fn asked(&self, rpc: &str) -> Vec<Asked> {
        self.asked
            .lock()
            .unwrap()
            .iter()
            .filter(|asked| asked.rpc == rpc)
            .cloned()
            .collect()
    }

    /// Waits until so many calls and watches are open.
    pub(crate) async fn until_open(&self, number: usize) {
        let mut open = self.open.subscribe();
        let wait = open.wait_for(|open| *open == number);
        tokio::time::timeout(std::time::Duration::from_secs(10), wait)
            .await
            .expect("the number of open calls is reached")
            .unwrap();
    }

    fn note<T: std::fmt::Debug>(&self, rpc: &'static str, request: Request<T>) -> Result<T, Status> {
        let (metadata, _, message) = request.into_parts();
        let text = format!("{message:?}");
        self.asked.lock().unwrap().push(Asked {
            rpc,
            metadata: metadata.into_headers(),
            message: text,
        });
        assert!(!*self.panic.lock().unwrap(), "scripted panic");
        match self.failure.lock().unwrap().clone() {
            Some(failure) => Err(failure.into_status()),
            None => Ok(message),
        }
    }

    fn opened(&self) -> Open {
        self.open.send_modify(|open| *open += 1);
        Open(self.clone())
    }
}

/// Counts down when the rpc it stands in is dropped or done.
pub(crate) struct Open(ScriptedCore);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.send_modify(|open| *open -= 1);
    }
}

pub(crate) struct Watched {
    events: ReceiverStream<Result<WatchResponse, Status>>,
    _open: Open,
}

/// The events of a run; while it lives, it is counted as open.
pub(crate) struct Run {
    events: ReceiverStream<Result<RunResponse, Status>>,
    _open: Open,
}

impl Stream for Run {
    type Item = Result<RunResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.events).poll_next(cx)
    }
}

impl Stream for Watched {
    type Item = Result<WatchResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.events).poll_next(cx)
    }
}

#[tonic::async_trait]
impl BrokerService for ScriptedCore {
    type WatchStream = Watched;

    async fn list_tools(
        &self,
        request: Request<ListToolsRequest>,
    ) -> Result<Response<ListToolsResponse>, Status> {
        let known = self.note("ListTools", request)?.known_version;
        let tools = self.tools.lock().unwrap().clone();
        if known.as_ref() == Some(&tools.version) {
            return Ok(Response::new(ListToolsResponse {
                tools: vec![],
                unchanged: true,
                ..tools
            }));
        }
        Ok(Response::new(tools))
    }

    async fn invoke(&self, request: Request<InvokeRequest>) -> Result<Response<InvokeResponse>, Status> {
        let request = self.note("Invoke", request)?;
        self.arguments.lock().unwrap().push(request.arguments);
        Ok(Response::new(InvokeResponse {
            correlation_id: CALL_ID.into(),
            stream_url: format!("/api/mcp/stream/{CALL_ID}"),
        }))
    }

    async fn watch(&self, request: Request<WatchRequest>) -> Result<Response<Watched>, Status> {
        self.note("Watch", request)?;
        let events = self.events.lock().unwrap().pop_front();
        let events =
            events.ok_or_else(|| Failure::new(ErrorReason::CallNotFound, "no such call").into_status())?;
        Ok(Response::new(Watched {
            events: ReceiverStream::new(events),
            _open: self.opened(),
        }))
    }

    type RunStream = Run;

    async fn run(&self, request: Request<RunRequest>) -> Result<Response<Run>, Status> {
        let request = self.note("Run", request)?;
        self.arguments.lock().unwrap().push(request.arguments);
        let scripted = self.runs.lock().unwrap().pop_front();
        let events = scripted.unwrap_or_else(|| {
            let (tell, events) = mpsc::channel(1);
            let outcome = run_response::Event::Outcome(self.result.lock().unwrap().clone());
            let _ = tell.try_send(Ok(RunResponse { event: Some(outcome) }));
            events
        });
        Ok(Response::new(Run {
            events: ReceiverStream::new(events),
            _open: self.opened(),
        }))
    }

    type WatchToolsStream = Pin<Box<dyn Stream<Item = Result<WatchToolsResponse, Status>> + Send>>;

    async fn watch_tools(
        &self,
        request: Request<WatchToolsRequest>,
    ) -> Result<Response<Self::WatchToolsStream>, Status> {
        self.note("WatchTools", request)?;
        let (mut versions, mut ends) = (self.versions.subscribe(), self.watch_ends.subscribe());
        let open = self.opened();
        let (tell, told) = mpsc::channel(8);
        tokio::spawn(async move {
            let _open = open;
            loop {
                let version = versions.borrow_and_update().clone();
                if tell
                    .send(Ok(WatchToolsResponse { version, tools: 1 }))
                    .await
                    .is_err()
                {
                    return;
                }
                let end = tokio::select! {
                    Ok(()) = versions.changed() => continue,
                    end = async { ends.wait_for(Option::is_some).await.ok()?.clone() } => end,
                    () = tell.closed() => return,
                };
                if let Some(end) = end {
                    let _ = tell.send(Err(end.into_status())).await;
                }
                return;
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(told))))
    }

    async fn report_refusal(
        &self,
        request: Request<ReportRefusalRequest>,
    ) -> Result<Response<ReportRefusalResponse>, Status> {
        let (metadata, _, message) = request.into_parts();
        self.refused.send_modify(|refused| {
            refused.push((message.reason(), metadata.into_headers()));
        });
        Ok(Response::new(ReportRefusalResponse {}))
    }

    async fn call(&self, request: Request<CallRequest>) -> Result<Response<CallResponse>, Status> {
        let request = self.note("Call", request)?;
        self.arguments.lock().unwrap().push(request.arguments);
        let _open = self.opened();
        let _ = self.hang.subscribe().wait_for(|hang| !hang).await;
        let scripted = self.calls.lock().unwrap().get(&request.name).cloned();
        match scripted {
            Some(None) => std::future::pending().await,
            Some(Some(Ok(outcome))) => Ok(Response::new(outcome)),
            Some(Some(Err(failure))) => Err(failure.into_status()),
            None => Ok(Response::new(self.result.lock().unwrap().clone())),
        }
    }
}

fn target() -> Target {
    Target {
        id: "01JDZ3V8Q4T7X9K2M5N6P8R0TG".into(),
        r#type: "ssh".into(),
        name: "web-1".into(),
        config: r#"{"hostname":"web-1.internal"}"#.into(),
        status: "waiting".into(),
        validation: Some(Validation {
            verdict: "pending".into(),
            stages: vec![
                Stage {
                    name: "reach".into(),
                    ok: true,
                    ms: 3,
                    reason: None,
                    pointer: None,
                },
                Stage {
                    name: "sample".into(),
                    ok: false,
                    ms: 0,
                    reason: Some("not enrolled".into()),
                    pointer: Some("/config/hostname".into()),
                },
            ],
            not_provable: vec!["sudo rights".into()],
            proven: vec!["metadata:read".into()],
            wider: vec![],
            checked_at: Some("2026-01-02T03:04:05.000006Z".into()),
            version: None,
            expires_at: None,
        }),
        created_at: "2026-01-02T03:04:05.000006Z".into(),
        updated_at: "2026-01-02T03:04:05.000007Z".into(),
        last_test: None,
    }
}

#[tonic::async_trait]
impl TargetService for ScriptedCore {
    async fn create_target(
        &self,
        request: Request<CreateTargetRequest>,
    ) -> Result<Response<CreateTargetResponse>, Status> {
        let request = self.note("CreateTarget", request)?;
        self.arguments.lock().unwrap().push(request.config);
        let enrolment = Enrolment {
            token: "tge_a_b".into(),
            command: "toolgate relay host --token tge_a_b".into(),
            expires_at: "2026-01-02T03:19:05.000006Z".into(),
        };
        Ok(Response::new(CreateTargetResponse {
            target: Some(target()),
            enrolment: Some(enrolment),
        }))
    }

    async fn list_targets(
        &self,
        request: Request<ListTargetsRequest>,
    ) -> Result<Response<ListTargetsResponse>, Status> {
        self.note("ListTargets", request)?;
        let plain = Target {
            config: bytes::Bytes::new(),
            validation: None,
            ..target()
        };
        Ok(Response::new(ListTargetsResponse {
            targets: vec![target(), plain],
            next_page_token: String::new(),
        }))
    }

    async fn list_target_types(
        &self,
        request: Request<ListTargetTypesRequest>,
    ) -> Result<Response<ListTargetTypesResponse>, Status> {
        self.note("ListTargetTypes", request)?;
        Ok(Response::new(ListTargetTypesResponse::default()))
    }

    async fn get_target(
        &self,
        request: Request<GetTargetRequest>,
    ) -> Result<Response<GetTargetResponse>, Status> {
        self.note("GetTarget", request)?;
        Ok(Response::new(GetTargetResponse {
            target: Some(target()),
        }))
    }

    async fn update_target(
        &self,
        request: Request<UpdateTargetRequest>,
    ) -> Result<Response<UpdateTargetResponse>, Status> {
        self.note("UpdateTarget", request)?;
        Ok(Response::new(UpdateTargetResponse {
            target: Some(target()),
        }))
    }

    async fn delete_target(
        &self,
        request: Request<DeleteTargetRequest>,
    ) -> Result<Response<DeleteTargetResponse>, Status> {
        self.note("DeleteTarget", request)?;
        Ok(Response::new(DeleteTargetResponse {}))
    }

    async fn test_target(
        &self,
        request: Request<TestTargetRequest>,
    ) -> Result<Response<TestTargetResponse>, Status> {
        self.note("TestTarget", request)?;
        Ok(Response::new(TestTargetResponse {
            ok: true,
            stages: vec![],
        }))
    }

    async fn create_enrolment(
        &self,
        request: Request<CreateEnrolmentRequest>,
    ) -> Result<Response<CreateEnrolmentResponse>, Status> {
        self.note("CreateEnrolment", request)?;
        Ok(Response::new(CreateEnrolmentResponse { enrolment: None }))
    }

    async fn revoke_relay(
        &self,
        request: Request<RevokeRelayRequest>,
    ) -> Result<Response<RevokeRelayResponse>, Status> {
        self.note("RevokeRelay", request)?;
        Ok(Response::new(RevokeRelayResponse {}))
    }
}

#[tonic::async_trait]
impl TokenService for ScriptedCore {
    async fn create_token(
        &self,
        request: Request<CreateTokenRequest>,
    ) -> Result<Response<CreateTokenResponse>, Status> {
        let request = self.note("CreateToken", request)?;
        Ok(Response::new(CreateTokenResponse {
            id: "01JDZ3V8Q4T7X9K2M5N6P8R0TK".into(),
            token: "tgk_a_b".into(),
            name: request.name,
            role: request.role,
            profile: request.profile,
            created_at: "2026-01-02T03:04:05.000006Z".into(),
            expires_at: request.expires_at,
        }))
    }

    async fn list_tokens(
        &self,
        request: Request<ListTokensRequest>,
    ) -> Result<Response<ListTokensResponse>, Status> {
        self.note("ListTokens", request)?;
        Ok(Response::new(ListTokensResponse::default()))
    }

    async fn revoke_token(
        &self,
        request: Request<RevokeTokenRequest>,
    ) -> Result<Response<RevokeTokenResponse>, Status> {
        self.note("RevokeToken", request)?;
        Ok(Response::new(RevokeTokenResponse {}))
    }
}

#[tonic::async_trait]
impl PolicyService for ScriptedCore {
    async fn get_policy(
        &self,
        request: Request<GetPolicyRequest>,
    ) -> Result<Response<GetPolicyResponse>, Status> {
        self.note("GetPolicy", request)?;
        Ok(Response::new(GetPolicyResponse::default()))
    }

    async fn update_policy(
        &self,
        request: Request<UpdatePolicyRequest>,
    ) -> Result<Response<UpdatePolicyResponse>, Status> {
        let request = self.note("UpdatePolicy", request)?;
        Ok(Response::new(UpdatePolicyResponse {
            disabled_tools: request.disabled_tools,
        }))
    }
}

#[tonic::async_trait]
impl SessionService for ScriptedCore {
    async fn sign_in(&self, request: Request<SignInRequest>) -> Result<Response<SignInResponse>, Status> {
        self.note("SignIn", request)?;
        Ok(Response::new(SignInResponse {
            token: "tgs_a_b".into(),
            expires_at: "2026-01-02T03:04:05Z".into(),
        }))
    }

    async fn create_sign_in_code(
        &self,
        request: Request<CreateSignInCodeRequest>,
    ) -> Result<Response<CreateSignInCodeResponse>, Status> {
        self.note("CreateSignInCode", request)?;
        Ok(Response::new(CreateSignInCodeResponse {
            code: "tgl_a_b".into(),
            expires_at: "2026-01-02T03:04:05Z".into(),
        }))
    }

    async fn open_mcp_session(
        &self,
        request: Request<OpenMcpSessionRequest>,
    ) -> Result<Response<OpenMcpSessionResponse>, Status> {
        let revision = self.note("OpenMcpSession", request)?.revision;
        Ok(Response::new(OpenMcpSessionResponse {
            session_id: format!("{revision}.c2Vzc2lvbg.bWFj"),
        }))
    }

    async fn close_mcp_session(
        &self,
        request: Request<CloseMcpSessionRequest>,
    ) -> Result<Response<CloseMcpSessionResponse>, Status> {
        self.note("CloseMcpSession", request)?;
        Ok(Response::new(CloseMcpSessionResponse {}))
    }

    async fn get_self(&self, request: Request<GetSelfRequest>) -> Result<Response<GetSelfResponse>, Status> {
        self.note("GetSelf", request)?;
        Ok(Response::new(GetSelfResponse {
            tenant_id: "t".into(),
            principal: "admin".into(),
            role: "admin".into(),
            uses_tools: true,
            profile: None,
            tenant_name: "a tenant".into(),
        }))
    }

    async fn get_session(
        &self,
        request: Request<GetSessionRequest>,
    ) -> Result<Response<GetSessionResponse>, Status> {
        self.note("GetSession", request)?;
        Ok(Response::new(GetSessionResponse {
            tenant_id: "t".into(),
            principal: "admin".into(),
            role: "admin".into(),
            profile: None,
            uses_tools: true,
            expires_at: Some("2026-01-02T03:04:05Z".into()),
            method: "link".into(),
            tenant_name: "a tenant".into(),
        }))
    }

    async fn sign_out(&self, request: Request<SignOutRequest>) -> Result<Response<SignOutResponse>, Status> {
        self.note("SignOut", request)?;
        Ok(Response::new(SignOutResponse {}))
    }

    async fn list_sessions(
        &self,
        request: Request<ListSessionsRequest>,
    ) -> Result<Response<ListSessionsResponse>, Status> {
        self.note("ListSessions", request)?;
        Ok(Response::new(ListSessionsResponse::default()))
    }

    async fn revoke_session(
        &self,
        request: Request<RevokeSessionRequest>,
    ) -> Result<Response<RevokeSessionResponse>, Status> {
        self.note("RevokeSession", request)?;
        Ok(Response::new(RevokeSessionResponse {}))
    }
}

#[tonic::async_trait]
impl StatusService for ScriptedCore {
    async fn get_status(
        &self,
        request: Request<GetStatusRequest>,
    ) -> Result<Response<GetStatusResponse>, Status> {
        self.note("GetStatus", request)?;
        Ok(Response::new(self.ready.lock().unwrap().clone()))
    }
}

#[tonic::async_trait]
impl AuditService for ScriptedCore {
    type ExportEventsStream = Pin<Box<dyn Stream<Item = Result<ExportEventsResponse, Status>> + Send>>;

    async fn list_events(
        &self,
        request: Request<ListEventsRequest>,
    ) -> Result<Response<ListEventsResponse>, Status> {
        self.note("ListEvents", request)?;
        let event = AuditEvent {
            seq: 9_007_199_254_740_993,
            event: "adapter.capability_invoked".into(),
            detail: r#"{"big":9007199254740993}"#.into(),
            ..Default::default()
        };
        Ok(Response::new(ListEventsResponse {
            events: vec![event, AuditEvent::default()],
            next_cursor: "c".into(),
            next_after_seq: None,
        }))
    }

    async fn get_event(
        &self,
        request: Request<GetEventRequest>,
    ) -> Result<Response<GetEventResponse>, Status> {
        self.note("GetEvent", request)?;
        Ok(Response::new(GetEventResponse {
            bytes: vec![1, 255].into(),
            ..Default::default()
        }))
    }

    type StreamVerificationStream =
        Pin<Box<dyn Stream<Item = Result<StreamVerificationResponse, Status>> + Send>>;

    async fn stream_verification(
        &self,
        request: Request<StreamVerificationRequest>,
    ) -> Result<Response<Self::StreamVerificationStream>, Status> {
        self.note("StreamVerification", request)?;
        Ok(Response::new(Box::pin(futures::stream::empty())))
    }

    async fn verify_audit(
        &self,
        request: Request<VerifyAuditRequest>,
    ) -> Result<Response<VerifyAuditResponse>, Status> {
        self.note("VerifyAudit", request)?;
        Ok(Response::new(VerifyAuditResponse {
            verdict: "intact".into(),
            rows: 3,
            ..Default::default()
        }))
    }

    async fn export_events(
        &self,
        request: Request<ExportEventsRequest>,
    ) -> Result<Response<Self::ExportEventsStream>, Status> {
        let content_type = match request.get_ref().format.as_deref() {
            Some("csv") => "text/csv",
            Some("html") => "text/html",
            _ => "",
        };
        self.note("ExportEvents", request)?;
        let pieces = std::mem::take(&mut *self.export.lock().unwrap());
        let pieces = pieces.into_iter().map(|piece| {
            piece.map(|text| ExportEventsResponse {
                chunk: text.into(),
                content_type: content_type.into(),
            })
        });
        Ok(Response::new(Box::pin(futures::stream::iter(
            pieces.collect::<Vec<_>>(),
        ))))
    }

    type ExportArchiveStream = Pin<Box<dyn Stream<Item = Result<ExportArchiveResponse, Status>> + Send>>;

    async fn export_archive(
        &self,
        request: Request<ExportArchiveRequest>,
    ) -> Result<Response<Self::ExportArchiveStream>, Status> {
        self.note("ExportArchive", request)?;
        Ok(Response::new(Box::pin(futures::stream::empty())))
    }

    type ExportCheckpointsStream =
        Pin<Box<dyn Stream<Item = Result<ExportCheckpointsResponse, Status>> + Send>>;

    async fn export_checkpoints(
        &self,
        request: Request<ExportCheckpointsRequest>,
    ) -> Result<Response<Self::ExportCheckpointsStream>, Status> {
        self.note("ExportCheckpoints", request)?;
        Ok(Response::new(Box::pin(futures::stream::empty())))
    }
}

#[tonic::async_trait]
impl UplinkService for ScriptedCore {
    type AttachStream = ReceiverStream<Result<AttachResponse, Status>>;

    /// Echoes every frame; `bye` ends the stream.
    async fn attach(
        &self,
        request: Request<Streaming<AttachRequest>>,
    ) -> Result<Response<Self::AttachStream>, Status> {
        let (metadata, _, mut frames) = request.into_parts();
        self.asked.lock().unwrap().push(Asked {
            rpc: "Attach",
            metadata: metadata.into_headers(),
            message: String::new(),
        });
        let (sender, receiver) = mpsc::channel(4);
        let core = self.clone();
        tokio::spawn(async move {
            let _open = core.opened();
            while let Ok(Some(AttachRequest { frame })) = frames.message().await {
                if frame.as_ref() == b"bye" {
                    let end = core.uplink_end.lock().unwrap().clone();
                    if let Some(failure) = end {
                        let _ = sender.send(Err(failure.into_status())).await;
                    }
                    return;
                }
                if sender.send(Ok(AttachResponse { frame })).await.is_err() {
                    return;
                }
            }
        });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }
}

#[tonic::async_trait]
impl ProfileService for ScriptedCore {
    async fn list_profiles(
        &self,
        request: Request<ListProfilesRequest>,
    ) -> Result<Response<ListProfilesResponse>, Status> {
        self.note("ListProfiles", request)?;
        Ok(Response::new(ListProfilesResponse::default()))
    }

    async fn get_profile(
        &self,
        request: Request<GetProfileRequest>,
    ) -> Result<Response<GetProfileResponse>, Status> {
        self.note("GetProfile", request)?;
        Ok(Response::new(GetProfileResponse::default()))
    }

    async fn create_profile(
        &self,
        request: Request<CreateProfileRequest>,
    ) -> Result<Response<CreateProfileResponse>, Status> {
        self.note("CreateProfile", request)?;
        Ok(Response::new(CreateProfileResponse::default()))
    }

    async fn update_profile(
        &self,
        request: Request<UpdateProfileRequest>,
    ) -> Result<Response<UpdateProfileResponse>, Status> {
        self.note("UpdateProfile", request)?;
        Ok(Response::new(UpdateProfileResponse::default()))
    }

    async fn delete_profile(
        &self,
        request: Request<DeleteProfileRequest>,
    ) -> Result<Response<DeleteProfileResponse>, Status> {
        self.note("DeleteProfile", request)?;
        Ok(Response::new(DeleteProfileResponse::default()))
    }

    async fn resolve_profile_for_kind(
        &self,
        request: Request<ResolveProfileForKindRequest>,
    ) -> Result<Response<ResolveProfileForKindResponse>, Status> {
        self.note("ResolveProfileForKind", request)?;
        Ok(Response::new(ResolveProfileForKindResponse::default()))
    }

    async fn get_profile_cost(
        &self,
        request: Request<GetProfileCostRequest>,
    ) -> Result<Response<GetProfileCostResponse>, Status> {
        self.note("GetProfileCost", request)?;
        Ok(Response::new(GetProfileCostResponse::default()))
    }

    async fn list_profile_costs(
        &self,
        request: Request<ListProfileCostsRequest>,
    ) -> Result<Response<ListProfileCostsResponse>, Status> {
        self.note("ListProfileCosts", request)?;
        Ok(Response::new(ListProfileCostsResponse::default()))
    }

    async fn explain_tool(
        &self,
        request: Request<ExplainToolRequest>,
    ) -> Result<Response<ExplainToolResponse>, Status> {
        self.note("ExplainTool", request)?;
        Ok(Response::new(ExplainToolResponse::default()))
    }
}
