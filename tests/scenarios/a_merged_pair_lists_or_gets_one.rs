//! Gate B8, B9. Two tools stand for two requests each: an argument chooses, and one that is malformed silently lists and
//! is not sent.

use serde_json::{Value, json};
use toolgate_test_support::{BackEnds, World};

#[tokio::test]
async fn communities_are_listed_or_one_is_given() {
    let (world, back_ends) = with_back_ends().await;
    let check = async |arguments: Value, expected: &str| {
        asks(&world, &back_ends, "code_communities", arguments, expected).await;
    };
    check(json!({"repo": "r"}), "communities?repo=r").await;
    for three in [json!(3), json!(3.0), json!("3")] {
        check(
            json!({"repo": "r", "community": three}),
            "community?repo=r&community=3",
        )
        .await;
    }
    let big = json!({"repo": "r", "community": 9_007_199_254_740_993_u64});
    check(big, "community?repo=r&community=9007199254740993").await;
    for malformed in [
        json!("abc"),
        json!(""),
        json!(3.5),
        json!(true),
        json!(null),
        json!([3]),
        json!({"a": 3}),
    ] {
        check(json!({"repo": "r", "community": malformed}), "communities?repo=r").await;
    }
    refused(&world, &back_ends, "code_communities", json!({"community": 3})).await;
}

#[tokio::test]
async fn hyperedges_are_listed_or_one_is_given_and_the_id_wins() {
    let (world, back_ends) = with_back_ends().await;
    let check = async |arguments: Value, expected: &str| {
        asks(&world, &back_ends, "code_hyperedges", arguments, expected).await;
    };
    check(json!({"repo": "r"}), "hyperedges?repo=r").await;
    check(json!({"repo": "r", "entity": "e"}), "hyperedges?repo=r&entity=e").await;
    check(json!({"repo": "r", "id": "h"}), "hyperedge?repo=r&id=h").await;
    check(
        json!({"repo": "r", "id": "h", "entity": "e"}),
        "hyperedge?repo=r&id=h",
    )
    .await;
    check(
        json!({"repo": "r", "id": "", "entity": "e"}),
        "hyperedges?repo=r&entity=e",
    )
    .await;
    check(json!({"repo": "r", "id": {"a": 1}}), "hyperedges?repo=r").await;
    refused(&world, &back_ends, "code_hyperedges", json!({"id": "h"})).await;
}

async fn with_back_ends() -> (World, BackEnds) {
    let world = World::new().start().await;
    let back_ends = BackEnds::added(world.admin(), "read_only").await.unwrap();
    (world, back_ends)
}

async fn asks(world: &World, back_ends: &BackEnds, tool: &str, arguments: Value, expected: &str) {
    back_ends.forget();
    world.call(tool, arguments.clone()).await.unwrap();
    let lines: Vec<String> = back_ends.asked().iter().map(|asked| asked.line()).collect();
    assert_eq!(lines, [format!("GET /code-graph/{expected}")], "{arguments}");
}

async fn refused(world: &World, back_ends: &BackEnds, tool: &str, arguments: Value) {
    back_ends.forget();
    let refusal = world.call(tool, arguments).await.unwrap_err();
    assert_eq!(
        (refusal.status, refusal.reason.as_str()),
        (400, "ARGUMENTS_INVALID")
    );
    assert!(back_ends.asked().is_empty());
}
