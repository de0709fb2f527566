//! A soak of B13: an agent writes as fast as it can, in pieces, while its transcript is renamed, deleted and cut under
//! a running tailer. Every report is told once and counted once.
//!
//! What is destroyed before it was read cannot be told, so that a file is only cut when all that stands in it was told,
//! and only taken away when it was seen. 20,000 reports; with TOOLGATE_FULL=1 it is 200,000.

use std::{
    fs::{self, File},
    io::Write,
    path::PathBuf,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use toolgate_test_support::{Tailer, until};

use crate::kill_cycles::full;

const PATIENCE: Duration = Duration::from_secs(60);
/// Reports between two things that happen to the file.
const BETWEEN: u64 = 400;

/// The agent: writes reports with numbers.
struct Agent {
    path: PathBuf,
    file: File,
    written: u64,
    generation: u64,
}

impl Agent {
    fn begin(path: PathBuf) -> Self {
        let file = open(&path);
        Self {
            path,
            file,
            written: 0,
            generation: 0,
        }
    }

    fn report(&mut self) {
        let number = self.written;
        let text = "x".repeat(usize::try_from(number * 37 % 500).unwrap());
        let input =
            json!({"category": "other", "severity": "warn", "description": format!("{number} {text}")});
        let line = json!({"type": "assistant", "turnId": "t", "message": {"content": [
            {"type": "tool_use", "id": format!("toolu-{number}"), "name": "mcp__tatara__report_internal_issue",
             "input": input}]}})
        .to_string()
            + "\n";
        // Now and then in pieces, as a buffer of the writer gives way.
        let (head, tail) = line.split_at(usize::try_from(number * 13).unwrap() % line.len());
        self.file.write_all(head.as_bytes()).unwrap();
        self.file.write_all(tail.as_bytes()).unwrap();
        self.written += 1;
    }

    /// The file goes; the next one is begun. What was open is written to once more, as by a writer that has not noticed.
    fn goes(&mut self, take_away: impl FnOnce(&Self)) {
        take_away(self);
        self.report();
        self.generation += 1;
        self.file = open(&self.path);
    }
}

fn open(path: &PathBuf) -> File {
    File::options().append(true).create(true).open(path).unwrap()
}

fn is_issue(record: &Value) -> bool {
    record["action"] == "internal_issue_report"
}

/// How many reports were told; looks at each record once.
#[derive(Default)]
struct Told {
    looked_at: usize,
    issues: u64,
}

impl Told {
    async fn until(&mut self, tailer: &Tailer, count: u64) {
        let end = Instant::now() + PATIENCE;
        while self.now(tailer) < count {
            assert!(Instant::now() < end, "{} of {count} were told", self.issues);
            // Until the log says more.
            let heard = self.looked_at;
            let more = until(PATIENCE, || async {
                tailer.ask(|records| (records.len() > heard).then_some(()))
            });
            assert!(more.await.is_some(), "{} of {count} were told", self.issues);
        }
    }

    fn now(&mut self, tailer: &Tailer) -> u64 {
        tailer.ask(|records| {
            self.issues += records[self.looked_at..]
                .iter()
                .filter(|record| is_issue(record))
                .count() as u64;
            self.looked_at = records.len();
        });
        self.issues
    }
}

#[tokio::test]
async fn a_transcript_that_is_rotated_and_cut_loses_no_report() {
    let all: u64 = if full() { 200_000 } else { 20_000 };
    let folder = tempfile::tempdir().unwrap();
    let mut tailer = Tailer::start(folder.path(), &["transcript.jsonl"]).await.unwrap();
    let mut agent = Agent::begin(folder.path().join("transcript.jsonl"));
    let mut told = Told::default();
    while agent.written < all {
        let first = agent.written;
        for _ in 0..BETWEEN {
            agent.report();
        }
        match agent.generation % 4 {
            3 => {
                told.until(&tailer, agent.written).await;
                fs::copy(&agent.path, folder.path().join("copy")).unwrap();
                agent.file.set_len(0).unwrap();
                agent.generation += 1;
            }
            1 => {
                told.until(&tailer, first + 1).await;
                agent.goes(|agent| fs::remove_file(&agent.path).unwrap());
            }
            kept => {
                told.until(&tailer, first + 1).await;
                let old = format!("{}.{kept}", agent.path.display());
                agent.goes(|agent| fs::rename(&agent.path, old).unwrap());
            }
        }
    }
    told.until(&tailer, agent.written).await;
    let metrics = tailer.metrics().await.unwrap();
    assert_eq!(tailer.terminate().await, Some(0));

    let numbers = tailer.ask(|records| {
        let issues = records
            .iter()
            .filter(|record| record["action"] == "internal_issue_report");
        let first_words = issues.filter_map(|record| record["description"].as_str()?.split(' ').next());
        first_words
            .map(|word| word.parse().unwrap())
            .collect::<Vec<u64>>()
    });
    let expected: Vec<u64> = (0..agent.written).collect();
    assert!(
        numbers == expected,
        "{} told, {} written",
        numbers.len(),
        expected.len()
    );
    let series = format!("{{category=\"other\",severity=\"warn\"}} {}\n", agent.written);
    assert!(metrics.contains(&series), "{metrics}");
    let troubles = tailer.ask(|records| {
        let troubles = records
            .iter()
            .filter(|record| record["action"].is_null() && record["level"] != "INFO");
        troubles.cloned().collect::<Vec<_>>()
    });
    assert_eq!(troubles, Vec::<Value>::new());
}
