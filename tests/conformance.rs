//! Gate MCP, C14. The official conformance suite, let at the fixture tools and at the tools of everyone, in three revisions; and
//! through the pipe at the fixture tools of another gateway, which is a project there, with the same counts as at itself.
//!
//! The suite judges by its exit code: a failure or a warning that `conformance/expected-*.yml` does not name fails, and
//! so does an entry that passes. What it found stands in `docs/conformance.md`, which this test compares or rewrites.

mod expected;
mod report;
mod suite;

use futures::future::join_all;
use tempfile::TempDir;
use toolgate_test_support::{AuthorizingProxy, Beside, Clients, RealProject, World};

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

const FIXTURES_PIPED: &str = "\
Run: every scenario of the suite, at the endpoint of a gateway with the fixture tools, and at `/mcp/project/{name}` of another
gateway whose project it is. Nothing that passes there fails through the pipe.";

const ABLE_PIPED: &str = "\
Run: every scenario of the suite, at a FastMCP server with prompts, resources, completion, sampling and elicitation
(`tests/servers/conformance_server.py`), and at `/mcp/project/{name}` of a gateway whose project it is. What fails at the server is
the server's own. Nothing that passes there fails through the pipe. What passes through the pipe only is what the gateway itself
answers for, such as a foreign `Host`.";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_conformance_suite_passes_in_three_revisions() {
    let Some(clients) = Clients::here(TEST) else {
        return;
    };
    let fixtures = REVISIONS.map(|(revision, _)| with_fixtures(&clients, revision));
    let piped = REVISIONS.map(|(revision, _)| fixtures_piped(&clients, revision));
    let able = REVISIONS.map(|(revision, _)| able_server(&clients, revision));
    let production =
        REVISIONS.map(|(revision, scenarios)| with_production_tools(&clients, revision, scenarios));
    let (fixtures, production) = tokio::join!(join_all(fixtures), join_all(production));
    // One after the other: some checks of the suite wait for a moment only, and machines are small.
    let piped = join_all(piped).await;
    let (able, able_piped): (Vec<Run>, Vec<Run>) = join_all(able).await.into_iter().unzip();

    let mut report = Report::new();
    report.section("The fixture tools", "every scenario of the suite", &fixtures);
    report.section(
        "The tools of everyone",
        "what concerns any list of tools",
        &production,
    );
    report.piped("The fixture tools", FIXTURES_PIPED, &fixtures, &piped);
    report.piped(
        "A server that can do nearly everything",
        ABLE_PIPED,
        &able,
        &able_piped,
    );
    let mut complaints: Vec<String> = Vec::new();
    for run in fixtures.iter().chain(&production) {
        complaints.extend_from_slice(&run.complaints);
    }
    let pairs = fixtures.iter().zip(&piped).chain(able.iter().zip(&able_piped));
    for (direct, piped) in pairs {
        assert!(
            direct.scenarios.len() > 20,
            "the suite said nothing of the server"
        );
        complaints.extend(piped.lost_from(direct));
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    golden::check("../../docs/conformance.md", &report.text());
}

/// A world of its own for each revision: the suite changes the list of tools while it runs.
async fn with_fixtures(clients: &Clients, revision: &'static str) -> Run {
    let world = World::new().unlimited().with_fixtures().start().await;
    run(clients, &world, revision, "fixtures", Scenarios::All).await
}

/// The same tools, of a gateway that is a project of another one: the suite is let at the other one's pipe.
async fn fixtures_piped(clients: &Clients, revision: &'static str) -> Run {
    let inner = World::new().unlimited().with_fixtures().start().await;
    let server = AuthorizingProxy::start(inner.admin()).await.unwrap();
    let pipe = Pipe::to(&format!("{}/mcp", server.url())).await;
    suite::look(clients, &pipe.url(), revision).await
}

/// A server that has prompts, resources, completion, sampling and elicitation: at itself, and through the pipe.
async fn able_server(clients: &Clients, revision: &'static str) -> (Run, Run) {
    let server = clients.listening("conformance_server.py", &[]).await.unwrap();
    let pipe = Pipe::to(server.url()).await;
    let direct = suite::look(clients, server.url(), revision).await;
    (direct, suite::look(clients, &pipe.url(), revision).await)
}

/// A gateway whose only project is a server that listens.
struct Pipe {
    proxy: AuthorizingProxy,
    _world: World,
    _relay: RealProject,
    _folder: TempDir,
}

impl Pipe {
    async fn to(url: &str) -> Self {
        let world = World::new().unlimited().start().await;
        let (_, token) = world.admin().add_project("suite", "read_write").await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let beside = Beside::Url(url);
        let relay = RealProject::start(world.url(), "suite", Some(&token), folder.path(), beside).unwrap();
        relay.up(world.admin(), "suite").await.unwrap();
        Self {
            proxy: AuthorizingProxy::start(world.admin()).await.unwrap(),
            _world: world,
            _relay: relay,
            _folder: folder,
        }
    }

    fn url(&self) -> String {
        format!("{}/mcp/project/suite", self.proxy.url())
    }
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
