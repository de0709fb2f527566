//! Gate B2, as the core answers it. A profile that nobody knows hides nothing; with `unknown_profile = "closed"` only what no
//! profile leaves out is there. An empty name is none. To pin an unknown one is refused.

use serde_json::json;
use toolgate_contract::registry::ALWAYS_ON;
use toolgate_test_support::{BackEnds, Dialect, Role, World};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_profile_opens() {
    let world = World::new().unlimited().start().await;
    let _back_ends = BackEnds::added(world.admin(), "read_write").await.unwrap();
    for dialect in Dialect::ALL {
        for asked in ["revue", "closed", "ALL", "prüfung", ""] {
            let listed = world.admin().asking_for(asked).by(dialect).await.tools().await;
            assert_eq!(listed.len(), 63 + 9, "{asked} by {dialect:?}");
        }
    }
    let refused = world
        .admin()
        .make_pinned("pod", Role::Agent, "revue")
        .await
        .unwrap_err();
    assert_eq!((refused.status, &*refused.reason), (400, "ARGUMENTS_INVALID"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_profile_closes_where_it_is_configured_and_an_empty_one_never() {
    let world = World::new()
        .unlimited()
        .closed_to_unknown_profiles()
        .start()
        .await;
    let _back_ends = BackEnds::added(world.admin(), "read_write").await.unwrap();
    for dialect in Dialect::ALL {
        // Nor is a name unset that is no plain text.
        for name in ["revue", "prüfung", "revi\u{eb}w", "review review"] {
            let unknown = world.admin().asking_for(name).by(dialect).await;
            let mut listed = unknown.tools().await;
            listed.sort_unstable();
            assert_eq!(listed, ALWAYS_ON, "{name} by {dialect:?}");
            let refused = unknown.call("query", &json!({"text": "x"})).await;
            assert_eq!(refused.reason(), "TOOL_NOT_FOUND", "{name} by {dialect:?}");
        }

        let empty = world.admin().asking_for("").by(dialect).await.tools().await;
        assert_eq!(empty.len(), 63 + 9, "{dialect:?}");
        let known = world.admin().asking_for("review").by(dialect).await.tools().await;
        assert_eq!(known.len(), 40, "{dialect:?}");
    }
}
