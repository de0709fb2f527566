//! What a file may say, and a gateway that follows one.

use std::{path::Path, time::Duration};

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use toolgate_core::{Core, CoreConfig, changes::By, clock::Clock};

use super::*;
use crate::config::{Environment, Given, Reader, load};

fn faults(text: &str) -> Vec<String> {
    let wrong = text::parse("p.toml", text).unwrap_err();
    wrong
        .iter()
        .map(|problem| format!("{}: {}", problem.place, problem.text))
        .collect()
}

#[test]
fn a_file_says_its_projects_and_the_default() {
    let wanted = text::parse(
        "p.toml",
        r#"default = "beta"
[projects.alpha]
url = "http://10.0.0.7:3001"
ssh_port = 2222
host_path = "/srv/alpha"
adopted = true
access = "read_only"
status_tool = "status"
on_drift = "block"
timeout_seconds = 5
[projects.beta]
"#,
    )
    .unwrap();
    let names: Vec<_> = wanted.entries.iter().map(|entry| entry.name()).collect();
    assert_eq!(
        (names, wanted.default.as_deref()),
        (vec!["alpha", "beta"], Some("beta"))
    );
    assert_eq!(text::parse("p.toml", "").unwrap(), text::Wanted::default());
}

#[test]
fn every_fault_is_told_with_its_line_its_key_and_the_nearest_one() {
    let check = |text: &str, expected: &[&str]| {
        let told = faults(text);
        assert_eq!(told.len(), expected.len(), "{told:?}");
        for (told, expected) in told.iter().zip(expected) {
            assert!(told.starts_with(expected), "{told}");
        }
    };
    check(
        "[projects.a]\nurl = 1\nssh_port = 0\n",
        &[
            "p.toml:2: `projects.a.url`: must be a string",
            "p.toml:3: `projects.a.ssh_port`: must be a whole number from 1 to 65535",
        ],
    );
    check(
        "[projects.a]\nsshport = 1\n",
        &["p.toml:2: unknown key `projects.a.sshport`; did you mean `ssh_port`?"],
    );
    check(
        "[projects.a]\n\naccess = \"all\"",
        &["p.toml:3: `projects.a.access`: must be read_only or read_write"],
    );
    check(
        "[projects.a]\nurl = [\"a\"]",
        &["p.toml:2: `projects.a.url`: expected one value, got a TOML array"],
    );
    check(
        "[projects.ssh]\n",
        &["p.toml:1: `projects.ssh`: the name: must not be one of"],
    );
    check(
        "[projects.A]\n",
        &["p.toml:1: `projects.A`: the name: must have 1 to 40"],
    );
    check(
        "[projects]\na = 1",
        &["p.toml:2: `projects.a`: expected a table, got a TOML integer"],
    );
    check(
        "[project.a]\n",
        &["p.toml:1: unknown key `project`; did you mean `projects`?"],
    );
    check(
        "default = \"alpah\"\n[projects.alpha]\n",
        &["p.toml:1: `default`: no project of this file is called alpah; did you mean `alpha`?"],
    );
    check(
        "default = 1",
        &["p.toml:1: `default`: expected the name of a project, got a TOML integer"],
    );
    check(
        "[projects.a]\nsource = \"file\"",
        &["p.toml:2: unknown key `projects.a.source`"],
    );
    check("[projects.a\n", &["p.toml:1: "]);
}

/// A gateway over a directory with this file in it.
struct Gateway {
    core: Core,
    closing: CancellationToken,
    watching: Option<tokio::task::JoinHandle<()>>,
    dir: TempDir,
}

impl Gateway {
    async fn over(text: Option<&str>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        if let Some(text) = text {
            std::fs::write(dir.path().join(NAME), text).unwrap();
        }
        let core = Core::start(CoreConfig::new(dir.path()), Clock::system())
            .await
            .unwrap();
        let mut gateway = Self {
            core,
            closing: CancellationToken::new(),
            watching: None,
            dir,
        };
        let file = ProjectsFile::read(&config(gateway.dir.path())).unwrap();
        let following = file.follow(gateway.core.projects()).await.unwrap();
        let watch = following.watch_every(Duration::from_millis(5), gateway.closing.clone());
        gateway.watching = Some(tokio::spawn(async move {
            let _ = watch.await;
        }));
        gateway
    }

    fn write(&self, text: &str) {
        std::fs::write(self.dir.path().join(NAME), text).unwrap();
    }

    /// Name and state of every project.
    async fn projects(&self) -> Vec<(String, String)> {
        let tenant = self.core.first_run().unwrap().tenant_id.clone();
        let listed = self.core.projects().list(&By::gateway(tenant)).await.unwrap();
        let told = |project: &toolgate_core::projects::Known| {
            (project.target.name.clone(), project.state().to_owned())
        };
        listed.iter().map(told).collect()
    }

    async fn until(&self, expected: &[(&str, &str)]) {
        let expected: Vec<_> = expected
            .iter()
            .map(|(name, state)| ((*name).to_owned(), (*state).to_owned()))
            .collect();
        let mut looks = tokio::time::interval(Duration::from_millis(5));
        let seen = async {
            while self.projects().await != expected {
                looks.tick().await;
            }
        };
        let seen = tokio::time::timeout(Duration::from_secs(10), seen).await;
        assert!(seen.is_ok(), "{:?} is not {expected:?}", self.projects().await);
    }

    async fn end(self) {
        self.closing.cancel();
        self.watching.unwrap().await.unwrap();
        self.core.shutdown().await;
    }
}

fn config(dir: &Path) -> Config {
    let dir = dir.display().to_string();
    let environment = Environment::of([("TOOLGATE_DATA_DIR", dir.as_str())]);
    load(&Given::default(), &environment, Reader::Show)
        .unwrap()
        .config
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_followed_while_the_gateway_runs() {
    let gateway = Gateway::over(Some("[projects.alpha]\n")).await;
    gateway.until(&[("alpha", "waiting")]).await;
    gateway.write("[projects.alpha]\n[projects.beta]\n");
    gateway.until(&[("alpha", "waiting"), ("beta", "waiting")]).await;
    // Replaced, as editors do it.
    let new = gateway.dir.path().join("new");
    std::fs::write(&new, "[projects.beta]\n").unwrap();
    std::fs::rename(&new, gateway.dir.path().join(NAME)).unwrap();
    gateway.until(&[("alpha", "disabled"), ("beta", "waiting")]).await;

    // What is wrong, or gone, changes nothing; what comes after it does.
    gateway.write("[projects.gamma]\n[projects.ssh]\n");
    std::fs::remove_file(gateway.dir.path().join(NAME)).unwrap();
    gateway.write("[projects.alpha]\n[projects.beta]\n");
    gateway.until(&[("alpha", "waiting"), ("beta", "waiting")]).await;
    gateway.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_comes_later_is_followed_as_well() {
    let gateway = Gateway::over(None).await;
    gateway.write("default = \"alpha\"\n[projects.alpha]\n");
    gateway.until(&[("alpha", "waiting")]).await;
    gateway.end().await;
}

#[test]
fn a_file_that_cannot_be_used_keeps_the_gateway_from_starting() {
    let dir = tempfile::tempdir().unwrap();
    assert!(ProjectsFile::read(&config(dir.path())).unwrap().wanted.is_none());
    std::fs::write(dir.path().join(NAME), "[projects.a]\nurll = \"x\"\n").unwrap();
    let failure = ProjectsFile::read(&config(dir.path())).unwrap_err();
    let place = format!("{}:2: ", dir.path().join(NAME).display());
    assert!(failure.details[0].starts_with(&place), "{:?}", failure.details);
    assert!(failure.details[0].contains("did you mean `url`?"));

    let mut named = config(dir.path());
    named.projects_file = Some(dir.path().join("missing.toml"));
    let failure = ProjectsFile::read(&named).unwrap_err();
    assert!(failure.details[0].contains("missing.toml: cannot be read"));
}
