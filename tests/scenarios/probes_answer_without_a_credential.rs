//! Probes, metrics and the API's own description answer without a credential and tell nothing of any tenant.

use toolgate_test_support::World;

#[tokio::test]
async fn probes_answer_without_a_credential() {
    let world = World::new().host("canary-host").start().await;
    world.run("uptime").await.unwrap();
    let nobody = world.admin().with_token("");

    for path in ["/healthz", "/readyz", "/metrics", "/openapi.json"] {
        let answer = nobody.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        assert!(!answer.text.contains("canary-host"), "{path}");
    }
    assert!(
        nobody.get("/openapi.json").await.json()["openapi"]
            .as_str()
            .unwrap()
            .starts_with("3.1")
    );
    for path in [
        "/api/mcp/tools",
        "/api/mcp/adapter",
        "/api/audit/events",
        "/api/tokens",
        "/api/mcp/policy",
    ] {
        assert_eq!(nobody.get(path).await.status, 401, "{path}");
    }
}
