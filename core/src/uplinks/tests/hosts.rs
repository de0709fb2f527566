use toolgate_contract::{
    frame::Refusal,
    ids::{CallId, EventId},
};

use super::*;
use crate::{
    audit::{Event, EventKind, Outcome},
    journal::Contact,
    upstream::{Payload, Reports, ToolResult, UpstreamCall, UpstreamError},
};

pub(super) fn contact(tenant: &TenantId) -> Contact {
    let event = Event {
        id: EventId::mint(),
        kind: EventKind::CapabilityInvoked,
        time_us: 0,
        principal: String::new(),
        role: String::new(),
        facade: String::new(),
        adapter_type: "ssh".to_owned(),
        target_id: None,
        capability: "ssh.run_whitelisted_command".to_owned(),
        params_hash: None,
        result: Outcome::Unknown,
        reason: String::new(),
        duration_ms: 0,
        correlation_id: None,
        detail: String::new(),
    };
    Contact::for_tests(tenant, event)
}

fn call(arguments: &'static str) -> UpstreamCall {
    UpstreamCall {
        secret: None,
        call: CallId::mint(),
        tool: "ssh.run_whitelisted_command",
        arguments: Payload(Bytes::from_static(arguments.as_bytes())),
        deadline: Duration::from_secs(10),
        cancelled: CancellationToken::new(),
        reports: Reports::none(),
        message: None,
    }
}

/// Calls the host while `play` plays its relay.
async fn with_relay<P: Future<Output = ()>>(
    world: &World,
    tenant: &TenantId,
    relay: &Relay,
    asked: UpstreamCall,
    play: impl FnOnce(Wire) -> P,
) -> Result<ToolResult, UpstreamError> {
    let wire = world.connect(relay).await;
    let host = world.uplinks.host(relay.target()).expect("connected");
    let contact = contact(tenant);
    let (answer, ()) = tokio::join!(host.call(&contact, asked), play(wire));
    answer
}

#[tokio::test]
async fn a_call_reaches_the_host_as_mcp_and_its_result_comes_back_raw() {
    let world = World::new();
    let relay = world.enrolled();
    let asked = call(r#"{"command":"uptime"}"#);
    let result = with_relay(&world, &world.tenant, &relay, asked, async |mut wire| {
        let request = wire.request().await;
        assert_eq!(
            request.body,
            r#"{"name":"ssh.run_whitelisted_command","arguments":{"command":"uptime"}}"#
        );
        wire.answer(
            &request.header.id,
            r#"{"content":[{"type":"text","text":"up"}],"isError":true}"#,
        )
        .await;
    })
    .await
    .expect("answered");
    assert_eq!(result.content.get(), r#"[{"type":"text","text":"up"}]"#);
    assert!(result.is_error);
}

#[tokio::test]
async fn what_the_relay_refuses_is_told_by_reason() {
    for (code, wanted) in [
        (RefusalCode::WriteRejected, UpstreamError::WriteRejected),
        (RefusalCode::DeadlineExceeded, UpstreamError::Timeout),
        (RefusalCode::Overloaded, UpstreamError::Overloaded),
        (RefusalCode::Failed, UpstreamError::Failed),
        (RefusalCode::Unknown, UpstreamError::Failed),
    ] {
        let world = World::new();
        let relay = world.enrolled();
        let answer = with_relay(&world, &world.tenant, &relay, call("{}"), async |mut wire| {
            let id = wire.request().await.header.id;
            wire.send(Frame::refusal(id, &Refusal::new(code, "no"))).await;
        });
        assert_eq!(answer.await.expect_err("refused"), wanted);
    }
}

#[tokio::test]
async fn a_caller_that_leaves_is_told_to_the_relay() {
    let world = World::new();
    let relay = world.enrolled();
    let asked = call("{}");
    let leave = asked.cancelled.clone();
    let answer = with_relay(&world, &world.tenant, &relay, asked, async |mut wire| {
        let id = wire.request().await.header.id;
        leave.cancel();
        let cancel = wire.receive().await.expect("a cancel");
        assert_eq!((cancel.header.kind, cancel.header.id), (Kind::Cancel, id));
    });
    assert_eq!(answer.await.expect_err("cancelled"), UpstreamError::Cancelled);
}

#[tokio::test]
async fn a_contact_of_another_tenant_finds_the_host_offline() {
    let world = World::new();
    let relay = world.enrolled();
    let other = TenantId::mint();
    let answer = with_relay(&world, &other, &relay, call("{}"), async |wire| drop(wire));
    assert_eq!(answer.await.expect_err("refused"), UpstreamError::RelayOffline);
    assert!(world.uplinks.host(TargetId::mint()).is_none());
}
