//! Garbage, too much, a refusal of the second layer, a lost socket: each has its reason, none is passed on, and all
//! are on the record. Gate 018: the host's own grammar refuses too.

use toolgate_contract::frame::RefusalCode;
use toolgate_test_support::{Reply, World};

#[tokio::test]
async fn what_a_host_answers_wrongly_is_an_error_and_recorded() {
    let cases = [
        (Reply::Garbage, 502, "UPSTREAM_INVALID"),
        (Reply::Shapeless, 502, "UPSTREAM_INVALID"),
        (Reply::Huge(9 * 1024 * 1024), 502, "UPSTREAM_TOO_LARGE"),
        (Reply::Refuses(RefusalCode::TooLarge), 502, "UPSTREAM_TOO_LARGE"),
        (Reply::Refuses(RefusalCode::Failed), 502, "UPSTREAM_FAILED"),
        (Reply::Refuses(RefusalCode::WriteRejected), 403, "WRITE_REJECTED"),
        (Reply::Drop, 503, "RELAY_LOST"),
    ];
    for (reply, status, reason) in cases {
        let world = World::new().host("web-1").start().await;
        world.host("web-1").replies(reply.clone());

        let refusal = world.run("uptime").await.unwrap_err();

        assert_eq!(
            (refusal.status, refusal.reason.as_str()),
            (status, reason),
            "{reply:?}"
        );
        let text = refusal.problem.to_string();
        assert!(!text.contains("told to") && !text.contains("not json"), "{text}");
        let rows = world.audit().await;
        let recorded = rows.iter().filter(|row| row["reason"] == reason);
        assert_eq!(recorded.count(), 1, "{reply:?}: {rows:?}");
    }
}

#[tokio::test]
async fn a_command_that_ends_with_a_code_is_an_answer() {
    let world = World::new().host("web-1").start().await;

    for code in [3, 4, 1] {
        world.host("web-1").replies(Reply::Exits(code));
        let outcome = world.run("systemctl status nginx").await.unwrap();
        assert_eq!(outcome.structured()["exit_code"], code);
        assert_eq!(outcome.result["isError"], false);
    }
}
