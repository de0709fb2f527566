//! The management services as their clients see them, over a whole core in process.

mod audit;
mod fixtures;
mod fleet;
mod forms;
mod overview;

use std::time::Duration;

use futures::StreamExt;
use http::uri::PathAndQuery;
use serde_json::{Value, json};
use tempfile::TempDir;
use tonic::{Code, Request, Status};
use tonic_prost::ProstCodec;
use toolgate_contract::v1::{
    self as wire, ErrorReason, Failure, audit_service_client::AuditServiceClient,
    broker_service_client::BrokerServiceClient, policy_service_client::PolicyServiceClient,
    profile_service_client::ProfileServiceClient, session_service_client::SessionServiceClient,
    target_service_client::TargetServiceClient, token_service_client::TokenServiceClient,
};

use super::CoreService;
use crate::{broker::Door, clock::Clock, config::CoreConfig, fixtures::Fixtures, start::Core};

const SSH: &str = "ssh.run_whitelisted_command";

struct World {
    // Removed last.
    core: Core,
    admin: String,
    _dir: TempDir,
}

impl World {
    async fn new() -> Self {
        Self::with(None).await
    }

    async fn with(fixtures: Option<Fixtures>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut config = CoreConfig::new(dir.path());
        config.fixtures = fixtures;
        let core = Core::start(config, Clock::system()).await.unwrap();
        let admin = core.first_run().unwrap().admin_token.reveal().to_owned();
        Self {
            core,
            admin,
            _dir: dir,
        }
    }

    fn service(&self) -> CoreService {
        self.core.service(Door::Facade)
    }

    fn tokens(&self) -> TokenServiceClient<CoreService> {
        TokenServiceClient::new(self.service())
    }

    fn targets(&self) -> TargetServiceClient<CoreService> {
        TargetServiceClient::new(self.service())
    }

    fn audit(&self) -> AuditServiceClient<CoreService> {
        AuditServiceClient::new(self.service())
    }

    fn sessions(&self) -> SessionServiceClient<CoreService> {
        SessionServiceClient::new(self.service())
    }

    fn policy(&self) -> PolicyServiceClient<CoreService> {
        PolicyServiceClient::new(self.service())
    }

    fn profiles(&self) -> ProfileServiceClient<CoreService> {
        ProfileServiceClient::new(self.service())
    }

    /// A new token of this role, named after it.
    async fn token(&self, role: &str) -> wire::CreateTokenResponse {
        let asked = wire::CreateTokenRequest {
            name: format!("an {role}"),
            role: role.into(),
            ..Default::default()
        };
        self.tokens()
            .create_token(with(&self.admin, asked))
            .await
            .unwrap()
            .into_inner()
    }

    async fn host(&self) -> String {
        self.host_named("web").await
    }

    async fn host_named(&self, name: &str) -> String {
        let asked = wire::CreateTargetRequest {
            r#type: "ssh".into(),
            name: name.into(),
            config: r#"{"hostname":"web"}"#.into(),
            ..Default::default()
        };
        let created = self
            .targets()
            .create_target(with(&self.admin, asked))
            .await
            .unwrap()
            .into_inner();
        created.target.unwrap().id
    }

    async fn events(&self, token: &str, asked: wire::ListEventsRequest) -> Vec<wire::AuditEvent> {
        self.audit()
            .list_events(with(token, asked))
            .await
            .unwrap()
            .into_inner()
            .events
    }
}

fn with<T>(token: &str, message: T) -> Request<T> {
    let mut request = Request::new(message);
    request
        .metadata_mut()
        .insert("authorization", format!("Bearer {token}").parse().unwrap());
    request
}

fn reason(status: &Status) -> ErrorReason {
    Failure::from_status(status).reason()
}

/// What each role may do: admin, engineer, auditor, agent.
#[tokio::test]
async fn roles_reach_exactly_the_services_of_the_table() {
    let world = World::new().await;
    let mut tokens = Vec::new();
    for role in ["admin", "engineer", "auditor", "agent"] {
        tokens.push(world.token(role).await.token);
    }
    let (mut t, mut a, mut p, mut k, mut s, mut f) = (
        world.targets(),
        world.audit(),
        world.policy(),
        world.tokens(),
        world.sessions(),
        world.profiles(),
    );
    let id = String::from("01ARZ3NDEKTSV4RRFFQ69G5FAV");
    for (n, token) in tokens.iter().enumerate() {
        let id = || id.clone();
        let found = [
            (
                "ListTargets",
                t.list_targets(with(token, Default::default())).await.err(),
                [1, 1, 1, 0],
            ),
            (
                "GetTarget",
                t.get_target(with(token, wire::GetTargetRequest { id: id() }))
                    .await
                    .err(),
                [1, 1, 1, 0],
            ),
            (
                "CreateTarget",
                t.create_target(with(token, Default::default())).await.err(),
                [1, 0, 0, 0],
            ),
            (
                "UpdateTarget",
                t.update_target(with(token, Default::default())).await.err(),
                [1, 0, 0, 0],
            ),
            (
                "DeleteTarget",
                t.delete_target(with(token, Default::default())).await.err(),
                [1, 0, 0, 0],
            ),
            (
                "TestTarget",
                t.test_target(with(token, wire::TestTargetRequest { id: id() }))
                    .await
                    .err(),
                [1, 1, 0, 0],
            ),
            (
                "CreateEnrolment",
                t.create_enrolment(with(token, Default::default())).await.err(),
                [1, 0, 0, 0],
            ),
            (
                "RevokeRelay",
                t.revoke_relay(with(token, Default::default())).await.err(),
                [1, 0, 0, 0],
            ),
            (
                "ListTokens",
                k.list_tokens(with(token, Default::default())).await.err(),
                [1, 0, 0, 0],
            ),
            (
                "CreateToken",
                k.create_token(with(token, Default::default())).await.err(),
                [1, 0, 0, 0],
            ),
            (
                "RevokeToken",
                k.revoke_token(with(token, Default::default())).await.err(),
                [1, 0, 0, 0],
            ),
            (
                "GetPolicy",
                p.get_policy(with(token, Default::default())).await.err(),
                [1, 1, 1, 0],
            ),
            (
                "UpdatePolicy",
                p.update_policy(with(token, Default::default())).await.err(),
                [1, 0, 0, 0],
            ),
            (
                "ListEvents",
                a.list_events(with(token, Default::default())).await.err(),
                [1, 1, 1, 0],
            ),
            (
                "VerifyAudit",
                a.verify_audit(with(token, Default::default())).await.err(),
                [1, 0, 1, 0],
            ),
            (
                "ExportEvents",
                a.export_events(with(token, Default::default())).await.err(),
                [1, 0, 1, 0],
            ),
            (
                "CreateSignInCode",
                s.create_sign_in_code(with(token, Default::default())).await.err(),
                [1, 1, 1, 0],
            ),
            (
                "CreateSignInCode of another's",
                s.create_sign_in_code(with(
                    token,
                    wire::CreateSignInCodeRequest {
                        token: Some("ci".into()),
                    },
                ))
                .await
                .err(),
                [1, 0, 0, 0],
            ),
            (
                "ListProfiles",
                f.list_profiles(with(token, Default::default())).await.err(),
                [1, 1, 1, 0],
            ),
            (
                "GetProfile",
                f.get_profile(with(token, Default::default())).await.err(),
                [1, 1, 1, 0],
            ),
            (
                "CreateProfile",
                f.create_profile(with(token, Default::default())).await.err(),
                [1, 0, 0, 0],
            ),
            (
                "UpdateProfile",
                f.update_profile(with(token, Default::default())).await.err(),
                [1, 0, 0, 0],
            ),
            (
                "DeleteProfile",
                f.delete_profile(with(token, Default::default())).await.err(),
                [1, 0, 0, 0],
            ),
            (
                "ResolveProfileForKind",
                f.resolve_profile_for_kind(with(token, Default::default()))
                    .await
                    .err(),
                [1, 1, 1, 1],
            ),
            (
                "ExplainTool of one's own",
                f.explain_tool(with(token, Default::default())).await.err(),
                [1, 1, 1, 1],
            ),
            (
                "ExplainTool of another's",
                f.explain_tool(with(
                    token,
                    wire::ExplainToolRequest {
                        token: Some("ci".into()),
                        ..Default::default()
                    },
                ))
                .await
                .err(),
                [1, 0, 0, 0],
            ),
            (
                "GetSelf",
                s.get_self(with(token, Default::default())).await.err(),
                [1, 1, 1, 1],
            ),
        ];
        for (rpc, status, may) in found {
            let forbidden = status.is_some_and(|status| reason(&status) == ErrorReason::RoleForbidden);
            assert_eq!(!forbidden, may[n] == 1, "{rpc} as role {n}");
        }
    }
}

#[tokio::test]
async fn nothing_is_answered_without_a_credential() {
    let world = World::new().await;
    let answers = [
        world
            .targets()
            .list_targets(wire::ListTargetsRequest::default())
            .await
            .err(),
        world
            .tokens()
            .list_tokens(wire::ListTokensRequest::default())
            .await
            .err(),
        world.policy().get_policy(wire::GetPolicyRequest {}).await.err(),
        world
            .audit()
            .list_events(wire::ListEventsRequest::default())
            .await
            .err(),
        world
            .audit()
            .export_events(wire::ExportEventsRequest::default())
            .await
            .err(),
        world.sessions().get_self(wire::GetSelfRequest {}).await.err(),
        world
            .sessions()
            .sign_in(wire::SignInRequest {
                code: "tgl_guess".into(),
            })
            .await
            .err(),
    ];
    for status in answers {
        assert_eq!(
            status.as_ref().map(reason),
            Some(ErrorReason::CredentialInvalid),
            "{status:?}"
        );
    }
}

#[tokio::test]
async fn a_sign_in_link_leads_to_a_session_that_knows_who_it_is() {
    let world = World::new().await;
    let code = world
        .sessions()
        .create_sign_in_code(with(&world.admin, wire::CreateSignInCodeRequest::default()))
        .await
        .unwrap()
        .into_inner()
        .code;
    let first = world.core.first_run().unwrap();
    let stale = wire::SignInRequest {
        code: first.sign_in_code.reveal().into(),
    };
    assert_eq!(
        world.sessions().sign_in(stale).await.unwrap_err().code(),
        Code::Unauthenticated
    );

    let session = world
        .sessions()
        .sign_in(wire::SignInRequest { code })
        .await
        .unwrap()
        .into_inner();
    let me = world
        .sessions()
        .get_self(with(&session.token, wire::GetSelfRequest {}))
        .await
        .unwrap()
        .into_inner();
    assert_eq!((&*me.principal, &*me.role, me.profile), ("admin", "admin", None));
    assert_eq!(
        (&*me.tenant_id, &*me.tenant_name),
        (first.tenant_id.as_str(), "default")
    );
}

#[tokio::test]
async fn a_link_is_for_oneself_and_by_admins_for_whoever_holds_a_live_token() {
    let world = World::new().await;
    let asked = |token: Option<&str>| wire::CreateSignInCodeRequest {
        token: token.map(str::to_owned),
    };
    let (auditor, agent) = (world.token("auditor").await, world.token("agent").await);
    for (by, token) in [
        (&auditor.token, None),
        (&world.admin, Some("an auditor")),
        (&world.admin, Some(&*auditor.id)),
    ] {
        let made = world.sessions().create_sign_in_code(with(by, asked(token))).await;
        let code = made.unwrap().into_inner().code;
        let session = world.sessions().sign_in(wire::SignInRequest { code }).await;
        let session = session.unwrap().into_inner().token;
        let me = world
            .sessions()
            .get_self(with(&session, wire::GetSelfRequest {}))
            .await;
        let me = me.unwrap().into_inner();
        assert_eq!((&*me.principal, &*me.role), ("an auditor", "auditor"));
        // What it began goes on as long as its token.
        let again = world
            .sessions()
            .create_sign_in_code(with(&session, asked(None)))
            .await;
        again.unwrap();
        let others = world
            .sessions()
            .create_sign_in_code(with(&session, asked(Some("admin"))))
            .await;
        assert_eq!(reason(&others.unwrap_err()), ErrorReason::RoleForbidden);
    }
    let told = world
        .sessions()
        .create_sign_in_code(with(&agent.token, asked(None)))
        .await
        .unwrap_err();
    assert_eq!(reason(&told), ErrorReason::RoleForbidden);
    assert!(
        told.message().contains("the pages, which are for people"),
        "{told:?}"
    );
    for (token, expected) in [
        (&*agent.id, ErrorReason::ArgumentsInvalid),
        ("nobody", ErrorReason::ResourceNotFound),
        ("", ErrorReason::ResourceNotFound),
    ] {
        let told = world
            .sessions()
            .create_sign_in_code(with(&world.admin, asked(Some(token))))
            .await;
        assert_eq!(reason(&told.unwrap_err()), expected, "{token}");
    }
}

#[tokio::test]
async fn guesses_at_codes_are_limited_by_where_they_come_from() {
    let world = World::new().await;
    let sign_in = async |source: &str, code: String| {
        let mut request = Request::new(wire::SignInRequest { code });
        request
            .metadata_mut()
            .insert("toolgate-source", source.parse().unwrap());
        world.sessions().sign_in(request).await
    };
    for guess in 0..10 {
        let refused = sign_in("192.0.2.7", format!("tgl_{guess}")).await.unwrap_err();
        assert_eq!(reason(&refused), ErrorReason::CredentialInvalid);
    }
    let good = || world.core.first_run().unwrap().sign_in_code.reveal().to_owned();
    // A neighbour is the same party, and a good code does not help it.
    let refused = sign_in("192.0.2.200", good()).await.unwrap_err();
    let failure = Failure::from_status(&refused);
    assert_eq!(failure.reason(), ErrorReason::RateLimited);
    assert!(failure.retry_after_ms.is_some_and(|ms| ms > 0), "{failure:?}");
    sign_in("198.51.100.7", good()).await.unwrap();
}

#[tokio::test]
async fn a_revoked_token_is_refused_at_its_next_request() {
    let world = World::new().await;
    let made = world.token("engineer").await;
    let ask = || with(&made.token, wire::GetSelfRequest {});
    world.sessions().get_self(ask()).await.unwrap();
    let revoke = wire::RevokeTokenRequest { id: made.id.clone() };
    world
        .tokens()
        .revoke_token(with(&world.admin, revoke))
        .await
        .unwrap();
    assert_eq!(
        reason(&world.sessions().get_self(ask()).await.unwrap_err()),
        ErrorReason::CredentialInvalid
    );
}

#[tokio::test]
async fn a_host_without_its_relay_fails_the_test_and_that_is_on_the_record() {
    let world = World::new().await;
    let id = world.host().await;
    let asked = wire::TestTargetRequest { id: id.clone() };
    let told = world
        .targets()
        .test_target(with(&world.admin, asked))
        .await
        .unwrap()
        .into_inner();
    assert!(!told.ok);
    let stages: Vec<_> = told
        .stages
        .iter()
        .map(|stage| (&*stage.name, stage.ok, stage.reason.as_deref()))
        .collect();
    assert_eq!(
        stages,
        [(
            "relay",
            false,
            Some("no relay has enrolled for this host yet; an admin runs `toolgate target enrol`")
        )]
    );

    let newest = wire::ListEventsRequest {
        page_size: Some(1),
        ..Default::default()
    };
    let events = world.events(&world.admin, newest).await;
    assert_eq!(
        (&*events[0].event, &*events[0].target_id),
        ("adapter.test_connection.failed", &*id)
    );

    let unknown = wire::TestTargetRequest {
        id: "01ARZ3NDEKTSV4RRFFQ69G5FAV".into(),
    };
    let refused = world
        .targets()
        .test_target(with(&world.admin, unknown))
        .await
        .unwrap_err();
    assert_eq!(refused.code(), Code::NotFound);
}

#[tokio::test]
async fn an_engineer_reads_what_it_did_itself_and_nothing_else() {
    let world = World::new().await;
    let id = world.host().await;
    let engineer = world.token("engineer").await.token;
    let auditor = world.token("auditor").await.token;
    world
        .targets()
        .test_target(with(&engineer, wire::TestTargetRequest { id }))
        .await
        .unwrap();

    let all = || wire::ListEventsRequest::default();
    let own = world.events(&engineer, all()).await;
    let told: Vec<_> = own
        .iter()
        .map(|event| (&*event.event, &*event.principal))
        .collect();
    assert_eq!(told, [("adapter.test_connection.failed", "an engineer")]);
    let others = wire::ListEventsRequest {
        principal: Some("admin".into()),
        ..all()
    };
    assert_eq!(world.events(&engineer, others.clone()).await, []);
    assert!(world.events(&auditor, others).await.len() > 2);
    assert!(world.events(&auditor, all()).await.len() > own.len());
}

#[tokio::test]
async fn filters_that_cannot_be_read_are_refused_with_their_place() {
    let world = World::new().await;
    let all = wire::ListEventsRequest::default;
    let cases = [
        (
            wire::ListEventsRequest {
                page_size: Some(501),
                ..all()
            },
            "page_size: must be 1 to 500",
        ),
        (
            wire::ListEventsRequest {
                cursor: Some("x".into()),
                ..all()
            },
            "cursor: ",
        ),
        (
            wire::ListEventsRequest {
                since: Some("x".into()),
                ..all()
            },
            "since: ",
        ),
        (
            wire::ListEventsRequest {
                until: Some("x".into()),
                ..all()
            },
            "until: ",
        ),
        (
            wire::ListEventsRequest {
                target_id: Some("x".into()),
                ..all()
            },
            "target_id: ",
        ),
        (
            wire::ListEventsRequest {
                correlation_id: Some("x".into()),
                ..all()
            },
            "correlation_id: ",
        ),
        (
            wire::ListEventsRequest {
                result: Some("ok".into()),
                ..all()
            },
            "result: must be one of success, ",
        ),
        (
            wire::ListEventsRequest {
                event: Some("x".into()),
                ..all()
            },
            "event: must be one of adapter.configured, ",
        ),
    ];
    for (asked, place) in cases {
        let status = world
            .audit()
            .list_events(with(&world.admin, asked))
            .await
            .unwrap_err();
        let failure = Failure::from_status(&status);
        assert_eq!(failure.reason(), ErrorReason::ArgumentsInvalid, "{place}");
        assert_eq!(failure.reason().title(), "arguments not accepted");
        let (field, what) = failure.message.split_once(": ").unwrap();
        let violation = &failure.violations[0];
        assert_eq!(
            (&*violation.pointer, &*violation.message),
            (&*format!("/{field}"), what)
        );
        assert!(status.message().starts_with(place), "{status}");
    }
}

#[tokio::test]
async fn verifying_is_itself_on_the_record_and_an_export_holds_every_row() {
    let world = World::new().await;
    world.host().await;
    let verify = |incremental| with(&world.admin, wire::VerifyAuditRequest { incremental });
    let first = world
        .audit()
        .verify_audit(verify(None))
        .await
        .unwrap()
        .into_inner();
    assert_eq!((&*first.verdict, first.rows, first.seq), ("intact", 4, 0));
    assert_eq!((first.from_seq, first.through_seq), (1, 4));
    let second = world
        .audit()
        .verify_audit(verify(Some(true)))
        .await
        .unwrap()
        .into_inner();
    assert_eq!((&*second.verdict, second.rows), ("intact", 1));
    assert_eq!((second.from_seq, second.through_seq), (5, 5));

    let verified = wire::ListEventsRequest {
        event: Some("audit.verified".into()),
        ..Default::default()
    };
    let events = world.events(&world.admin, verified).await;
    let detail: Value = serde_json::from_slice(&events[1].detail).unwrap();
    assert_eq!(
        detail,
        json!({"verdict": "intact", "rows": 4, "seq": 0, "from": 1, "headSeq": 4, "headHash": first.head_hash,
            "checkpoints": first.checkpoints, "checkpointSeq": first.checkpoint_seq})
    );

    let asked = wire::ExportEventsRequest {
        after_seq: Some(1),
        format: None,
    };
    let mut pieces = world
        .audit()
        .export_events(with(&world.admin, asked))
        .await
        .unwrap()
        .into_inner();
    let mut text = Vec::new();
    while let Some(piece) = pieces.next().await {
        text.extend_from_slice(&piece.unwrap().chunk);
    }
    let lines: Vec<Value> = String::from_utf8(text)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let seqs: Vec<_> = lines.iter().map(|line| line["seq"].as_i64().unwrap()).collect();
    assert_eq!(seqs, [2, 3, 4, 5, 6]);
    assert_eq!(lines.last().unwrap()["event"], "audit.verified");
}

#[tokio::test]
async fn targets_are_told_with_their_state_and_no_secret() {
    let world = World::new().await;
    let id = world.host().await;
    let told = world
        .targets()
        .get_target(with(&world.admin, wire::GetTargetRequest { id: id.clone() }))
        .await;
    let target = told.unwrap().into_inner().target.unwrap();
    assert_eq!(
        (&*target.r#type, &*target.name, &*target.status),
        ("ssh", "web", "waiting")
    );
    assert_eq!(&target.config[..], br#"{"hostname":"web"}"#);
    assert_eq!(target.validation.unwrap().verdict, "pending");

    let off = wire::UpdateTargetRequest {
        id: id.clone(),
        disabled: Some(true),
        ..Default::default()
    };
    let told = world
        .targets()
        .update_target(with(&world.admin, off))
        .await
        .unwrap()
        .into_inner();
    assert_eq!(told.target.unwrap().status, "disabled");
    world
        .targets()
        .delete_target(with(&world.admin, wire::DeleteTargetRequest { id }))
        .await
        .unwrap();
    let listed = world
        .targets()
        .list_targets(with(&world.admin, Default::default()))
        .await
        .unwrap()
        .into_inner();
    assert_eq!(listed.targets, []);
}

/// The one field of the typed request, as a client's generated code has it; answers are not read here.
#[derive(Clone, PartialEq, prost::Message)]
struct Command {
    #[prost(string, optional, tag = "1")]
    command: Option<String>,
}

/// Calls the typed rpc of a host's tool, for the target named beside it, and gives the refusal.
async fn typed_call(world: &World, target_id: Option<&str>) -> Failure {
    let mut request = with(
        &world.admin,
        Command {
            command: Some("uptime".into()),
        },
    );
    if let Some(id) = target_id {
        request
            .metadata_mut()
            .insert("toolgate-target-id", id.parse().unwrap());
    }
    let mut client = tonic::client::Grpc::new(world.service());
    let path = PathAndQuery::from_static("/toolgate.tools.v1.SshService/RunWhitelistedCommand");
    let codec = ProstCodec::<Command, Command>::default();
    Failure::from_status(&client.unary(request, path, codec).await.unwrap_err())
}

#[tokio::test]
async fn a_typed_call_names_its_target_in_the_metadata() {
    let world = World::new().await;
    let none = typed_call(&world, None).await;
    assert_eq!(none.reason(), ErrorReason::TargetNotFound);
    assert_eq!(
        none.message,
        "no target of type ssh is in use; ask an admin to add or enable one"
    );
    let (one, _) = (world.host_named("web").await, world.host_named("db").await);
    let check = async |target_id, expected| {
        let failure = typed_call(&world, target_id).await;
        assert_eq!(failure.reason(), expected, "{target_id:?}: {}", failure.message);
    };
    check(None, ErrorReason::TargetRequired).await;
    check(Some(&one), ErrorReason::RelayOffline).await;
    check(Some("nope"), ErrorReason::TargetNotFound).await;
}

/// The names that one version of reflection lists.
macro_rules! listed {
    ($version:ident, $world:expr) => {{
        use tonic_reflection::pb::$version::{
            ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
            server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
        };
        let asked = ServerReflectionRequest {
            host: String::new(),
            message_request: Some(MessageRequest::ListServices(String::new())),
        };
        let answers = ServerReflectionClient::new($world.service())
            .server_reflection_info(futures::stream::iter([asked]))
            .await
            .unwrap();
        let answer = answers.into_inner().message().await.unwrap().unwrap();
        match answer.message_response {
            Some(MessageResponse::ListServicesResponse(listed)) => listed
                .service
                .into_iter()
                .map(|service| service.name)
                .collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        }
    }};
}

#[tokio::test]
async fn both_versions_of_reflection_list_the_typed_services() {
    let world = World::new().await;
    for names in [listed!(v1, world), listed!(v1alpha, world)] {
        assert!(
            names.contains(&"toolgate.tools.v1.SshService".to_owned()),
            "{names:?}"
        );
    }
}

#[tokio::test]
async fn a_session_of_an_mcp_client_is_opened_named_with_requests_and_closed() {
    let world = World::new().await;
    let engineer = world.token("engineer").await.token;
    let mut sessions = world.sessions();
    let opened = async |token: &str, revision: &str| {
        let asked = wire::OpenMcpSessionRequest {
            revision: revision.into(),
        };
        let answer = world.sessions().open_mcp_session(with(token, asked)).await;
        answer.map(|answer| answer.into_inner().session_id)
    };
    let session = opened(&world.admin, "2025-11-25").await.unwrap();
    assert!(session.starts_with("2025-11-25."), "{session}");
    let refused = opened(&world.admin, "nineteen").await.unwrap_err();
    assert_eq!(reason(&refused), ErrorReason::RequestMalformed);

    let inside = |token: &str, session: &str| {
        let mut request = with(token, wire::GetSelfRequest {});
        let value = session.parse().unwrap();
        request.metadata_mut().insert("toolgate-session", value);
        request
    };
    sessions.get_self(inside(&world.admin, &session)).await.unwrap();
    let stolen = sessions.get_self(inside(&engineer, &session)).await.unwrap_err();
    assert_eq!(reason(&stolen), ErrorReason::ResourceNotFound);
    // What a network peer says of sessions is nobody's business.
    let mut network = SessionServiceClient::new(world.core.service(Door::Network));
    network.get_self(inside(&engineer, &session)).await.unwrap();

    let close = |token: &str| {
        let session_id = session.clone();
        with(token, wire::CloseMcpSessionRequest { session_id })
    };
    let stolen = sessions.close_mcp_session(close(&engineer)).await.unwrap_err();
    assert_eq!(reason(&stolen), ErrorReason::ResourceNotFound);
    sessions.close_mcp_session(close(&world.admin)).await.unwrap();
    let gone = [
        sessions.get_self(inside(&world.admin, &session)).await.err(),
        sessions.close_mcp_session(close(&world.admin)).await.err(),
    ];
    for refused in gone {
        assert_eq!(
            refused.map(|status| reason(&status)),
            Some(ErrorReason::ResourceNotFound)
        );
    }
}

/// The next message of a stream that must have one, soon.
async fn next<T>(stream: &mut tonic::Streaming<T>) -> Result<Option<T>, Status> {
    tokio::time::timeout(Duration::from_secs(10), stream.message())
        .await
        .expect("within ten seconds")
}

impl World {
    fn broker(&self) -> BrokerServiceClient<CoreService> {
        BrokerServiceClient::new(self.service())
    }

    async fn versions(&self, token: &str) -> tonic::Streaming<wire::WatchToolsResponse> {
        let asked = with(token, wire::WatchToolsRequest {});
        self.broker().watch_tools(asked).await.unwrap().into_inner()
    }

    async fn version(&self, token: &str) -> String {
        let asked = with(token, wire::ListToolsRequest::default());
        let list = self.broker().list_tools(asked).await.unwrap();
        list.into_inner().version
    }
}

#[tokio::test]
async fn whoever_watches_the_catalog_is_told_each_version_once() {
    let world = World::new().await;
    let engineer = world.token("engineer").await;
    let mut versions = world.versions(&engineer.token).await;
    let first = next(&mut versions).await.unwrap().unwrap().version;
    assert_eq!(first, world.version(&engineer.token).await);
    // A change that is none of the catalog: were it told, it would come before the next.
    world.token("agent").await;
    world.host().await;
    let second = next(&mut versions).await.unwrap().unwrap().version;
    assert_ne!(first, second);
    assert_eq!(second, world.version(&engineer.token).await);

    let disable = wire::UpdatePolicyRequest {
        disabled_tools: vec!["proxmox.list_vms".into()],
    };
    world
        .policy()
        .update_policy(with(&world.admin, disable))
        .await
        .unwrap();
    let third = next(&mut versions).await.unwrap().unwrap().version;
    assert_eq!(third, world.version(&engineer.token).await);
}

#[tokio::test]
async fn watching_ends_with_the_credential_and_with_the_gateway() {
    let world = World::new().await;
    let engineer = world.token("engineer").await;
    let mut theirs = world.versions(&engineer.token).await;
    let mut admins = world.versions(&world.admin).await;
    next(&mut theirs).await.unwrap().unwrap();
    next(&mut admins).await.unwrap().unwrap();
    let id = engineer.id;
    world
        .tokens()
        .revoke_token(with(&world.admin, wire::RevokeTokenRequest { id }))
        .await
        .unwrap();
    let ended = next(&mut theirs).await.unwrap_err();
    assert_eq!(reason(&ended), ErrorReason::CredentialInvalid);
    world.core.part().await;
    assert!(next(&mut admins).await.unwrap().is_none());

    let auditor = world.token("auditor").await.token;
    let asked = with(&auditor, wire::WatchToolsRequest {});
    let refused = world.broker().watch_tools(asked).await.err();
    assert_eq!(
        refused.map(|status| reason(&status)),
        Some(ErrorReason::RoleForbidden)
    );
}

#[tokio::test]
async fn watching_in_a_session_ends_when_it_is_closed() {
    let world = World::new().await;
    let asked = wire::OpenMcpSessionRequest {
        revision: "2025-06-18".into(),
    };
    let opened = world.sessions().open_mcp_session(with(&world.admin, asked)).await;
    let session_id = opened.unwrap().into_inner().session_id;
    let mut request = with(&world.admin, wire::WatchToolsRequest {});
    request
        .metadata_mut()
        .insert("toolgate-session", session_id.parse().unwrap());
    let mut versions = world.broker().watch_tools(request).await.unwrap().into_inner();
    next(&mut versions).await.unwrap().unwrap();
    let close = with(&world.admin, wire::CloseMcpSessionRequest { session_id });
    world.sessions().close_mcp_session(close).await.unwrap();
    let ended = next(&mut versions).await.unwrap_err();
    assert_eq!(reason(&ended), ErrorReason::ResourceNotFound);
}

#[tokio::test]
async fn a_run_that_fails_ends_its_stream_and_one_that_is_refused_never_begins_it() {
    let world = World::new().await;
    world.host().await;
    let run = async |name: &str, log_level: Option<&str>| {
        let asked = wire::RunRequest {
            name: name.into(),
            arguments: r#"{"command":"uptime"}"#.into(),
            log_level: log_level.map(str::to_owned),
            ..Default::default()
        };
        world.broker().run(with(&world.admin, asked)).await
    };
    let refused = [
        (run("nope", None).await.err(), ErrorReason::ToolNotFound),
        (
            run(SSH, Some("verbose")).await.err(),
            ErrorReason::RequestMalformed,
        ),
    ];
    for (refused, expected) in refused {
        assert_eq!(refused.map(|status| reason(&status)), Some(expected));
    }
    // No relay ever came, which is found out on the way to the target.
    let mut events = run(SSH, Some("debug")).await.unwrap().into_inner();
    let told = next(&mut events).await.unwrap().unwrap().event;
    let Some(wire::run_response::Event::Log(log)) = told else {
        panic!("a line first, not {told:?}");
    };
    assert_eq!((&*log.level, &*log.logger), ("debug", "toolgate"));
    let data: Value = serde_json::from_slice(&log.data).unwrap();
    assert_eq!(data["target"], "web");
    let failed = next(&mut events).await.unwrap_err();
    assert_eq!(reason(&failed), ErrorReason::RelayOffline);
}

#[tokio::test]
async fn tokens_and_sessions_tell_their_last_use() {
    let world = World::new().await;
    let made = world.token("auditor").await;
    let last = async |id: &str| {
        let listed = world
            .tokens()
            .list_tokens(with(&world.admin, Default::default()))
            .await;
        let tokens = listed.unwrap().into_inner().tokens;
        tokens
            .into_iter()
            .find(|token| token.id == id)
            .unwrap()
            .last_used_at
    };
    assert_eq!(last(&made.id).await, None);
    world.events(&made.token, Default::default()).await;
    let used = last(&made.id).await.expect("it was used");
    assert!(*used >= *made.created_at, "{used}");

    let revoked = wire::RevokeTokenRequest { id: made.id.clone() };
    world
        .tokens()
        .revoke_token(with(&world.admin, revoked))
        .await
        .unwrap();
    let late = world
        .audit()
        .list_events(with(&made.token, Default::default()))
        .await;
    assert_eq!(reason(&late.unwrap_err()), ErrorReason::CredentialInvalid);
    assert_eq!(last(&made.id).await, Some(used), "a refused one is not used");
}
