//! Validation, from the first question to the verdict.

use super::*;
use crate::adapters::{Grants, Validation, Verdict, Violation};

const PRIVILEGES: &str =
    "Datastore.Audit,Mapping.Audit,Pool.Audit,SDN.Audit,Sys.Audit,VM.Audit,VM.GuestAgent.Audit";
const USERS: &str = "/access/users?full=1";
const RESOURCES: &str = "/cluster/resources?type=vm";

fn held() -> Value {
    PRIVILEGES
        .split(',')
        .map(|name| (name.to_owned(), json!(1)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// A server where the token is as it should be.
fn good() -> Answers {
    Answers::default()
        .data("/version", json!({"version": "9.1.1", "release": "9.1", "repoid": "42db4a6cf33dac83"}))
        .data("/access/roles", json!([{"roleid": "PVEAuditor", "privs": PRIVILEGES, "special": 1}]))
        .data("/access/permissions", json!({"/": held(), "/vms": held()}))
        .data("/access/acl", json!([{"path": "/", "type": "token", "ugid": TOKEN, "roleid": "PVEAuditor", "propagate": 1}]))
        .data(USERS, json!([{"userid": "audit@pve", "groups": "", "tokens": [{"tokenid": "toolgate", "privsep": 1, "expire": 0}]}]))
        .data(RESOURCES, json!([{"vmid": 100, "type": "qemu"}]))
}

async fn validated(answers: Answers) -> Validation {
    let peer = answers.peer();
    let found = cluster(&peer).validate(&contact()).await;
    asked(&peer);
    assert!(!format!("{found:?}").contains(SECRET));
    found
}

/// Stages that ran, with a mark at the one that failed.
fn stages(found: &Validation) -> String {
    let each = found.stages.iter().map(|stage| match &stage.failed {
        None => stage.name.to_owned(),
        Some(_) => format!("{}!", stage.name),
    });
    each.collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn violation(found: &Validation) -> &Violation {
    match &found.verdict {
        Verdict::Violation(violation) => violation,
        Verdict::Passed | Verdict::Unknown(_) => panic!("{found:?}"),
    }
}

#[tokio::test]
async fn a_token_that_may_read_and_nothing_else_passes_every_stage() {
    let peer = good().peer();
    let found = cluster(&peer).validate(&contact()).await;
    assert_eq!(found.verdict, Verdict::Passed, "{found:?}");
    assert_eq!(stages(&found), "reach authenticate privileges version sample");
    assert_eq!(found.proven.join(","), PRIVILEGES);
    assert_eq!((found.wider.len(), found.not_provable.len()), (0, 0));
    assert_eq!(Value::Object(found.facts), json!({"version": "9.1.1"}));
    let mut asked = asked(&peer);
    asked[1..5].sort();
    assert_eq!(
        asked,
        [
            "/version",
            "/access/acl",
            "/access/permissions",
            "/access/roles",
            USERS,
            RESOURCES
        ]
    );
}

#[tokio::test]
async fn a_token_that_can_do_more_is_wider_and_one_that_can_do_less_is_not() {
    let mut more = held();
    more["VM.PowerMgmt"] = json!(0);
    let found = validated(good().data("/access/permissions", json!({"/": held(), "/vms/100": more}))).await;
    assert_eq!(
        (stages(&found).as_str(), violation(&found).wider),
        ("reach authenticate privileges!", true)
    );
    assert_eq!(
        (found.wider.join(","), violation(&found).of),
        ("VM.PowerMgmt on /vms/100".into(), Grants::Roles)
    );

    let less = json!({"/": {"VM.Audit": 1}});
    let found = validated(good().data("/access/permissions", less)).await;
    assert_eq!(
        (stages(&found).as_str(), violation(&found).wider),
        ("reach authenticate privileges!", false)
    );
    assert!(
        violation(&found).what.contains("lacks Datastore.Audit on /"),
        "{found:?}"
    );
    assert_eq!(found.proven, ["VM.Audit"]);

    let found = validated(good().data("/access/permissions", json!({}))).await;
    assert!(violation(&found).what.contains("nothing at all"), "{found:?}");
}

#[tokio::test]
async fn a_token_that_the_server_does_not_know_is_asked_about_once() {
    let peer = Answers::default()
        .with("/version", failed(401, "authentication failure"))
        .peer();
    let found = cluster(&peer).validate(&contact()).await;
    assert!(
        !violation(&found).wider && violation(&found).what.contains("does not accept the token"),
        "{found:?}"
    );
    assert_eq!(
        (stages(&found).as_str(), asked(&peer).len()),
        ("reach authenticate!", 1)
    );
    // Revoked in the middle.
    let found = validated(good().with("/access/permissions", failed(401, "authentication failure"))).await;
    assert_eq!(
        (stages(&found).as_str(), violation(&found).wider),
        ("reach authenticate privileges!", false)
    );
}

#[tokio::test]
async fn lists_that_are_kept_from_the_token_are_no_fault_of_its_own() {
    let no = || failed(403, "Permission check failed");
    let found = validated(good().with("/access/acl", no()).with(USERS, no())).await;
    assert_eq!(
        (&found.verdict, found.not_provable.as_slice()),
        (&Verdict::Passed, ["names of its roles".to_owned()].as_slice())
    );
}

#[tokio::test]
async fn what_is_no_proxmox_or_gives_no_answer_is_no_fault_of_the_token() {
    let check = async |answers: Answers, error: UpstreamError, failed: &str| {
        let found = validated(answers).await;
        assert_eq!(
            (&found.verdict, stages(&found).as_str()),
            (&Verdict::Unknown(error), failed),
            "{found:?}"
        );
    };
    let first = |reply| good().with("/version", reply);
    let (failed_first, invalid) = ("reach authenticate!", UpstreamError::Invalid);
    check(
        first(Reply::status(200).with_body("<html>")),
        invalid.clone(),
        failed_first,
    )
    .await;
    check(
        first(Reply::json(&json!({"version": "1.25.4"}))),
        invalid.clone(),
        failed_first,
    )
    .await;
    check(first(Reply::status(404)), invalid.clone(), failed_first).await;
    check(good().without("/version"), invalid.clone(), failed_first).await;
    check(first(failed(403, "no")), invalid.clone(), failed_first).await;
    check(first(failed(500, "boom")), UpstreamError::Failed, failed_first).await;
    check(first(failed(503, "")), UpstreamError::Failed, failed_first).await;
    let second = "reach authenticate privileges!";
    check(good().without("/access/permissions"), invalid.clone(), second).await;
    check(
        good().data("/access/permissions", json!([])),
        invalid.clone(),
        second,
    )
    .await;
    check(good().data("/access/roles", json!(null)), invalid.clone(), second).await;
    check(
        good().with("/access/roles", failed(500, "boom")),
        UpstreamError::Failed,
        second,
    )
    .await;
    let last = "reach authenticate privileges version sample!";
    check(good().data(RESOURCES, json!({})), invalid.clone(), last).await;
    check(
        good().with(RESOURCES, failed(599, "Too many redirections")),
        UpstreamError::Failed,
        last,
    )
    .await;
}

#[tokio::test]
async fn a_version_that_is_not_told_is_unknown() {
    for version in [json!(null), json!({}), json!({"version": null})] {
        let found = validated(good().data("/version", version)).await;
        assert_eq!(
            (&found.verdict, &found.facts["version"]),
            (&Verdict::Passed, &json!("unknown"))
        );
    }
    let found = validated(good().data("/version", json!({"version": "7.4-17/513c62be"}))).await;
    assert_eq!(found.facts["version"], "7.4-17/513c62be");
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_ends_a_validation_at_its_first_stage() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let settings = json!({"host": "127.0.0.1", "port": closed.port(), "allowLoopback": true});
    let found = open(&settings, &json!({}), &secret())
        .unwrap()
        .validate(&contact())
        .await;
    assert_eq!(
        (&found.verdict, stages(&found).as_str()),
        (&Verdict::Unknown(UpstreamError::Unreachable), "reach!")
    );
    // A server whose certificate nobody vouches for is sent nothing.
    let peer = Peer::over_tls(self_signed().0, |_| Reply::never());
    let settings = json!({"host": "127.0.0.1", "port": peer.port(), "allowLoopback": true});
    let found = open(&settings, &json!({}), &secret())
        .unwrap()
        .validate(&contact())
        .await;
    assert_eq!(
        (&found.verdict, stages(&found).as_str()),
        (&Verdict::Unknown(UpstreamError::Tls), "reach tls!")
    );
    assert_eq!(peer.asked().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_ends_a_validation_within_ten_seconds() {
    for (answers, last) in [
        (good().with("/version", Reply::never()), "reach!"),
        (good().with("/access/acl", Reply::never()), "privileges!"),
        (good().with(RESOURCES, Reply::never()), "sample!"),
    ] {
        let began = tokio::time::Instant::now();
        let found = validated(answers).await;
        assert_eq!(found.verdict, Verdict::Unknown(UpstreamError::Timeout));
        assert!(stages(&found).ends_with(last), "{found:?}");
        assert!(began.elapsed() <= Duration::from_secs(10));
    }
}
