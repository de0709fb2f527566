use proptest::prelude::*;
use serde_json::json;
use toolgate_contract::registry::{self as contract, PROFILES};

use super::*;
use crate::{
    changes::tests::ground::Ground,
    own_profiles::{Definition, OwnProfiles},
    policy::Policies,
    profiles::UnknownProfile,
};

const ADD: &str = "insert into target (tenant_id, id, type, name, config, disabled, validation, created_us, updated_us) \
     values ($1, $2, $3, $4, $5, $6, '{}', 1, 1)";

/// A target as its row; how one is added is another room's.
async fn target(ground: &Ground, adapter: &'static str, disabled: bool, access: &'static str) {
    let tenant = ground.tenant().clone();
    let added: Result<u64, crate::store::StoreError> = ground
        .store
        .with_tenant(ground.tenant(), move |tx| {
            Box::pin(async move {
                let (id, config) = (
                    toolgate_contract::ids::TargetId::mint(),
                    json!({"access": access}).to_string(),
                );
                let values = crate::store::params![&tenant, id, adapter, adapter, &config, disabled];
                tx.execute(ADD, values).await
            })
        })
        .await;
    added.unwrap();
    ground.snapshots.refresh(ground.tenant()).await.unwrap();
}

async fn own(ground: &Ground, name: &str, tools: &[&str], disclosure: &str) {
    let wanted = Definition {
        name: name.into(),
        tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
        disclosure: disclosure.into(),
        ..Definition::default()
    };
    OwnProfiles::new(ground.changes.clone())
        .create(ground.admin(), wanted)
        .await
        .unwrap();
}

fn standing(
    snapshot: &Snapshot,
    pinned: Option<&str>,
    asked: Option<&str>,
    rule: UnknownProfile,
) -> Standing {
    let pinned = pinned.map(|name| snapshot.profile(name).unwrap());
    snapshot.standing(pinned.as_ref(), asked, rule)
}

#[tokio::test]
async fn each_rule_has_its_sentence() {
    use UnknownProfile::{Closed, Open};
    let ground = Ground::new().await;
    own(&ground, "mine", &["ssh.run_whitelisted_command"], "search").await;
    own(&ground, "memory", &["query"], "direct").await;
    Policies::new(ground.changes.clone())
        .update(ground.admin(), &["github.list_repos".to_owned()])
        .await
        .unwrap();
    let snapshot = ground.snapshot().await;
    let check = |role, pinned, asked, rule, tool: &str, expected: (Verdict, Rule, &str)| {
        let why = explain(&snapshot, role, &standing(&snapshot, pinned, asked, rule), tool);
        assert_eq!((why.verdict, why.rule, &*why.sentence), expected, "{tool}");
    };
    let (agent, ssh) = (Role::Agent, "ssh.run_whitelisted_command");
    check(
        agent,
        None,
        None,
        Open,
        "ssh_run_whitelisted_command",
        (
            Verdict::Listed,
            Rule::NothingHides,
            "ssh.run_whitelisted_command is listed and can be called: no profile applies and nothing else hides it",
        ),
    );
    check(
        agent,
        None,
        Some("revue"),
        Open,
        ssh,
        (
            Verdict::Listed,
            Rule::ProfileUnknownOpen,
            "ssh.run_whitelisted_command is listed and can be called: the profile that is asked for is unknown, and that opens here: nothing is hidden by it",
        ),
    );
    check(
        agent,
        None,
        Some("revue"),
        Closed,
        ssh,
        (
            Verdict::Hidden,
            Rule::ProfileUnknownClosed,
            "ssh.run_whitelisted_command is hidden: the profile that is asked for is unknown, and that closes here: only what no profile leaves out is there",
        ),
    );
    check(
        agent,
        None,
        Some(""),
        Closed,
        ssh,
        (
            Verdict::Listed,
            Rule::NothingHides,
            "ssh.run_whitelisted_command is listed and can be called: no profile applies and nothing else hides it",
        ),
    );
    check(
        agent,
        Some("hosts"),
        Some("revue"),
        Closed,
        ssh,
        (
            Verdict::Listed,
            Rule::ProfilePinned,
            "ssh.run_whitelisted_command is listed and can be called: the profile hosts, which the credential pins, has it",
        ),
    );
    check(
        agent,
        Some("memory"),
        Some("hosts"),
        Open,
        ssh,
        (
            Verdict::Hidden,
            Rule::ProfilePinned,
            "ssh.run_whitelisted_command is hidden: the profile memory, which the credential pins, does not have it",
        ),
    );
    check(
        agent,
        None,
        Some("forges"),
        Open,
        ssh,
        (
            Verdict::Hidden,
            Rule::ProfileAsked,
            "ssh.run_whitelisted_command is hidden: the profile forges, which is asked for, does not have it",
        ),
    );
    check(
        agent,
        None,
        Some("mine"),
        Open,
        ssh,
        (
            Verdict::Callable,
            Rule::DisclosureSearch,
            "ssh.run_whitelisted_command can be called but is not in the list: the profile mine, which is asked for, tells its tools by search",
        ),
    );
    check(
        agent,
        None,
        Some("mine"),
        Open,
        "find_tools",
        (
            Verdict::Listed,
            Rule::ProfileAsked,
            "find_tools is listed and can be called: the profile mine, which is asked for, has it",
        ),
    );
    check(
        agent,
        None,
        None,
        Open,
        "find_tools",
        (
            Verdict::Hidden,
            Rule::GatewayTool,
            "find_tools is hidden: the gateway's own tools are there only where a profile asks for them",
        ),
    );
    check(
        agent,
        None,
        None,
        Open,
        "github.list_repos",
        (
            Verdict::Hidden,
            Rule::Policy,
            "github.list_repos is hidden: the tenant's policy switches it off",
        ),
    );
    check(
        agent,
        None,
        None,
        Open,
        "query",
        (
            Verdict::Hidden,
            Rule::NoBackEnd,
            "query is hidden: no target of type agent-memory is configured",
        ),
    );
    check(
        agent,
        None,
        None,
        Open,
        "report_internal_issue",
        (
            Verdict::Hidden,
            Rule::NoBackEnd,
            "report_internal_issue is hidden: no back end of agents is configured",
        ),
    );
    check(
        Role::Auditor,
        None,
        None,
        Open,
        ssh,
        (
            Verdict::Denied,
            Rule::Role,
            "the role auditor may not list or call tools",
        ),
    );
    check(
        agent,
        None,
        None,
        Open,
        "ssh.run_whitelisted_comand\n",
        (
            Verdict::Denied,
            Rule::WriteAttempt,
            "`ssh.run_whitelisted_comand\\n` is in the name space of infrastructure and none of its known reads, so a call is refused as a write attempt, did you mean ssh.run_whitelisted_command",
        ),
    );
    check(
        agent,
        None,
        None,
        Open,
        "create_story",
        (
            Verdict::Unknown,
            Rule::NotRegistered,
            "no tool is registered as `create_story`",
        ),
    );
    check(
        agent,
        None,
        None,
        Open,
        "test_echo",
        (
            Verdict::Unknown,
            Rule::NotRegistered,
            "no tool is registered as `test_echo`",
        ),
    );
}

#[tokio::test]
async fn a_back_end_that_is_disabled_or_only_read_is_named() {
    let ground = Ground::new().await;
    target(&ground, "agent-memory", true, "read_write").await;
    target(&ground, "agent-operator", false, "read_only").await;
    let snapshot = ground.snapshot().await;
    let why = |tool: &str| {
        let standing = standing(&snapshot, None, None, UnknownProfile::Open);
        let why = explain(&snapshot, Role::Agent, &standing, tool);
        (why.verdict, why.rule, why.sentence)
    };
    let (verdict, rule, sentence) = why("query");
    assert_eq!((verdict, rule), (Verdict::Hidden, Rule::NoBackEnd));
    assert_eq!(
        sentence,
        "query is hidden: every target of type agent-memory is disabled"
    );
    let (verdict, rule, sentence) = why("task_update");
    assert_eq!((verdict, rule), (Verdict::Denied, Rule::ReadOnly));
    assert!(
        sentence.starts_with("task_update writes, and its back end may only be read"),
        "{sentence}"
    );
    assert_eq!(why("task_get").0, Verdict::Listed);
    assert_eq!(why("report_internal_issue").0, Verdict::Listed);
}

fn any_role() -> impl Strategy<Value = Role> {
    prop::sample::select(Role::ALL.to_vec())
}

/// A profile by name: one of the contract's, one of the tenant's, one that nobody knows, the empty one, or none.
fn any_name() -> impl Strategy<Value = Option<String>> {
    let names = PROFILES.iter().map(|profile| profile.name);
    let names = names.chain(["mine", "memory", "revue", ""]).map(str::to_owned);
    prop::option::of(prop::sample::select(names.collect::<Vec<_>>()))
}

/// Back ends by adapter, whether they are disabled, and their access; and the tools that are off.
type Described = (
    &'static [(&'static str, bool, &'static str)],
    &'static [&'static str],
);

/// Some tenants: without back ends, with one, with all, with one that is disabled.
async fn tenants() -> Vec<std::sync::Arc<Snapshot>> {
    let mut snapshots = Vec::new();
    const READ: &str = "read_only";
    const WRITE: &str = "read_write";
    let some: [Described; 4] = [
        (&[], &[]),
        (&[("agent-memory", false, READ)], &["query", "find_tools"]),
        (
            &[("agent-memory", true, WRITE), ("agent-operator", false, READ)],
            &["task_get"],
        ),
        (
            &[
                ("agent-memory", false, WRITE),
                ("agent-operator", false, WRITE),
                ("agent-chat", false, READ),
            ],
            &["proxmox.list_vms"],
        ),
    ];
    for (back_ends, off) in some {
        let ground = Ground::new().await;
        own(
            &ground,
            "mine",
            &["ssh.run_whitelisted_command", "query"],
            "search",
        )
        .await;
        own(&ground, "memory", &["query", "describe"], "direct").await;
        for (adapter, disabled, access) in back_ends {
            target(&ground, adapter, *disabled, access).await;
        }
        let off: Vec<String> = off.iter().map(|tool| (*tool).to_owned()).collect();
        Policies::new(ground.changes.clone())
            .update(ground.admin(), &off)
            .await
            .unwrap();
        snapshots.push(ground.snapshot().await);
    }
    snapshots
}

/// Every tool of the contract by every role under any profile and policy: what is told is what a call and a list find.
#[test]
fn what_is_told_is_what_is_decided() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let snapshots = runtime.block_on(tenants());
    let config = ProptestConfig {
        cases: 200,
        ..ProptestConfig::default()
    };
    proptest!(config, |(tenant in 0..snapshots.len(), role in any_role(), pinned in any_name(), asked in any_name(), closes: bool)| {
        let snapshot = &snapshots[tenant];
        let rule = if closes { UnknownProfile::Closed } else { UnknownProfile::Open };
        let pinned = pinned.and_then(|name| snapshot.profile(&name));
        let standing = snapshot.standing(pinned.as_ref(), asked.as_deref(), rule);
        let profile = standing.profile.as_deref();
        for tool in contract::TOOLS {
            let why = explain(snapshot, role, &standing, tool.function_name);
            let may = role.may(Action::UseTools);
            let expected = match (may, snapshot.shows(tool, profile), snapshot.lists(tool, profile)) {
                (false, _, _) => Verdict::Denied,
                (true, false, false) if snapshot.hides(tool, profile) == Some(Hidden::ReadOnly) => Verdict::Denied,
                (true, false, false) => Verdict::Hidden,
                (true, true, false) => Verdict::Callable,
                (true, true, true) => Verdict::Listed,
                (true, false, true) => unreachable!("what is listed can be called"),
            };
            prop_assert_eq!(why.verdict, expected, "{}: {}", tool.name, &why.sentence);
            prop_assert_eq!(why.tool.as_deref(), Some(tool.name));
            prop_assert!(!why.sentence.contains('\n') && !why.sentence.ends_with('.'));
            prop_assert!(!may || why.sentence.starts_with(tool.name), "{}", &why.sentence);
        }
    });
}

#[test]
fn a_tool_of_a_project_is_where_the_project_is() {
    let stands = |profile: Option<&str>| Standing {
        profile: profile.and_then(Profile::built_in),
        source: profile.map_or(Source::Unset, |_| Source::Pinned),
    };
    let brought = |projects: &[&str], is_current, is_kept_from_writing| Brought {
        name: "get-env".into(),
        projects: projects.iter().map(|name| (*name).to_owned()).collect(),
        is_current,
        is_kept_from_writing,
    };
    let check = |brought: Brought, profile, expected: (Verdict, Rule, &str)| {
        let why = brought.why(&stands(profile));
        assert_eq!(
            (why.verdict, why.rule, why.tool.as_deref()),
            (expected.0, expected.1, Some("get-env"))
        );
        assert!(why.sentence.contains(expected.2), "{}", why.sentence);
    };
    check(
        brought(&["shop", "lab"], true, false),
        None,
        (
            Verdict::Listed,
            Rule::Project,
            "it is a tool of project shop, which is the current one here",
        ),
    );
    check(
        brought(&["shop", "lab"], false, false),
        Some("fleet"),
        (
            Verdict::Callable,
            Rule::Project,
            "it is a tool of project shop or lab, which is not the current one here",
        ),
    );
    check(
        brought(&["shop"], true, true),
        None,
        (
            Verdict::Denied,
            Rule::ReadOnly,
            "project shop brings it, may only be read here",
        ),
    );
    check(
        brought(&["shop"], true, false),
        Some("hosts"),
        (
            Verdict::Hidden,
            Rule::ProfilePinned,
            "the profile hosts, which the credential pins, does not have it",
        ),
    );
    let many = brought(&["a", "b", "c", "d", "e", "f", "g"], false, false).why(&stands(None));
    assert!(
        many.sentence
            .contains("project a or b or c or d or e or one of 2 more"),
        "{}",
        many.sentence
    );
}
