//! Gate C9. `list_projects` tells of every registered project what was said when it was registered and which one is the
//! caller's, and asks nobody: projects that are gone are listed like those that are there.

use serde_json::json;
use toolgate_test_support::{Dialect, Does, World};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_list_of_projects_asks_none_of_them() {
    let world = World::new().unlimited().project("alpha").start().await;
    let labels = json!({
        "url": "http://robot.example:3001", "sshPort": 2222, "hostPath": "/srv/robot", "adopted": true,
        "access": "read_write"
    });
    world.admin().add_project_with("robot", labels).await.unwrap();
    world.admin().add_project_with("zeta", json!({})).await.unwrap();
    world.admin().set_default_project("robot").await.unwrap();
    world.project("alpha").when("tools/list", Does::Hangs);
    world.project("alpha").forget();

    let expected = json!([
        {"name": "alpha", "adopted": false, "active": false, "access": "read_write"},
        {"name": "robot", "url": "http://robot.example:3001", "ssh_port": 2222, "host_path": "/srv/robot",
         "adopted": true, "active": true, "access": "read_write"},
        {"name": "zeta", "adopted": false, "active": false, "access": "read_only"},
    ]);
    for dialect in Dialect::ALL {
        let told = world
            .admin()
            .by(dialect)
            .await
            .call("list_projects", &json!({}))
            .await;
        assert_eq!(told.structured()["projects"], expected, "{dialect:?}: {told:?}");
    }
    let text = world
        .call("list_projects", json!({}))
        .await
        .unwrap()
        .text()
        .to_owned();
    for word in ["alpha", "robot", "zeta", "2222", "/srv/robot"] {
        assert!(text.contains(word), "a person reads {word}: {text}");
    }
    assert!(world.project("alpha").seen().asked.is_empty());
}
