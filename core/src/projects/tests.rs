//! Projects over a store of their own, whose relays nobody has seen yet.

use std::sync::Arc;

use serde_json::json;
use toolgate_contract::{ids::TargetId, v1::ErrorReason};

use super::*;
use crate::{
    changes::tests::ground::{Ground, detail},
    config::ProjectScope,
    keys::Keyring,
    secrets::Secrets,
    targets::{Dialling, Entry},
    uplinks::Uplinks,
};

struct Room {
    ground: Ground,
    projects: Projects,
}

async fn room() -> Room {
    let ground = Ground::new().await;
    let keys: Arc<Keyring> = Arc::clone(&ground.keys);
    let secrets = Secrets::local_only(ground.store.clone(), Arc::clone(&keys), ground.clock.clone());
    let (journal, tasks) = (ground.journal.clone(), ground.tasks.clone());
    let targets = Targets::new(
        ground.changes.clone(),
        Arc::clone(&keys),
        Arc::new(Uplinks::closed(keys)),
        "https://gate.example",
        Dialling::new(secrets, journal, ground.clock.clone(), tasks),
    );
    let fleet = Fleet::new(ground.clock.clone(), ProjectScope::default());
    let projects = Projects::new(ground.changes.clone(), targets, fleet, ground.snapshots.clone());
    Room { ground, projects }
}

impl Room {
    async fn register(&self, name: &str) -> TargetId {
        let made = self
            .projects
            .create(self.ground.admin(), name.into(), bytes::Bytes::new());
        made.await.unwrap().0.target.id
    }

    /// As a look at a project leaves it.
    async fn told(&self, id: TargetId, hash: &'static str, withheld: Option<&'static str>) {
        let tenant = self.ground.tenant().clone();
        let noted = self.ground.changes.make(self.ground.admin(), move |tx| {
            Box::pin(async move {
                rows::set_list(tx, &tenant, id, hash, 1).await?;
                rows::withhold_list(tx, &tenant, id, withheld, 2).await?;
                Ok(((), vec![]))
            })
        });
        noted.await.unwrap();
    }

    async fn get(&self, name: &str) -> Known {
        self.projects
            .get(&self.ground.admin(), name)
            .await
            .unwrap()
            .project
    }

    async fn follow(&self, names: &[&str], default: Option<&str>) {
        let entries = names
            .iter()
            .map(|name| Entry::read(name, serde_json::Map::new()).unwrap());
        self.projects
            .follow_file(entries.collect(), default)
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn a_changed_list_is_accepted_by_its_hash_and_by_no_other() {
    let room = room().await;
    let id = room.register("alpha").await;
    let accept = |hash| room.projects.accept(room.ground.admin(), "alpha", hash);
    let none = accept("bb").await.unwrap_err();
    assert!(none.to_string().contains("no changed tools"), "{none}");

    room.told(id, "aa", Some("bb")).await;
    let known = room.get("alpha").await;
    assert_eq!(
        (known.tools_hash(), known.withheld_hash()),
        (Some("aa"), Some("bb"))
    );
    let other = accept("cc").await.unwrap_err();
    assert_eq!(other.reason(), ErrorReason::Conflict);
    assert!(other.to_string().contains("bb"), "{other}");

    let known = accept("bb").await.unwrap();
    assert_eq!((known.tools_hash(), known.withheld_hash()), (Some("bb"), None));
    let record = room.ground.record().await;
    let row = record.last().unwrap();
    assert_eq!(
        (row.kind.as_str(), row.target_id),
        ("project.tools_changed", Some(id))
    );
    let told =
        json!({"change": "accepted", "name": "alpha", "before": "aa", "after": "bb", "withheld": false});
    assert_eq!(detail(row), told);
}

#[tokio::test]
async fn a_file_sets_the_default_and_leaves_it_where_it_names_none() {
    let room = room().await;
    room.follow(&["alpha", "beta"], Some("beta")).await;
    assert!(room.get("beta").await.is_default);
    room.follow(&["alpha", "beta"], None).await;
    assert!(room.get("beta").await.is_default);
    room.follow(&["alpha", "beta"], Some("alpha")).await;
    assert!(room.get("alpha").await.is_default);
    let record = room.ground.record().await;
    let switched: Vec<_> = record
        .iter()
        .filter(|row| row.kind.as_str() == "project.switched")
        .map(|row| (row.facade.clone(), detail(row)["project"].clone()))
        .collect();
    let system = |name| ("system".to_owned(), json!(name));
    assert_eq!(switched, [system("beta"), system("alpha")]);
}

#[tokio::test]
async fn nothing_of_another_tenants_projects_is_seen_or_changed() {
    let room = room().await;
    let id = room.register("alpha").await;
    room.told(id, "aa", Some("bb")).await;
    let stranger = room.ground.stranger().await;
    assert!(room.projects.list(&stranger).await.unwrap().is_empty());
    let refused = [
        room.projects.get(&stranger, "alpha").await.map(drop),
        room.projects
            .accept(stranger.clone(), "alpha", "bb")
            .await
            .map(drop),
        room.projects.delete(stranger.clone(), "alpha").await,
        room.projects.set_default(stranger.clone(), Some("alpha")).await,
    ];
    for error in refused.map(Result::unwrap_err) {
        assert_eq!(error.reason(), ErrorReason::ProjectNotFound);
        let told = error.to_string();
        assert!(!told.contains(&id.to_string()), "{told}");
    }
    assert_eq!(room.get("alpha").await.withheld_hash(), Some("bb"));
}
