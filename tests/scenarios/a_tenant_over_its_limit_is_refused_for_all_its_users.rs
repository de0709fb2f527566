//! Gate E5, 019. The limit of a tenant stops all of its users, and nobody else's.

use toolgate_test_support::{Ground, Role, on_each_store};

on_each_store!(a_tenant_over_its_limit_is_refused_for_all_its_users);

async fn a_tenant_over_its_limit_is_refused_for_all_its_users(ground: Ground) {
    let world = ground
        .world()
        .clock_by_hand()
        .tenant_limit(5)
        .host("web-1")
        .principal("first", Role::Engineer)
        .principal("second", Role::Agent)
        .stranger("stranger")
        .start()
        .await;

    for _ in 0..5 {
        world
            .as_principal("first")
            .run("uptime")
            .await
            .expect("within the limit");
    }

    for name in ["first", "second"] {
        let refusal = world.as_principal(name).run("uptime").await.unwrap_err();
        assert_eq!(
            (refusal.status, refusal.reason.as_str()),
            (429, "RATE_LIMITED"),
            "{name}"
        );
        assert!(refusal.retry_after.is_some_and(|seconds| seconds >= 1));
    }
    assert_eq!(world.host("web-1").received().len(), 5);
    let elsewhere = world.as_principal("stranger").run("uptime").await.unwrap_err();
    assert_eq!(
        elsewhere.reason, "TARGET_NOT_FOUND",
        "it has no host, and is not limited"
    );
}
