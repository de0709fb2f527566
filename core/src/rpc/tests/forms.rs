//! What is told for pages: forms of targets, the registry, and where a request or a target has to be mended.

use toolgate_contract::v1::registry_service_client::RegistryServiceClient;

use super::*;

impl World {
    async fn registered(&self, name: &str) -> wire::RegisteredTool {
        let mut registry = RegistryServiceClient::new(self.service());
        let asked = with(&self.admin, Default::default());
        let tools = registry.list_registry(asked).await.unwrap().into_inner().tools;
        assert!(tools.is_sorted_by(|one, other| one.name < other.name));
        tools.into_iter().find(|tool| tool.name == name).unwrap()
    }

    async fn refused(&self, adapter: &str, name: &str, config: &str, credential: &str) -> Failure {
        let asked = wire::CreateTargetRequest {
            r#type: adapter.into(),
            name: name.into(),
            config: config.to_owned().into(),
            credential: credential.to_owned().into(),
        };
        let refused = self.targets().create_target(with(&self.admin, asked)).await;
        Failure::from_status(&refused.unwrap_err())
    }
}

#[tokio::test]
async fn forms_and_registry_are_for_those_who_see_targets_and_policy() {
    let world = World::new().await;
    let mut registry = RegistryServiceClient::new(world.service());
    for (role, may) in [
        ("admin", true),
        ("engineer", true),
        ("auditor", true),
        ("agent", false),
    ] {
        let token = &world.token(role).await.token;
        let forms = world
            .targets()
            .list_target_types(with(token, Default::default()))
            .await;
        let listed = registry.list_registry(with(token, Default::default())).await;
        for refused in [forms.err(), listed.err()] {
            let expected = (!may).then_some(ErrorReason::RoleForbidden);
            assert_eq!(refused.map(|status| reason(&status)), expected, "{role}");
        }
    }
}

#[tokio::test]
async fn the_form_of_each_type_is_told_as_this_gateway_takes_it() {
    let world = World::new().await;
    let asked = with(&world.admin, Default::default());
    let types = world
        .targets()
        .list_target_types(asked)
        .await
        .unwrap()
        .into_inner()
        .types;
    assert_eq!(types.len(), 8);
    let proxmox = types.iter().find(|of| of.r#type == "proxmox").unwrap();
    let config: Value = serde_json::from_slice(&proxmox.config_schema).unwrap();
    let keys: Vec<_> = config["properties"].as_object().unwrap().keys().collect();
    assert_eq!(keys[..3], ["host", "port", "caCertificate"]);
    // No provider of secrets is set up here.
    let credential: Value = serde_json::from_slice(&proxmox.credential_schema).unwrap();
    assert_eq!(credential["required"], json!(["tokenId", "tokenSecret"]));
    assert_eq!(
        proxmox.tools,
        [
            "proxmox.get_node_metrics",
            "proxmox.get_vm_status",
            "proxmox.list_vms"
        ]
    );
}

#[tokio::test]
async fn the_registry_tells_what_hides_a_tool() {
    let world = World::new().await;
    let listed = world.registered(SSH).await;
    assert_eq!(
        (&*listed.state, listed.disabled, &*listed.effect),
        ("listed", false, "read")
    );
    assert!(listed.tokens > 50 && !listed.input_schema.is_empty() && !listed.output_schema.is_empty());
    assert_eq!(listed.targets, 0);
    world.host().await;
    assert_eq!(world.registered(SSH).await.targets, 1);

    let asked = wire::UpdatePolicyRequest {
        disabled_tools: vec![SSH.into(), "query".into()],
    };
    world
        .policy()
        .update_policy(with(&world.admin, asked))
        .await
        .unwrap();
    let off = world.registered(SSH).await;
    assert_eq!((&*off.state, off.disabled), ("disabled", true));
    assert!(off.why.contains("policy"), "{}", off.why);

    let memory = world.registered("query").await;
    assert_eq!(
        (&*memory.state, memory.disabled, memory.group.as_deref()),
        ("no_back_end", true, Some("memory"))
    );
    assert_eq!(world.registered("find_tools").await.state, "on_request");
}

#[tokio::test]
async fn a_request_that_is_not_accepted_names_the_field() {
    let world = World::new().await;
    let token = r#"{"token":"0123abc"}"#;
    for (adapter, name, config, credential, pointer) in [
        ("git", "a", "{}", token, "/type"),
        (
            "gitea",
            "",
            r#"{"baseUrl":"https://git.example"}"#,
            token,
            "/name",
        ),
        ("gitea", "a", "{}", token, "/config/baseUrl"),
        ("gitea", "a", "[]", token, "/config"),
        ("gitea", "a", "{", token, "/config"),
        ("gitea", "a", r#"{"base_url":"x"}"#, token, "/config/baseUrl"),
        (
            "gitea",
            "a",
            r#"{"baseUrl":"https://git.example","allowPrivate":["x"]}"#,
            token,
            "/config/allowPrivate",
        ),
        (
            "gitea",
            "a",
            r#"{"baseUrl":"https://git.example"}"#,
            "{}",
            "/credential/token",
        ),
        (
            "gitea",
            "a",
            r#"{"baseUrl":"https://git.example"}"#,
            "5",
            "/credential",
        ),
        (
            "github",
            "a",
            "{}",
            r#"{"token":"ghp_classic"}"#,
            "/credential/token",
        ),
        (
            "proxmox",
            "a",
            r#"{"host":"pve"}"#,
            r#"{"tokenId":"x","tokenSecret":"y"}"#,
            "/credential/tokenId",
        ),
        ("ssh", "a", r#"{"hostname":"a b"}"#, "", "/config/hostname"),
        ("project", "A", "{}", "", "/name"),
        ("project", "a", r#"{"access":"all"}"#, "", "/config/access"),
    ] {
        let failure = world.refused(adapter, name, config, credential).await;
        let pointers: Vec<_> = failure.violations.iter().map(|at| at.pointer.as_str()).collect();
        assert_eq!(
            pointers,
            [pointer],
            "{adapter} {config} {credential}: {}",
            failure.message
        );
    }
}

#[tokio::test]
async fn a_target_that_is_not_reached_names_the_field_that_may_mend_it() {
    let world = World::new().await;
    let config = r#"{"host":"10.0.0.5"}"#;
    let token = r#"{"tokenId":"audit@pve!toolgate","tokenSecret":"0123"}"#;
    let failure = world.refused("proxmox", "lab", config, token).await;
    assert_eq!(failure.reason(), ErrorReason::UpstreamUnreachable);
    assert_eq!(failure.violations[0].pointer, "/config/allowPrivate");
    let validation: Value = serde_json::from_str(&failure.metadata["validation"]).unwrap();
    assert_eq!(validation["stages"][0]["pointer"], "/config/allowPrivate");
}

#[tokio::test]
async fn what_a_test_found_stays_with_its_target() {
    let world = World::new().await;
    let id = world.host().await;
    let get = async || {
        let asked = wire::GetTargetRequest { id: id.clone() };
        let found = world.targets().get_target(with(&world.admin, asked)).await;
        found.unwrap().into_inner().target.unwrap()
    };
    let before = get().await;
    assert_eq!(before.last_test, None);
    let asked = wire::TestTargetRequest { id: id.clone() };
    let found = world
        .targets()
        .test_target(with(&world.admin, asked))
        .await
        .unwrap()
        .into_inner();
    let told = get().await.last_test.unwrap();
    assert_eq!((told.ok, &told.stages), (false, &found.stages));
    assert!(told.at > before.created_at);
    let stranger = wire::TestTargetRequest {
        id: "01JDZ3V8Q4T7X9K2M5N6P8R0TG".into(),
    };
    let none = world
        .targets()
        .test_target(with(&world.admin, stranger))
        .await
        .unwrap_err();
    assert_eq!(reason(&none), ErrorReason::TargetNotFound);
}
