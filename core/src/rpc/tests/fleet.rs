//! `FleetService` as its clients see it.

use toolgate_contract::v1::fleet_service_client::FleetServiceClient;

use super::*;

impl World {
    fn fleet(&self) -> FleetServiceClient<CoreService> {
        FleetServiceClient::new(self.service())
    }

    async fn register(&self, name: &str, config: &str) -> wire::CreateProjectResponse {
        let asked = wire::CreateProjectRequest {
            name: name.into(),
            config: config.to_owned().into(),
        };
        let made = self.fleet().create_project(with(&self.admin, asked)).await;
        made.unwrap().into_inner()
    }

    async fn project(&self, name: &str) -> wire::Project {
        let asked = wire::GetProjectRequest { name: name.into() };
        let found = self.fleet().get_project(with(&self.admin, asked)).await;
        found.unwrap().into_inner().project.unwrap()
    }

    async fn set_default(&self, name: &str) -> Result<String, Status> {
        let asked = wire::SetDefaultProjectRequest { name: name.into() };
        let set = self.fleet().set_default_project(with(&self.admin, asked)).await?;
        Ok(set.into_inner().name)
    }

    async fn kinds(&self) -> Vec<String> {
        let events = self.events(&self.admin, Default::default()).await;
        let mut kinds: Vec<_> = events.into_iter().map(|event| event.event).collect();
        kinds.reverse();
        kinds
    }
}

#[tokio::test]
async fn admins_change_projects_and_engineers_and_auditors_see_them() {
    let world = World::new().await;
    world.register("alpha", "").await;
    let mut f = world.fleet();
    let name = || String::from("alpha");
    for (n, role) in ["admin", "engineer", "auditor", "agent"].into_iter().enumerate() {
        let token = &world.token(role).await.token;
        let get = wire::GetProjectRequest { name: name() };
        let found = [
            (
                "ListProjects",
                f.list_projects(with(token, Default::default())).await.err(),
                [1, 1, 1, 0],
            ),
            (
                "GetProject",
                f.get_project(with(token, get)).await.err(),
                [1, 1, 1, 0],
            ),
            (
                "CreateProject",
                f.create_project(with(token, Default::default())).await.err(),
                [1, 0, 0, 0],
            ),
            (
                "UpdateProject",
                f.update_project(with(token, Default::default())).await.err(),
                [1, 0, 0, 0],
            ),
            (
                "DeleteProject",
                f.delete_project(with(token, Default::default())).await.err(),
                [1, 0, 0, 0],
            ),
            (
                "AcceptTools",
                f.accept_tools(with(token, Default::default())).await.err(),
                [1, 0, 0, 0],
            ),
            (
                "RepinRelay",
                f.repin_relay(with(token, Default::default())).await.err(),
                [1, 0, 0, 0],
            ),
            (
                "ListRelays",
                f.list_relays(with(token, Default::default())).await.err(),
                [1, 1, 1, 0],
            ),
            (
                "PinRelay",
                f.pin_relay(with(token, Default::default())).await.err(),
                [1, 0, 0, 0],
            ),
            (
                "SetDefaultProject",
                f.set_default_project(with(token, Default::default())).await.err(),
                [1, 0, 0, 0],
            ),
        ];
        for (rpc, status, may) in found {
            let forbidden = status.is_some_and(|status| reason(&status) == ErrorReason::RoleForbidden);
            assert_eq!(!forbidden, may[n] == 1, "{rpc} as {role}");
        }
    }
}

#[tokio::test]
async fn a_project_is_registered_told_changed_and_removed_on_the_record() {
    let world = World::new().await;
    let before = world.kinds().await.len();
    let made = world
        .register("alpha", r#"{"ssh_port":2222,"onDrift":"block"}"#)
        .await;
    let enrolment = made.enrolment.unwrap();
    assert!(enrolment.command.contains("toolgate relay project --gateway "));
    let project = made.project.unwrap();
    assert_eq!((&*project.state, &*project.source), ("waiting", "api"));
    let config: Value = serde_json::from_slice(&project.config).unwrap();
    let expected = json!({
        "sshPort": 2222, "access": "read_only", "statusTool": "get_pipeline_status", "onDrift": "block",
        "timeoutSeconds": 60,
    });
    assert_eq!(config, expected);

    // What was told can be given again, and an edit that changes nothing leaves no row.
    let again = |config: Option<bytes::Bytes>, disabled| wire::UpdateProjectRequest {
        name: "alpha".into(),
        config,
        disabled,
    };
    let mut fleet = world.fleet();
    let same = again(Some(project.config.clone()), None);
    fleet.update_project(with(&world.admin, same)).await.unwrap();
    let off = again(None, Some(true));
    let off = fleet.update_project(with(&world.admin, off)).await.unwrap();
    assert_eq!(off.into_inner().project.unwrap().state, "disabled");
    let asked = wire::DeleteProjectRequest { name: "alpha".into() };
    fleet.delete_project(with(&world.admin, asked)).await.unwrap();
    assert_eq!(
        world.kinds().await[before..],
        ["project.registered", "adapter.configured", "project.removed"]
    );
}

#[tokio::test]
async fn a_project_that_nobody_registered_is_told_those_that_are() {
    let world = World::new().await;
    world.register("alpha", "").await;
    world.register("beta", "").await;
    let name = || String::from("gamma");
    let mut fleet = world.fleet();
    let admin = &world.admin;
    let refused = [
        fleet
            .get_project(with(admin, wire::GetProjectRequest { name: name() }))
            .await
            .err(),
        fleet
            .delete_project(with(admin, wire::DeleteProjectRequest { name: name() }))
            .await
            .err(),
        world.set_default("gamma").await.err(),
    ];
    for status in refused {
        let status = status.unwrap();
        assert_eq!(
            (status.code(), reason(&status)),
            (Code::NotFound, ErrorReason::ProjectNotFound)
        );
        assert!(status.message().contains("alpha, beta"), "{}", status.message());
    }
}

#[tokio::test]
async fn the_default_of_a_tenant_is_set_taken_away_and_goes_with_its_project() {
    let world = World::new().await;
    world.register("alpha", "").await;
    world.register("beta", "").await;
    let before = world.kinds().await.len();
    world.set_default("alpha").await.unwrap();
    world.set_default("alpha").await.unwrap();
    assert!(world.project("alpha").await.is_default);
    world.set_default("beta").await.unwrap();
    assert!(!world.project("alpha").await.is_default && world.project("beta").await.is_default);
    assert_eq!(world.set_default("").await.unwrap(), "");
    assert!(!world.project("beta").await.is_default);
    assert_eq!(world.kinds().await[before..], ["project.switched"; 3]);

    world.set_default("beta").await.unwrap();
    let gone = wire::DeleteProjectRequest { name: "beta".into() };
    world
        .fleet()
        .delete_project(with(&world.admin, gone))
        .await
        .unwrap();
    world.register("beta", "").await;
    assert!(!world.project("beta").await.is_default);
}

#[tokio::test]
async fn only_a_key_that_a_relay_shows_is_pinned() {
    let world = World::new().await;
    world.register("alpha", "").await;
    let repin = async |key: &str| {
        let asked = wire::RepinRelayRequest {
            name: "alpha".into(),
            key: key.into(),
        };
        let refused = world.fleet().repin_relay(with(&world.admin, asked)).await;
        reason(&refused.unwrap_err())
    };
    assert_eq!(repin("").await, ErrorReason::ArgumentsInvalid);
    assert_eq!(repin("no key").await, ErrorReason::ArgumentsInvalid);
    let key = "BQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU";
    assert_eq!(repin(key).await, ErrorReason::Conflict);
}

#[tokio::test]
async fn relays_of_hosts_and_projects_are_told_side_by_side() {
    let world = World::new().await;
    world.register("alpha", "").await;
    let host = world.host().await;
    let asked = with(&world.admin, Default::default());
    let relays = world
        .fleet()
        .list_relays(asked)
        .await
        .unwrap()
        .into_inner()
        .relays;
    let told: Vec<_> = relays
        .iter()
        .map(|relay| (&*relay.kind, &*relay.name, &*relay.state))
        .collect();
    assert_eq!(
        told,
        [("host", "web", "waiting"), ("project", "alpha", "waiting")]
    );
    for relay in &relays {
        assert!(relay.why.contains("enrolled") && !relay.mismatch, "{relay:?}");
        assert!(
            relay.pinned_key.is_empty() && relay.connected_since.is_empty(),
            "{relay:?}"
        );
    }

    // Where none has enrolled there is nothing to pin in place of, and a key has to be one.
    let pin = async |key: &str| {
        let asked = wire::PinRelayRequest {
            target_id: host.clone(),
            key: key.into(),
        };
        let refused = world.fleet().pin_relay(with(&world.admin, asked)).await;
        reason(&refused.unwrap_err())
    };
    assert_eq!(pin("x").await, ErrorReason::ArgumentsInvalid);
    assert_eq!(pin(&"A".repeat(43)).await, ErrorReason::ResourceNotFound);
}
