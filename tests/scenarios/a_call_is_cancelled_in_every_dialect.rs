//! Gate E8. In each dialect a call is cancelled in that dialect's own way: by leaving, by a message where leaving means
//! nothing. The host is told within 100 ms, and no row says that anything was invoked.

use std::time::Duration;

use serde_json::json;
use toolgate_test_support::{Dialect, Reply, World};

const TOLD_WITHIN: Duration = Duration::from_millis(100);
const ROUNDS: usize = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_is_cancelled_in_every_dialect() {
    let world = World::new().unlimited().host("web-1").start().await;
    let host = world.host("web-1");
    host.replies(Reply::Hang);
    let mut calls = 0;

    for dialect in Dialect::ALL {
        let speaker = world.admin().by(dialect).await;
        let mut lags = Vec::new();
        for _ in 0..ROUNDS {
            calls += 1;
            let told = speaker
                .cancel(
                    "ssh.run_whitelisted_command",
                    &json!({"command": "uptime"}),
                    async {
                        drop(
                            host.wait(Duration::from_secs(5), |seen| seen.commands.len() == calls)
                                .await,
                        )
                    },
                    async {
                        drop(
                            host.wait(Duration::from_secs(5), |seen| seen.cancelled_at.len() == calls)
                                .await,
                        )
                    },
                )
                .await;
            let seen = host.seen();
            assert_eq!(
                seen.cancelled_at.len(),
                calls,
                "{dialect:?}: the host was not told"
            );
            lags.push(seen.cancelled_at[calls - 1].saturating_duration_since(told));
        }
        lags.sort();
        // The slowest of twenty may be the machine's fault, not the gateway's.
        assert!(lags[ROUNDS - 2] <= TOLD_WITHIN, "{dialect:?}: {lags:?}");
    }

    assert_eq!(world.audit_of("adapter.capability_invoked").await.len(), 0);
    host.replies(Reply::Prints("up\n".into()));
    world.run("uptime").await.expect("the relay still serves");
}
