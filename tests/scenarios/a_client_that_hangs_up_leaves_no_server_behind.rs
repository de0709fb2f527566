//! Gate C14. Each client of the pipe leads a conversation with a server of its own; when it hangs up, or its gateway goes, that
//! server ends, and nobody holds more of them than a share.

use std::time::Duration;

use toolgate_test_support::{Beside, McpClient, RealProject, Revision, World, until};

/// Answers `initialize` and `tools/list`, and ends with its input.
const SERVER: &str = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {"tools": []}
    if message["method"] == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "small", "version": "1"}}
    if message["method"] == "server/discover":
        answer = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no such method"}}
    else:
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
    print(json.dumps(answer), flush=True)
"#;
const PATH: &str = "/mcp/project/small";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_hangs_up_leaves_no_server_behind() {
    let world = World::new().unlimited().start().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("small_server.py"), SERVER).unwrap();
    let (_, token) = world.admin().add_project("small", "read_write").await.unwrap();
    let command = ["python3", "small_server.py"].map(str::to_owned);
    let relay = RealProject::start(
        world.url(),
        "small",
        Some(&token),
        folder.path(),
        Beside::Command(&command),
    )
    .unwrap();
    relay.up(world.admin(), "small").await.unwrap();
    // The shared one, and that of the client that looked whether it is up; each may be more than one process.
    let each = relay.below("small_server.py").len() / 2;
    let servers = async |wanted: usize| {
        let counted = until(Duration::from_secs(15), || async {
            (relay.below("small_server.py").len() == wanted * each).then_some(())
        });
        assert!(
            counted.await.is_some(),
            "{:?} {}",
            relay.below("small_server.py"),
            relay.log()
        );
    };

    let mut clients = Vec::new();
    for _ in 0..3 {
        let client = McpClient::open(world.admin(), PATH, Revision::November2025).await;
        assert!(client.session().is_some(), "{:?}", client.hello());
        clients.push(client);
    }
    assert!(
        relay.below("small_server.py").len() >= 4,
        "one each, and the one that all share"
    );
    for client in &clients {
        assert_eq!(client.leave().await, 204);
    }
    // The client that looked whether it is up did not hang up.
    servers(2).await;

    // Many never say goodbye: with more than its share, the one that was used longest ago ends for the newest.
    let mut taken = Vec::new();
    for _ in 0..34 {
        let client = McpClient::open(world.admin(), PATH, Revision::November2025).await;
        assert!(client.session().is_some(), "{:?}", client.hello());
        taken.push(client);
    }
    servers(33).await;
    assert_eq!(taken[0].ask("tools/list", "{}").await.status, 404);
    assert_eq!(taken[33].ask("tools/list", "{}").await.status, 200);
    for client in &taken {
        client.leave().await;
    }
    servers(1).await;
}
