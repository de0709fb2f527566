//! The checklist of `docs/guide.md`, walked in a real browser at the real binary as it comes up on an empty directory: signed in
//! by the printed link, a tool called, three systems added, an aged answer seen, the record verified and exported, a client
//! connected. What was exported convinces without its gateway.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_test_support::{Browser, Gateway, Lab, run, until};

const GUIDE: &str = include_str!("../../docs/guide.md");
/// The promise to somebody new.
const TWO_MINUTES: u64 = 120_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_first_visit_needs_the_readme_only() {
    let Some(browser) = Browser::here("a_first_visit_needs_the_readme_only") else {
        return;
    };
    let (gateway, lab) = (Gateway::start(&[]).await.unwrap(), Lab::start().await);
    let admin = gateway.admin();
    until(Duration::from_secs(20), || async {
        admin.run("uptime").await.ok()
    })
    .await
    .expect("this host answers");
    let archive = gateway.folder().join("archive.tar");
    let told = json!({
        "link": link(&gateway),
        "checklist": checklist(),
        "systems": systems(&lab),
        "inventory": "github.list_repos",
        "archive": archive,
    });

    let walked = browser
        .walk("first-visit.mjs", gateway.url(), &gateway.token(), told)
        .await;

    let walked = walked.unwrap_or_else(|complaint| panic!("{complaint}\n{}", gateway.log()));
    assert_eq!(walked.steps, checklist());
    println!("{}", walked.figures);
    assert!(
        walked.figures["first_call_ms"].as_u64().unwrap() < TWO_MINUTES,
        "{}",
        walked.figures
    );
    let folder = gateway.folder().join("archive");
    std::fs::create_dir(&folder).unwrap();
    let unpacked = std::process::Command::new("tar")
        .arg("-xf")
        .arg(&archive)
        .arg("-C")
        .arg(&folder)
        .status()
        .unwrap();
    assert!(unpacked.success());
    let export = manifest_in(&folder);
    let verified = run(
        &["audit", "verify", "--export", export.to_str().unwrap(), "--json"],
        &[],
        gateway.folder(),
    )
    .await
    .unwrap();
    assert_eq!(verified.status.code(), Some(0), "{verified:?}");
    for (_, seen) in lab.seen() {
        assert_eq!(seen.writes(), [""; 0]);
    }
}

/// The one-time link that `up` printed.
fn link(gateway: &Gateway) -> String {
    let printed = gateway.printed().join("\n");
    let mut words = printed.split_whitespace();
    words
        .find(|word| word.contains("/sign-in#code="))
        .unwrap_or_else(|| panic!("no link in {printed}"))
        .to_owned()
}

fn checklist() -> Vec<String> {
    let lines = GUIDE.lines().filter_map(|line| line.strip_prefix("- [ ] "));
    lines.map(str::to_owned).collect()
}

/// What is typed into the form of each system, by the fields' ids.
fn systems(lab: &Lab) -> Vec<Value> {
    let typed = |adapter: &str, settings: &Value, credential: &Value| {
        let mut fields = serde_json::Map::new();
        for (part, values) in [("config", settings), ("credential", credential)] {
            for (name, value) in values.as_object().unwrap() {
                let text = match value {
                    Value::String(text) => text.clone(),
                    Value::Number(number) => number.to_string(),
                    Value::Array(lines) => lines
                        .iter()
                        .filter_map(Value::as_str)
                        .collect::<Vec<_>>()
                        .join("\n"),
                    // Switches: under a gateway that only this machine reaches they are on by themselves.
                    _ => continue,
                };
                fields.insert(format!("{part}-{name}"), text.into());
            }
        }
        let words = match adapter {
            "proxmox" => "Proxmox VE",
            "github" => "GitHub",
            _ => "Gitea, Forgejo",
        };
        json!({"type": adapter, "words": words, "name": format!("my-{adapter}"), "fields": fields})
    };
    let targets = lab.targets();
    targets
        .iter()
        .map(|(adapter, settings, credential)| typed(adapter, settings, credential))
        .collect()
}

/// The folder that has the manifest, wherever in the archive it lies.
fn manifest_in(folder: &std::path::Path) -> std::path::PathBuf {
    if folder.join("manifest.json").is_file() {
        return folder.to_owned();
    }
    let mut folders = std::fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.path());
    folders
        .find(|path| path.join("manifest.json").is_file())
        .expect("a manifest in the archive")
}
