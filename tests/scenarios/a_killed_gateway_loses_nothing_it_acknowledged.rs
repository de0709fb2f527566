//! Gate INV-4. The gateway is killed at random points under load, again and again: what it acknowledged is on the
//! record, what reached the host is on the record, the chain holds, and what was left open is closed as unknown.
//!
//! 15 cycles; with TOOLGATE_FULL=1 it is 100. The seed is printed; TOOLGATE_KILL_SEED repeats a run.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::Write,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use toolgate_test_support::{Caller, Gateway, Relay, until};

const WRITERS: usize = 8;
const FLAGS: [&str; 3] = [
    "--relay-built-in=false",
    "--limits-user-per-minute=1000000000",
    "--limits-tenant-per-minute=1000000000",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_gateway_loses_nothing_it_acknowledged() {
    let (cycles, mut dice) = (cycles(), Dice::new());
    println!("{cycles} cycles, TOOLGATE_KILL_SEED={}", dice.0);
    let mut gateway = Gateway::start(&FLAGS).await.unwrap();
    let (target, token) = gateway.admin().add_host("web-1").await.unwrap();
    let relay = Relay::enrol(gateway.url(), &target, &token).await.unwrap();
    let acks = Arc::new(Acks::open(&gateway));

    let mut slowest = Duration::ZERO;
    for cycle in 1..=cycles {
        let writers = write(&gateway, &acks, cycle);
        tokio::time::sleep(Duration::from_millis(dice.between(30, 500))).await;
        gateway.kill9().await;
        for writer in writers {
            writer.await.unwrap();
        }
        relay.hang_up();
        let down = Instant::now();
        gateway
            .up()
            .await
            .unwrap_or_else(|error| panic!("cycle {cycle}: {error}"));
        relay
            .dial(gateway.url())
            .await
            .unwrap_or_else(|error| panic!("cycle {cycle}: {error}"));
        let reconciled = until(Duration::from_secs(60), || async {
            (open_intents(&gateway) == 0).then_some(())
        })
        .await;
        assert!(
            reconciled.is_some(),
            "cycle {cycle}: intents are still open after 60 s"
        );
        slowest = slowest.max(down.elapsed());
        let verified = gateway.admin().post("/api/audit/verify", json!({})).await.json();
        assert_eq!(verified["verdict"], "intact", "cycle {cycle}: {verified}");
    }

    // Whatever reached the host without an answer is asked once more: the same arguments have the same keyed hash, so
    // that its row can be told from all others.
    let contacts: BTreeSet<String> = relay.received().into_iter().collect();
    let acknowledged = acks.all();
    let admin = gateway.admin();
    let mut asked_again = BTreeMap::new();
    for command in contacts
        .iter()
        .filter(|command| !acknowledged.contains_key(*command))
    {
        asked_again.insert(command.clone(), admin.run(command).await.unwrap().correlation_id);
    }

    let rows: Vec<Value> = admin.audit().await.unwrap();
    let rows: Vec<&Value> = rows
        .iter()
        .filter(|row| row["event"] == "adapter.capability_invoked")
        .collect();
    let by_call: BTreeMap<&str, &Value> = rows
        .iter()
        .map(|row| (row["correlationId"].as_str().unwrap(), *row))
        .collect();
    assert_eq!(by_call.len(), rows.len(), "a call has two rows");
    let lost: Vec<_> = acknowledged
        .values()
        .filter(|call| {
            by_call
                .get(call.as_str())
                .is_none_or(|row| row["result"] != "success")
        })
        .collect();
    assert!(
        lost.is_empty(),
        "{} of {} acknowledged calls have no row: {lost:?}",
        lost.len(),
        acknowledged.len()
    );

    let mut per_arguments: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &rows {
        *per_arguments
            .entry(row["paramsHash"].as_str().unwrap())
            .or_default() += 1;
    }
    for (command, call) in &asked_again {
        let hash = by_call[call.as_str()]["paramsHash"].as_str().unwrap();
        assert!(
            per_arguments[hash] >= 2,
            "{command} reached the host and has no row"
        );
    }
    let unknown = rows.iter().filter(|row| row["result"] == "unknown").count();
    println!(
        "{} acknowledged, {} contacts, {} of them unanswered, {unknown} closed as unknown, slowest recovery {slowest:?}",
        acknowledged.len(),
        contacts.len(),
        asked_again.len()
    );
    assert!(acknowledged.len() > cycles, "the load was no load");
}

/// Callers that stop when nobody answers any more. Every command is another one, so that a contact tells its call.
fn write(gateway: &Gateway, acks: &Arc<Acks>, cycle: usize) -> Vec<tokio::task::JoinHandle<()>> {
    let writer = |number: usize| {
        let (caller, acks) = (gateway.admin(), Arc::clone(acks));
        tokio::spawn(async move {
            for call in 0.. {
                let command = format!("systemctl status k{cycle}-{number}-{call}");
                let answered = match number % 2 {
                    0 => waited(&caller, &command).await,
                    _ => streamed(&caller, &command).await,
                };
                match answered {
                    Some(call) => acks.keep(&command, &call),
                    None => return,
                }
            }
        })
    };
    (0..WRITERS).map(writer).collect()
}

/// The call's id once its whole answer is here.
async fn waited(caller: &Caller, command: &str) -> Option<String> {
    let body = json!({"name": "ssh.run_whitelisted_command", "arguments": {"command": command}});
    let request = caller
        .request("POST".parse().unwrap(), "/api/mcp/invoke")
        .header("prefer", "wait")
        .json(&body);
    let answer = caller
        .try_send(request)
        .await
        .filter(|answer| answer.status == 200)?;
    Some(answer.json()["correlationId"].as_str()?.to_owned())
}

/// The call's id once its stream has told the end.
async fn streamed(caller: &Caller, command: &str) -> Option<String> {
    let body = json!({"name": "ssh.run_whitelisted_command", "arguments": {"command": command}});
    let request = caller
        .request("POST".parse().unwrap(), "/api/mcp/invoke")
        .json(&body);
    let answer = caller
        .try_send(request)
        .await
        .filter(|answer| answer.status == 202)?;
    let call = answer.json()["correlationId"].as_str()?.to_owned();
    let request = caller.request("GET".parse().unwrap(), &format!("/api/mcp/stream/{call}"));
    let answer = caller.try_send(request).await?;
    answer.text.contains("event: done").then_some(call)
}

fn open_intents(gateway: &Gateway) -> i64 {
    let path = gateway.data_dir().join("toolgate.db");
    let store = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    store
        .query_row("select count(*) from intent", [], |row| row.get(0))
        .unwrap_or(-1)
}

/// What was acknowledged, on disk before the next call.
struct Acks {
    file: Mutex<File>,
    path: std::path::PathBuf,
}

impl Acks {
    fn open(gateway: &Gateway) -> Self {
        let path = gateway.folder().join("acks");
        Self {
            file: Mutex::new(File::create(&path).unwrap()),
            path,
        }
    }

    fn keep(&self, command: &str, call: &str) {
        let mut file = self.file.lock().unwrap();
        writeln!(file, "{command}\t{call}").unwrap();
        file.sync_data().unwrap();
    }

    /// Command → call.
    fn all(&self) -> BTreeMap<String, String> {
        let text = std::fs::read_to_string(&self.path).unwrap();
        let lines = text.lines().filter_map(|line| line.split_once('\t'));
        lines
            .map(|(command, call)| (command.to_owned(), call.to_owned()))
            .collect()
    }
}

/// Xorshift: good enough to draw kill points, and repeatable.
struct Dice(u64);

impl Dice {
    #[allow(
        clippy::disallowed_methods,
        reason = "a switch of this test, no configuration"
    )]
    fn new() -> Self {
        let given = std::env::var("TOOLGATE_KILL_SEED")
            .ok()
            .and_then(|seed| seed.parse().ok());
        let drawn = || {
            u64::from(std::process::id())
                ^ std::time::UNIX_EPOCH
                    .elapsed()
                    .map_or(1, |since| since.as_secs() << 20)
        };
        Self(given.unwrap_or_else(drawn).max(1))
    }

    fn between(&mut self, low: u64, high: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        low + self.0 % (high - low)
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "a switch of this test, no configuration"
)]
fn cycles() -> usize {
    if std::env::var_os("TOOLGATE_FULL").is_some() {
        100
    } else {
        15
    }
}
