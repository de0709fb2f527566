//! Gate MCP. Real clients hear progress, log lines and changes of the list, each in its revision's own way, and a call
//! that they leave is left at its target.

use std::time::Duration;

use serde_json::json;
use toolgate_test_support::{Ask, Client, Clients, World};

/// A client, how it negotiates, and how many calls it leaves.
const CASES: [(Client, &str, usize); 5] = [
    (Client::PythonSdk2Hears, "legacy", 1),
    (Client::PythonSdk2Hears, "2026-07-28", 1),
    (Client::PythonSdk1Hears, "legacy", 0),
    (Client::TypeScriptSdk1Hears, "legacy", 1),
    (Client::TypeScriptClient2Hears, "auto", 1),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_of_mcp_hear_and_leave_what_goes_on() {
    let Some(clients) = Clients::here("clients_of_mcp_hear_and_leave_what_goes_on") else {
        return;
    };
    // One after another in one world: each trigger is heard by its own client alone.
    let world = World::new().unlimited().with_fixtures().start().await;
    let (url, token) = (format!("{}/mcp", world.url()), world.admin().token());
    let mut left = 0;
    for (client, mode, leaves) in CASES {
        let ask = Ask {
            mode,
            tool: "",
            arguments: "{}",
            target: &[&url],
            token,
        };
        let heard = clients.run(client, ask).await.unwrap();

        let who = format!("{client:?} {mode}");
        assert_eq!(
            heard["progress"],
            json!([[0, 100], [50, 100], [100, 100]]),
            "{who}"
        );
        let lines = json!([
            ["info", "Tool execution started"],
            ["info", "Tool processing data"],
            ["info", "Tool execution completed"]
        ]);
        assert_eq!(heard["logs"], lines, "{who}");
        assert_eq!(heard["changed"], 1, "{who}");
        if leaves > 0 {
            assert_eq!(
                heard["after"], "This is a simple text response for testing.",
                "{who}"
            );
        }
        left += leaves;
        let seen = tokio::time::timeout(Duration::from_secs(5), world.fixtures().slow_left(left)).await;
        assert!(
            seen.is_ok(),
            "{who}: the call that was left goes on at its target"
        );
    }
}
