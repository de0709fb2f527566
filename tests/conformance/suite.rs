//! Running the suite and reading what it has written.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;
use toolgate_test_support::Clients;

use super::expected::{self, Reasons};

/// Which scenarios are run.
pub(super) enum Scenarios {
    /// All of the revision.
    All,
    /// These.
    These(&'static [&'static str]),
}

/// What came of one revision.
pub(super) struct Run {
    pub(super) revision: &'static str,
    /// By scenario, in the order they ran.
    pub(super) scenarios: Vec<(String, Checks)>,
    pub(super) reasons: Reasons,
    /// What the suite did not expect, with its own words.
    pub(super) complaints: Vec<String>,
}

/// The worst verdict of each check of a scenario, what is no verdict left out.
pub(super) type Checks = BTreeMap<String, Verdict>;

/// What a check came to; the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    Passed,
    Warned,
    Failed,
}

impl Run {
    /// How many checks passed, of how many.
    pub(super) fn counts(&self) -> (usize, usize) {
        let checks = || self.scenarios.iter().flat_map(|(_, checks)| checks.values());
        let passed = checks().filter(|verdict| **verdict == Verdict::Passed);
        (passed.count(), checks().count())
    }

    /// What passed in another run of the same scenarios and does not here.
    pub(super) fn lost_from(&self, other: &Self) -> Vec<String> {
        let here = self.by_name();
        let passed = other.scenarios.iter().flat_map(|(scenario, checks)| {
            let passed = checks.iter().filter(|(_, verdict)| **verdict == Verdict::Passed);
            passed.map(move |(check, _)| (scenario.as_str(), check))
        });
        passed
            .filter(|(scenario, check)| {
                let verdict = here.get(scenario).and_then(|checks| checks.get(*check));
                verdict != Some(&Verdict::Passed)
            })
            .map(|(scenario, check)| format!("{} {scenario}: {check} is lost", self.revision))
            .collect()
    }

    fn by_name(&self) -> BTreeMap<&str, &Checks> {
        self.scenarios
            .iter()
            .map(|(name, checks)| (name.as_str(), checks))
            .collect()
    }
}

/// Lets the suite at someone else's server, whose failures are its own.
pub(super) async fn look(clients: &Clients, url: &str, revision: &'static str) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let arguments = [
        "server",
        "--url",
        url,
        "--spec-version",
        revision,
        "-o",
        out,
        "--suite",
        "all",
    ];
    clients.conformance(&arguments).await.unwrap();
    Run {
        revision,
        scenarios: read(folder.path()),
        reasons: Reasons::new(),
        complaints: Vec::new(),
    }
}

/// Lets the suite at a URL.
pub(super) async fn run(
    clients: &Clients,
    url: &str,
    revision: &'static str,
    tools: &str,
    scenarios: Scenarios,
) -> Run {
    let list = expected::path(tools, revision);
    let mut run = Run {
        revision,
        scenarios: Vec::new(),
        reasons: expected::reasons(&list),
        complaints: Vec::new(),
    };
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let list = list.to_str().unwrap();
    let common = [
        "server",
        "--url",
        url,
        "--spec-version",
        revision,
        "--expected-failures",
        list,
        "-o",
        out,
    ];
    let selections: Vec<[&str; 2]> = match scenarios {
        Scenarios::All => vec![["--suite", "all"]],
        Scenarios::These(names) => names.iter().map(|name| ["--scenario", name]).collect(),
    };
    for selection in selections {
        let arguments: Vec<&str> = common.iter().chain(&selection).copied().collect();
        let output = clients.conformance(&arguments).await.unwrap();
        if !output.status.success() {
            run.complaints.push(format!(
                "{tools} {revision} {}: {}\n{}{}",
                selection[1],
                output.status,
                end_of(&output.stdout),
                end_of(&output.stderr)
            ));
        }
    }
    run.scenarios = read(folder.path());
    for (scenario, checks) in &run.scenarios {
        run.complaints
            .extend(unexplained(scenario, checks, &run.reasons, folder.path()));
    }
    run
}

/// The checks of every scenario, from `server-SCENARIO-YYYY-MM-DDTHH-MM-SS-mmmZ/checks.json`, oldest first.
fn read(folder: &Path) -> Vec<(String, Checks)> {
    let mut found: Vec<(String, String, Checks)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let (scenario, time) = name
                .strip_prefix("server-")
                .and_then(|name| name.split_at_checked(name.len() - "-2026-01-01T00-00-00-000Z".len()))
                .unwrap_or_else(|| panic!("{name} is no folder of the suite's"));
            (time.to_owned(), scenario.to_owned(), checks(&path))
        })
        .collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
        .into_iter()
        .map(|(_, scenario, checks)| (scenario, checks))
        .collect()
}

fn checks(folder: &Path) -> Checks {
    let mut checks = Checks::new();
    for check in told(folder) {
        let verdict = match check["status"].as_str() {
            Some("SUCCESS") => Verdict::Passed,
            Some("WARNING") => Verdict::Warned,
            Some("FAILURE") => Verdict::Failed,
            _ => continue,
        };
        let worst = checks
            .entry(check["id"].as_str().unwrap_or_default().to_owned())
            .or_insert(verdict);
        *worst = verdict.max(*worst);
    }
    checks
}

/// Checks that went wrong without an entry: the suite has counted them already, this says what they complain of.
fn unexplained(scenario: &str, checks: &Checks, reasons: &Reasons, folder: &Path) -> Vec<String> {
    if reasons.contains_key(scenario) {
        return Vec::new();
    }
    let wrong = |id: &str| {
        let verdict = checks.get(id).copied().unwrap_or(Verdict::Passed);
        verdict != Verdict::Passed && !reasons.contains_key(&format!("{scenario}:{id}"))
    };
    let named = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        name.to_string_lossy()
            .starts_with(&format!("server-{scenario}-2"))
    };
    fs::read_dir(folder)
        .unwrap()
        .flatten()
        .filter(named)
        .flat_map(|entry| told(&entry.path()))
        .filter(|check| check["status"] != "SUCCESS" && wrong(check["id"].as_str().unwrap_or_default()))
        .map(|check| {
            format!(
                "  {scenario}: {}: {} {}",
                check["id"], check["errorMessage"], check["details"]
            )
        })
        .collect()
}

fn told(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("checks.json")).unwrap_or_else(|_| "[]".into());
    serde_json::from_str(&text).unwrap()
}

/// The last lines of what a program printed.
fn end_of(printed: &[u8]) -> String {
    let text = String::from_utf8_lossy(printed);
    let lines: Vec<&str> = text.lines().collect();
    let mut end = lines[lines.len().saturating_sub(25)..].join("\n");
    end.push('\n');
    end
}
