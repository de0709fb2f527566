//! What an admin revoked or removed does not come back by itself at the next start of the gateway: it says so, and how
//! to bring it back.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_test_support::{Gateway, until};

async fn own_host(gateway: &Gateway) -> Option<Value> {
    let listed = gateway.admin().get("/api/mcp/adapter").await.json();
    listed["targets"].as_array()?.first().cloned()
}

async fn reaches(gateway: &Gateway, status: &str) {
    let reached = until(Duration::from_secs(10), || async {
        (own_host(gateway).await?["status"] == status).then_some(())
    });
    reached
        .await
        .unwrap_or_else(|| panic!("it does not become {status}: {}", gateway.log()));
}

#[tokio::test]
async fn a_host_of_the_gateway_that_was_revoked_stays_so_until_an_admin_wants_it_back() {
    let mut gateway = Gateway::start(&[]).await.unwrap();
    reaches(&gateway, "ready").await;
    let id = own_host(&gateway).await.unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    gateway
        .admin()
        .delete(&format!("/api/mcp/adapter/{id}/relay"))
        .await;

    gateway.terminate().await;
    gateway.up().await.unwrap();

    assert_eq!(own_host(&gateway).await.unwrap()["status"], "revoked");
    let printed = gateway.printed().join("\n");
    assert!(
        printed.contains("an admin revoked its relay; `toolgate target enrol"),
        "{printed}"
    );
    let enrolled = gateway
        .admin()
        .post(&format!("/api/mcp/adapter/{id}/enrolment"), json!({}))
        .await
        .json();
    assert_eq!(enrolled["enrolment"]["command"], "", "there is nothing to run");
    reaches(&gateway, "ready").await;
    gateway.admin().run("uptime").await.expect("it is back at once");

    gateway.terminate().await;
    gateway.up().await.unwrap();
    reaches(&gateway, "ready").await;
}

#[tokio::test]
async fn a_host_of_the_gateway_that_was_removed_stays_so() {
    let mut gateway = Gateway::start(&[]).await.unwrap();
    reaches(&gateway, "ready").await;
    let id = own_host(&gateway).await.unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    gateway.admin().delete(&format!("/api/mcp/adapter/{id}")).await;

    gateway.terminate().await;
    gateway.up().await.unwrap();

    assert_eq!(own_host(&gateway).await, None);
    let printed = gateway.printed().join("\n");
    assert!(
        printed.contains("an admin removed it from the targets; delete "),
        "{printed}"
    );
}
