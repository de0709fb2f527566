//! Gate J2-3. A tool that is no inventory contacts its host each time and never says how old its answer is.

use toolgate_test_support::World;

#[tokio::test]
async fn a_live_answer_is_asked_for_each_time() {
    let world = World::new().host("web-1").start().await;

    for _ in 0..3 {
        let outcome = world.run("df -h").await.unwrap();
        assert!(
            outcome.result["_meta"]["toolgate/cachedAt"].is_null(),
            "{:?}",
            outcome.result
        );
        assert!(outcome.result["_meta"]["toolgate/ageSeconds"].is_null());
        assert_eq!(
            outcome.result["_meta"]["toolgate/target"]["id"],
            world.target("web-1")
        );
    }

    assert_eq!(world.host("web-1").received(), ["df -h"; 3]);
}
