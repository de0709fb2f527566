//! Gate MCP. The official conformance suite, let at the fixture tools and at the tools of everyone, in three revisions.
//!
//! The suite judges by its exit code: a failure or a warning that `conformance/expected-*.yml` does not name fails, and
//! so does an entry that passes. What it found stands in `docs/conformance.md`, which this test compares or rewrites.

mod expected;
mod report;
mod suite;

use futures::future::join_all;
use toolgate_test_support::{AuthorizingProxy, Clients, World};

use self::{
    report::Report,
    suite::{Run, Scenarios},
};
use crate::golden;

const TEST: &str = "the_conformance_suite_passes_in_three_revisions";

/// The revisions, and what of the suite concerns every server whatever its tools.
const REVISIONS: [(&str, &[&str]); 3] = [
    (
        "2025-06-18",
        &[
            "server-initialize",
            "server-session-lifecycle",
            "logging-set-level",
            "ping",
            "tools-list",
        ],
    ),
    (
        "2025-11-25",
        &[
            "server-initialize",
            "server-session-lifecycle",
            "logging-set-level",
            "ping",
            "tools-list",
            "server-sse-multiple-streams",
            "dns-rebinding-protection",
        ],
    ),
    (
        "2026-07-28",
        &[
            "server-stateless",
            "tools-list",
            "server-sse-multiple-streams",
            "dns-rebinding-protection",
            "caching",
            "http-header-validation",
        ],
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_conformance_suite_passes_in_three_revisions() {
    let Some(clients) = Clients::here(TEST) else {
        return;
    };
    let fixtures = REVISIONS.map(|(revision, _)| with_fixtures(&clients, revision));
    let production =
        REVISIONS.map(|(revision, scenarios)| with_production_tools(&clients, revision, scenarios));
    let (fixtures, production) = tokio::join!(join_all(fixtures), join_all(production));

    let mut report = Report::new();
    report.section("The fixture tools", "every scenario of the suite", &fixtures);
    report.section(
        "The tools of everyone",
        "what concerns any list of tools",
        &production,
    );
    let complaints: Vec<&str> = fixtures
        .iter()
        .chain(&production)
        .flat_map(|run| run.complaints.iter().map(String::as_str))
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    golden::check("../../docs/conformance.md", &report.text());
}

/// A world of its own for each revision: the suite changes the list of tools while it runs.
async fn with_fixtures(clients: &Clients, revision: &'static str) -> Run {
    let world = World::new().unlimited().with_fixtures().start().await;
    run(clients, &world, revision, "fixtures", Scenarios::All).await
}

async fn with_production_tools(
    clients: &Clients,
    revision: &'static str,
    scenarios: &'static [&'static str],
) -> Run {
    let world = World::new().unlimited().host("web-1").start().await;
    run(
        clients,
        &world,
        revision,
        "production",
        Scenarios::These(scenarios),
    )
    .await
}

async fn run(
    clients: &Clients,
    world: &World,
    revision: &'static str,
    tools: &str,
    scenarios: Scenarios,
) -> Run {
    let proxy = AuthorizingProxy::start(world.admin()).await.unwrap();
    suite::run(
        clients,
        &format!("{}/mcp", proxy.url()),
        revision,
        tools,
        scenarios,
    )
    .await
}
