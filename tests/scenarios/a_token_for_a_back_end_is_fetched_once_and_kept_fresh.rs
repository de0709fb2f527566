//! Client credentials: one token for all who call, another one where it was taken back, and a clear refusal while nobody
//! hands out any; the secret and the tokens are told nowhere.

use futures::future::join_all;
use serde_json::json;
use toolgate_test_support::{AgentMemory, TokenEndpoint, World, back_ends::Says};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_for_a_back_end_is_fetched_once_and_kept_fresh() {
    let world = World::new().unlimited().start().await;
    let (memory, endpoint) = (AgentMemory::start().await, TokenEndpoint::start().await);
    memory.guarded_by(&endpoint);
    let mut settings = memory.settings("read_write");
    settings["issuer"] = json!(endpoint.issuer());
    let added = world
        .admin()
        .add_target(AgentMemory::ADAPTER, "memory", settings, endpoint.credential())
        .await
        .unwrap();
    assert_eq!(added["validation"]["verdict"], "passed", "{added}");
    memory.forget();
    let before = endpoint.asked_for_tokens();

    let get = || world.call("get_memory", json!({"id": "m"}));
    let all = join_all((0..50).map(|_| get())).await;
    assert!(
        all.iter().all(Result::is_ok),
        "{:?}",
        all.iter().find(|told| told.is_err())
    );
    assert_eq!(
        endpoint.asked_for_tokens(),
        before + 1,
        "one token for all of them"
    );

    // Taken back: what was not carried out is sent again with another one, writes as well.
    endpoint.revoke_all();
    memory.forget();
    world.call("create_memory", json!({"text": "t"})).await.unwrap();
    let bearers: Vec<_> = memory
        .asked()
        .iter()
        .map(|asked| asked.bearer().map(str::to_owned))
        .collect();
    assert_eq!(bearers.len(), 2);
    assert_ne!(bearers[0], bearers[1]);
    assert_eq!(endpoint.asked_for_tokens(), before + 2);

    // What a back end reflects of its token stays here.
    let token = bearers[1].clone().unwrap();
    memory.says_next(Says::status(200, format!("you sent {token}")));
    let told = get().await.unwrap();
    assert_eq!(told.text(), "you sent [credential withheld]");
    for canary in endpoint.canaries() {
        for path in ["/api/mcp/adapter", "/api/audit/events", "/metrics"] {
            let text = world.admin().get(path).await.text;
            assert!(!text.contains(&canary), "{path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_token_the_back_end_is_left_alone() {
    let world = World::new().unlimited().start().await;
    let (memory, endpoint) = (AgentMemory::start().await, TokenEndpoint::start().await);
    let mut settings = memory.settings("read_only");
    settings["tokenUrl"] = json!(endpoint.token_url());
    let add = || {
        let admin = world.admin();
        admin.add_target(
            AgentMemory::ADAPTER,
            "memory",
            settings.clone(),
            endpoint.credential(),
        )
    };
    endpoint.says(Some(Says::json(401, &json!({"error": "invalid_client"}))));
    let refusal = add().await.unwrap_err();
    assert_eq!(
        (refusal.status, refusal.reason.as_str()),
        (422, "SCOPE_VIOLATION"),
        "{}",
        refusal.problem
    );
    endpoint.says(Some(Says::status(503, "down")));
    let refusal = add().await.unwrap_err();
    assert!(refusal.problem.to_string().contains("503"), "{}", refusal.problem);
    assert!(memory.asked().is_empty());

    endpoint.says(None);
    endpoint.expires_in(Some(0));
    add().await.unwrap();
    memory.forget();
    endpoint.says(Some(Says::status(503, "down")));
    let refusal = world.call("list_edges", json!({})).await.unwrap_err();
    assert_eq!(
        (refusal.status, refusal.reason.as_str()),
        (503, "SECRET_UNAVAILABLE")
    );
    assert!(memory.asked().is_empty());
    endpoint.says(None);
    endpoint.expires_in(Some(3_600));
}
