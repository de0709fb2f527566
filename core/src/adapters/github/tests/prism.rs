//! GitHub's own description of its API, answered by a real Prism with the examples of GitHub's documents.
//!
//! Prism and the description are put below `target/` by `tests/run`; where they are not, the test says that it did not run.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use toolgate_test_postgres::not_run;

use super::*;

/// The server; ends with the test.
struct Prism {
    url: String,
    server: Child,
}

impl Prism {
    async fn start(test: &str) -> Option<Self> {
        let Some(folder) = folder() else {
            not_run(
                test,
                "no Prism in target/test-tools/github; tests/run puts one there",
            );
            return None;
        };
        let mut server = Command::new(folder.join("node_modules/.bin/prism"))
            .args(["mock", "--host", "127.0.0.1", "--port", "0"])
            .arg(folder.join("github.json"))
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let url = tokio::task::spawn_blocking(move || {
            let mut lines = lines.map_while(Result::ok);
            let url = lines.find_map(|line| Some(line.split_once("is listening on ")?.1.trim().to_owned()));
            // Read on, so that the server never waits for a reader.
            std::thread::spawn(move || lines.for_each(drop));
            url
        });
        let url = url.await.unwrap().expect("prism says where it listens");
        Some(Self { url, server })
    }
}

impl Drop for Prism {
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

#[tokio::test]
async fn githubs_own_description_and_examples_are_read() {
    let Some(prism) = Prism::start("githubs_own_description_and_examples_are_read").await else {
        return;
    };
    let world = World::at(&prism.url);
    for arguments in [json!({}), json!({"org": "octo-org"})] {
        let told = world.repos(arguments).await.unwrap();
        let repo = &told.structured["repos"][0];
        assert_eq!(
            (&repo["id"], &repo["full_name"]),
            (&json!(1_296_269), &json!("octocat/Hello-World"))
        );
        assert_eq!(repo["owner"], "octocat");
    }
    let told = world.runs(json!({"status": "success"})).await.unwrap();
    assert_eq!(told.structured["total_count"], 1);
    assert_eq!(told.structured["runs"][0]["id"], 30_433_642);
    assert_eq!(told.structured["runs"][0]["commit_title"], "Create linter.yaml");
    let told = world.run(30_433_642).await.unwrap();
    assert_eq!(told.structured["run"]["run_number"], 562);
    assert_eq!(told.structured["repository"], "octocat/Hello-World");
    assert!(
        told.text
            .starts_with("Run 30433642 of octocat/Hello-World: queued"),
        "{}",
        told.text
    );
}

// A test stands in <target>/<profile>/deps.
fn folder() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    let beside = own.ancestors().skip(2).take(2).map(Path::to_path_buf);
    let fallback = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
    let folders = beside
        .chain([fallback])
        .map(|folder| folder.join("test-tools/github"));
    folders
        .into_iter()
        .find(|folder| folder.join("github.json").is_file())
}
