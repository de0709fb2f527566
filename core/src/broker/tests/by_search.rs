//! Profiles whose tools are found by search, and profiles whose results are capped.

use serde_json::Value;
use toolgate_contract::v1::Violation;

use super::*;
use crate::profiles::{Disclosure, Profile};

fn all_by_search() -> Profile {
    let mut profile = Profile::new("mine", "", toolgate_contract::registry::TOOLS);
    profile.disclosure = Disclosure::Search;
    profile
}

fn capped(cap: u32) -> Profile {
    let mut profile = all_by_search();
    profile.result_cap = Some(cap);
    profile
}

impl World {
    /// A call of the admin under a profile.
    async fn under(&self, profile: &Profile, name: &str, arguments: &Value) -> Result<Settled, Failed> {
        let ask = ask(Some(&self.admin));
        let mut caller = self.broker.caller(&ask, Action::UseTools).await?;
        caller.profile = Some(Arc::new(profile.clone()));
        let inside = self.broker.enter(&caller).await?;
        let wish = wish(name, &arguments.to_string());
        let way = path(self.broker.rooms(), caller, &ask, wish, Reports::none()).await;
        let ready = self.broker.ready(way).await?;
        self.broker.carry(inside, ready, None).end().await
    }

    /// The rows of the record.
    async fn told(&self) -> Vec<crate::audit::Event> {
        let sql = "select bytes from audit_event where tenant_id = $1 order by seq";
        let tenant = self.tenant.clone();
        let rows = self
            .store
            .with_tenant_read(&self.tenant, move |tx| {
                Box::pin(async move { tx.query(sql, params![&tenant]).await })
            })
            .await
            .unwrap();
        rows.iter()
            .map(|row| crate::audit::decode(row.blob(0).unwrap()).unwrap())
            .collect()
    }

    async fn capabilities(&self) -> Vec<String> {
        self.told().await.into_iter().map(|row| row.capability).collect()
    }
}

fn texts(settled: &Settled) -> Vec<String> {
    let blocks: Vec<Value> = serde_json::from_slice(&settled.release().content).unwrap();
    blocks
        .iter()
        .map(|block| block["text"].as_str().unwrap().to_owned())
        .collect()
}

fn refused(result: Result<Settled, Failed>) -> (ErrorReason, Vec<Violation>) {
    let failure = result.unwrap_err().into_failure();
    (failure.reason(), failure.violations)
}

#[tokio::test]
async fn a_call_inside_of_call_tool_is_the_call_itself() {
    let world = World::new(Limits::default()).await;
    let profile = all_by_search();
    let direct = world
        .under(&profile, SSH, &json!({"command": "uptime"}))
        .await
        .unwrap();
    let asked = json!({"name": "ssh_run_whitelisted_command", "arguments": {"command": "uptime"}});
    let inside = world.under(&profile, "call_tool", &asked).await.unwrap();
    let (direct_told, inside_told) = (direct.release(), inside.release());
    assert_eq!(direct_told, inside_told);
    assert_eq!(world.contacts(), 2);
    let [one, other] = world.told().await.try_into().unwrap();
    let told = |row: &crate::audit::Event| (row.kind, row.result, row.capability.clone(), row.params_hash);
    assert_eq!(told(&one), told(&other), "the same row");
    assert_eq!(one.capability, SSH);
    assert!(one.params_hash.is_some());
    assert_eq!(one.detail, "");
    assert_eq!(other.detail, r#"{"via":"call_tool"}"#);
}

#[tokio::test]
async fn what_call_tool_may_not_do_directly_it_may_not_do_inside() {
    let world = World::new(Limits::default()).await;
    let profile = all_by_search();
    for (asked, reason, pointer) in [
        // Its own schema.
        (json!({}), ErrorReason::ArgumentsInvalid, ""),
        (
            json!({"name": SSH, "arguments": []}),
            ErrorReason::ArgumentsInvalid,
            "/arguments",
        ),
        (
            json!({"name": SSH, "command": "uptime"}),
            ErrorReason::ArgumentsInvalid,
            "",
        ),
        (
            json!({"name": "call_tool", "arguments": {}}),
            ErrorReason::ArgumentsInvalid,
            "/name",
        ),
        // The inner one's.
        (json!({"name": SSH}), ErrorReason::ArgumentsInvalid, "/arguments"),
        (
            json!({"name": SSH, "arguments": {"command": 5}}),
            ErrorReason::ArgumentsInvalid,
            "/arguments/command",
        ),
        (
            json!({"name": "find_tools", "arguments": {"query": " "}}),
            ErrorReason::ArgumentsInvalid,
            "/arguments/query",
        ),
        // Names that are none, and commands that are none of the six.
        (json!({"name": "create_story"}), ErrorReason::ToolNotFound, "-"),
        (
            json!({"name": "proxmox.shutdown_vm"}),
            ErrorReason::WriteRejected,
            "-",
        ),
        (
            json!({"name": "%70roxmox/POST /nodes"}),
            ErrorReason::WriteRejected,
            "-",
        ),
        (
            json!({"name": SSH, "arguments": {"command": "reboot"}}),
            ErrorReason::WriteRejected,
            "-",
        ),
        // Hidden: no cap, so no rest.
        (
            json!({"name": "fetch_rest", "arguments": {"cursor": "x"}}),
            ErrorReason::ToolNotFound,
            "-",
        ),
        // A tool of a back end that nobody has.
        (
            json!({"name": "query", "arguments": {}}),
            ErrorReason::ToolNotFound,
            "-",
        ),
    ] {
        let (told, violations) = refused(world.under(&profile, "call_tool", &asked).await);
        assert_eq!(told, reason, "{asked}");
        let told = violations
            .first()
            .map_or("-", |violation| violation.pointer.as_str());
        assert_eq!(told, pointer, "{asked}");
    }
    assert_eq!(world.contacts(), 0);
    let rejected: Vec<_> = world.told().await;
    assert_eq!(rejected.len(), 3);
    for row in rejected {
        assert_eq!(row.reason, "WRITE_REJECTED");
    }
}

#[tokio::test]
async fn a_near_name_is_told_inside_as_it_is_directly() {
    let world = World::new(Limits::default()).await;
    let profile = all_by_search();
    for name in ["ssh_run_whitelisted_comand", "no_such_thing", "chat_get_rooom"] {
        let direct = world.under(&profile, name, &json!({})).await.unwrap_err();
        let inside = world
            .under(&profile, "call_tool", &json!({"name": name}))
            .await
            .unwrap_err();
        assert_eq!(inside.error.to_string(), direct.error.to_string(), "{name}");
        let described = world
            .under(&profile, "describe_tool", &json!({"name": name}))
            .await
            .unwrap_err();
        assert_eq!(described.error.reason(), ErrorReason::ToolNotFound, "{name}");
    }
}

#[tokio::test]
async fn where_nothing_asks_for_the_gateways_own_tools_they_are_not_there() {
    let world = World::new(Limits::default()).await;
    let direct = Profile::new("direct", "", toolgate_contract::registry::TOOLS);
    for (name, arguments) in [
        ("find_tools", json!({"query": "list machines"})),
        ("describe_tool", json!({"name": SSH})),
        (
            "call_tool",
            json!({"name": SSH, "arguments": {"command": "uptime"}}),
        ),
        ("fetch_rest", json!({"cursor": "x"})),
    ] {
        let (told, _) = refused(world.under(&direct, name, &arguments).await);
        assert_eq!(told, ErrorReason::ToolNotFound, "{name}");
        let without = world.call(&world.admin, name, &arguments.to_string()).await;
        assert_eq!(without.unwrap_err(), ErrorReason::ToolNotFound, "{name}");
    }
    assert_eq!(world.contacts(), 0);
}

#[tokio::test]
async fn a_tool_is_found_described_and_called() {
    let world = World::new(Limits::default()).await;
    let profile = all_by_search();
    let query = json!({"query": "how long has the host been up", "limit": 3});
    let found = texts(&world.under(&profile, "find_tools", &query).await.unwrap()).remove(0);
    assert!(found.lines().count() <= 3, "{found}");
    let line = found
        .lines()
        .find(|line| line.starts_with("ssh_run_whitelisted_command: "));
    let name = line.unwrap().split(':').next().unwrap();
    let described = world
        .under(&profile, "describe_tool", &json!({"name": name}))
        .await
        .unwrap();
    let described: Value = serde_json::from_str(&texts(&described)[0]).unwrap();
    assert_eq!(described["inputSchema"]["required"], json!(["command"]));
    let asked = json!({"name": name, "arguments": {"command": "uptime"}});
    world.under(&profile, "call_tool", &asked).await.unwrap();
    assert_eq!(world.capabilities().await, ["find_tools", "describe_tool", SSH]);
}

#[tokio::test]
async fn only_what_the_caller_may_call_is_found_and_described() {
    let world = World::new(Limits::default()).await;
    let tools = toolgate_contract::registry::TOOLS;
    let mut forges = Profile::new("forges", "", tools.iter().filter(|tool| tool.adapter == "github"));
    forges.disclosure = Disclosure::Search;
    let query = json!({"query": "list repositories, machines, runs and commands of a host", "limit": 20});
    let found = texts(&world.under(&forges, "find_tools", &query).await.unwrap()).remove(0);
    assert!(found.lines().all(|line| line.starts_with("github_")), "{found}");
    let (told, _) = refused(world.under(&forges, "describe_tool", &json!({"name": SSH})).await);
    assert_eq!(told, ErrorReason::ToolNotFound);
}

#[tokio::test]
async fn calls_inside_and_questions_count_against_the_limit() {
    let limits = Limits {
        user_per_minute: 3,
        ..Limits::default()
    };
    let world = World::new(limits).await;
    let profile = all_by_search();
    let call = json!({"name": SSH, "arguments": {"command": "uptime"}});
    for _ in 0..2 {
        world.under(&profile, "call_tool", &call).await.unwrap();
    }
    world
        .under(&profile, "find_tools", &json!({"query": "hosts"}))
        .await
        .unwrap();
    for (name, arguments) in [("call_tool", &call), ("find_tools", &json!({"query": "hosts"}))] {
        let (told, _) = refused(world.under(&profile, name, arguments).await);
        assert_eq!(told, ErrorReason::RateLimited, "{name}");
    }
    assert_eq!(world.contacts(), 2);
}

#[tokio::test]
async fn a_result_over_the_cap_is_fetched_part_by_part() {
    let world = World::new(Limits::default()).await;
    // Twenty tokens are 64 bytes.
    let profile = capped(20);
    let uptime = json!({"command": "uptime"});
    let settled = world.under(&profile, SSH, &uptime).await.unwrap();
    let released = settled.release();
    assert!(released.structured_content.is_empty());
    assert_eq!(
        settled.result().structured.as_ref().unwrap().get(),
        output().to_string()
    );
    let mut parts = Vec::new();
    let mut blocks = texts(&settled);
    let mut meta: Value = serde_json::from_slice(&released.meta).unwrap();
    assert_eq!(meta["toolgate/target"]["name"], "web-1");
    let mut fetched = 0;
    while let Some(cursor) = meta["toolgate/cursor"].as_str() {
        let trailer = blocks.pop().unwrap();
        assert!(trailer.contains(cursor), "{trailer}");
        parts.append(&mut blocks);
        let next = world
            .under(&profile, "fetch_rest", &json!({"cursor": cursor}))
            .await
            .unwrap();
        blocks = texts(&next);
        let text = next.release().meta;
        meta = serde_json::from_slice(&text).unwrap_or_default();
        fetched += 1;
    }
    parts.append(&mut blocks);
    assert_eq!(parts[0], "up");
    assert_eq!(parts[1..].concat(), output().to_string());
    assert!(parts.iter().all(|part| part.len() <= 64), "{parts:?}");
    // One contact, and one row for everything that left.
    assert_eq!(world.contacts(), 1);
    let rows = world.capabilities().await;
    assert_eq!(rows.len(), 1 + fetched);
    assert_eq!((rows[0].as_str(), rows[1].as_str()), (SSH, "fetch_rest"));
}

#[tokio::test]
async fn a_rest_is_for_its_principal_alone_and_only_under_a_cap() {
    let world = World::new(Limits::default()).await;
    let profile = capped(20);
    let settled = world
        .under(&profile, SSH, &json!({"command": "uptime"}))
        .await
        .unwrap();
    let meta: Value = serde_json::from_slice(&settled.release().meta).unwrap();
    let cursor = json!({"cursor": meta["toolgate/cursor"]});
    let neighbour = world.neighbour().await;
    let foreign = neighbour.under(&profile, "fetch_rest", &cursor).await.unwrap();
    let unknown = neighbour
        .under(&profile, "fetch_rest", &json!({"cursor": "never.0"}))
        .await
        .unwrap();
    // A no of the tool, for the model to read.
    assert!(foreign.release().is_error && unknown.release().is_error);
    assert_eq!(foreign.release().content, unknown.release().content);
    let (told, _) = refused(world.under(&all_by_search(), "fetch_rest", &cursor).await);
    assert_eq!(told, ErrorReason::ToolNotFound);
    world.under(&profile, "fetch_rest", &cursor).await.unwrap();
}

#[tokio::test]
async fn a_call_of_which_nobody_knows_whether_it_is_on_the_record_leaves_no_rest() {
    let world = World::new(Limits::default()).await;
    world.broker.rooms().journal.close().await;
    let error = world
        .under(&capped(20), SSH, &json!({"command": "uptime"}))
        .await
        .unwrap_err();
    assert_eq!(error.error.reason(), ErrorReason::AuditUnavailable);
    assert_eq!(world.broker.rooms().rests.bytes(), 0);
}
