//! Over gRPC a message that cannot be read or is too long, and a deadline that cannot be read or has passed, never
//! reach a method. They are refused with a reason of the contract and counted like every other refusal.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use prost::Message;
use tonic::Code;
use toolgate_contract::v1::{CallRequest, ErrorReason, Failure};
use toolgate_test_support::{Ground, Reply, World, on_each_store, until};

const CALL: &str = "/toolgate.v1.BrokerService/Call";
const TYPED: &str = "/toolgate.tools.v1.SshService/RunWhitelistedCommand";

fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).expect("a short message");
    let mut frame = vec![0];
    frame.extend(length.to_be_bytes());
    frame.extend(message);
    frame
}

fn uptime() -> Vec<u8> {
    let request = CallRequest {
        name: "ssh.run_whitelisted_command".into(),
        arguments: r#"{"command":"uptime"}"#.into(),
        target_id: None,
    };
    framed(&request.encode_to_vec())
}

/// Code, reason and text of what came back.
async fn refusal(world: &World, path: &str, timeout: &str, body: Vec<u8>) -> (Code, ErrorReason, String) {
    let headers = [("grpc-timeout", timeout)];
    let headers = if timeout.is_empty() { &[][..] } else { &headers };
    let status = world.admin().raw_grpc(path, headers, body).await;
    let status = status.expect("a status instead of an answer");
    assert!(!status.details().is_empty(), "without a reason: {status:?}");
    let failure = Failure::from_status(&status);
    (status.code(), failure.reason(), failure.message)
}

on_each_store!(what_no_method_ever_sees_is_refused_by_reason_and_counted);

async fn what_no_method_ever_sees_is_refused_by_reason_and_counted(ground: Ground) {
    let world = ground.world().clock_by_hand().host("web-1").start().await;

    let malformed = [
        (CALL, framed(b"\xff\xff\xff"), "cannot be read"),
        (CALL, framed(b"\x0a\x02\xff\xfe"), "name"),
        (CALL, vec![7, 0, 0, 0, 0], "compression flag"),
        (CALL, Vec::new(), "cannot be read"),
        (CALL, vec![0, 0, 0, 0, 9, 1], "cannot be read"),
        (TYPED, framed(b"\xff\xff\xff"), "cannot be read"),
        (
            "/toolgate.v1.TokenService/ListTokens",
            framed(b"\x0a"),
            "cannot be read",
        ),
    ];
    for (path, body, place) in &malformed {
        let (code, reason, text) = refusal(&world, path, "", body.clone()).await;
        assert_eq!(
            (code, reason),
            (Code::InvalidArgument, ErrorReason::RequestMalformed),
            "{path} {body:?}: {text}"
        );
        assert!(text.contains(place), "{text}");
    }
    for timeout in ["-1S", "abc", "1s", "S", "999999999S", "1 S"] {
        let (code, reason, text) = refusal(&world, CALL, timeout, uptime()).await;
        assert_eq!(
            (code, reason),
            (Code::InvalidArgument, ErrorReason::RequestMalformed),
            "{timeout}: {text}"
        );
        assert!(text.contains("grpc-timeout"), "{text}");
    }
    for path in [CALL, TYPED] {
        let (code, reason, text) = refusal(&world, path, "", framed(&vec![b' '; 2 << 20])).await;
        assert_eq!(
            (code, reason),
            (Code::ResourceExhausted, ErrorReason::RequestTooLarge),
            "{path}: {text}"
        );
    }
    for timeout in ["0n", "0S", "00000000H"] {
        let (code, reason, text) = refusal(&world, CALL, timeout, uptime()).await;
        assert_eq!(
            (code, reason),
            (Code::DeadlineExceeded, ErrorReason::DeadlineExceeded),
            "{timeout}: {text}"
        );
    }
    assert!(world.host("web-1").received().is_empty());

    world.clock().advance(Duration::from_secs(61));
    let expected = BTreeMap::from([
        ("REQUEST_MALFORMED".to_owned(), malformed.len() as u64 + 6),
        ("REQUEST_TOO_LARGE".to_owned(), 2),
        ("DEADLINE_EXCEEDED".to_owned(), 3),
    ]);
    let counted = until(Duration::from_secs(10), || async {
        let rows = world.audit_of("request.refused").await;
        let counts: BTreeMap<String, u64> = rows
            .iter()
            .filter_map(|row| {
                Some((
                    row["reason"].as_str()?.to_owned(),
                    row["detail"]["count"].as_u64()?,
                ))
            })
            .collect();
        (counts == expected).then_some(counts)
    });
    assert!(
        counted.await.is_some(),
        "{:?}",
        world.audit_of("request.refused").await
    );
}

on_each_store!(a_deadline_is_the_gateways_own_affair_and_has_its_reason);

async fn a_deadline_is_the_gateways_own_affair_and_has_its_reason(ground: Ground) {
    let world = ground.world().host("web-1").start().await;
    world.host("web-1").replies(Reply::Hang);

    for (timeout, limit) in [("1n", 5_000), ("1m", 5_000), ("300m", 5_000)] {
        for path in [CALL, TYPED] {
            let body = if path == CALL {
                uptime()
            } else {
                framed(b"\x0a\x06uptime")
            };
            let began = Instant::now();
            let (code, reason, text) = refusal(&world, path, timeout, body).await;
            assert_eq!(
                (code, reason),
                (Code::DeadlineExceeded, ErrorReason::DeadlineExceeded),
                "{path} {timeout}: {text}"
            );
            assert!(began.elapsed() < Duration::from_millis(limit), "{timeout}");
        }
    }
    let rows = world.audit_of("adapter.capability_invoked").await;
    let settled = rows.iter().filter(|row| row["reason"] == "DEADLINE_EXCEEDED");
    assert!(
        settled.count() >= 2,
        "those with time to be settled have rows: {rows:?}"
    );
}
