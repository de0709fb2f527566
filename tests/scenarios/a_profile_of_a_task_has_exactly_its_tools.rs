//! Gate B3 to B5. Under the profile of each kind of task a caller sees exactly the tools of that profile, in every dialect,
//! and no infrastructure.

use std::collections::BTreeSet;

use toolgate_contract::registry;
use toolgate_test_support::{BackEnds, Dialect, Role, World};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_profile_of_a_task_has_exactly_its_tools() {
    let world = World::new()
        .unlimited()
        .principal("pod", Role::Agent)
        .start()
        .await;
    let _back_ends = BackEnds::added(world.admin(), "read_write").await.unwrap();
    let pod = world.as_principal("pod");
    let sizes = [
        ("brainstorm", 53),
        ("implement", 44),
        ("review", 40),
        ("triage", 44),
        ("lifecycle", 60),
        ("incident", 56),
        ("selfImprove", 45),
    ];
    for (name, size) in sizes {
        let expected: BTreeSet<&str> = registry::profile(name).unwrap().tools.iter().copied().collect();
        for dialect in Dialect::ALL {
            let listed = pod.asking_for(name).by(dialect).await.tools().await;
            assert_eq!(listed.len(), size, "{name} by {dialect:?}");
            let found: BTreeSet<&str> = listed.iter().map(String::as_str).collect();
            assert_eq!(found, expected, "{name} by {dialect:?}");
        }
    }
    // Without one there is everything: the agents' tools and the nine of infrastructure.
    let all = pod.by(Dialect::Rest).await.tools().await;
    assert_eq!(all.len(), 63 + 9);
}
