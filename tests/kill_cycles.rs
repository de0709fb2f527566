//! Kills parts of the product at random points under load, again and again, and holds the record against what callers
//! and the host saw. The seed is printed; TOOLGATE_KILL_SEED repeats a run.

mod acks;
mod dice;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::json;
use toolgate_test_support::{Caller, Gateway, Ground, Relay, Store, until};

use self::{acks::Acks, dice::Dice};
use crate::record;

const WRITERS: usize = 8;
const FLAGS: [&str; 3] = [
    "--relay-built-in=false",
    "--limits-user-per-minute=1000000000",
    "--limits-tenant-per-minute=1000000000",
];
/// A gateway that lived on carries calls again so soon after its server is back.
const BACK_WITHIN: Duration = Duration::from_secs(5);

/// What is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Gateway,
    Postgres,
    Relay,
    All,
}

/// Runs so many cycles, each with a target drawn from these.
pub(crate) async fn run(ground: Ground, targets: &[Target], cycles: usize) {
    let mut dice = Dice::new();
    println!("{cycles} cycles, TOOLGATE_KILL_SEED={}", dice.seed());
    let mut stage = Stage::start(&ground).await;
    let mut slowest = Duration::ZERO;
    for cycle in 1..=cycles {
        let target = targets[dice.between(0, targets.len() as u64) as usize];
        let when = format!("cycle {cycle}, {target:?} killed");
        let writers = write(&stage.gateway, &stage.acks, cycle);
        tokio::time::sleep(Duration::from_millis(dice.between(30, 500))).await;
        stage.kill(target).await;
        for writer in writers {
            writer.await.unwrap();
        }
        let took = stage.mend(target, &when).await;
        slowest = slowest.max(took);
        record::is_whole(&stage.gateway.admin(), &stage.gateway.store(), &when).await;
    }

    let acknowledged = stage.acks.all();
    let contacts = stage.relay.received();
    let many = contacts.len();
    let found = record::tells_all(&stage.gateway.admin(), &acknowledged, contacts).await;
    println!(
        "{} acknowledged, {many} contacts, {} of them unanswered, {} closed as unknown, slowest recovery {slowest:?}",
        acknowledged.len(),
        found.unanswered,
        found.unknown,
    );
    assert!(acknowledged.len() > cycles, "the load was no load");
}

/// The parts that are killed, and what was acknowledged.
struct Stage {
    gateway: Gateway,
    relay: Relay,
    acks: Arc<Acks>,
}

impl Stage {
    async fn start(ground: &Ground) -> Self {
        let gateway = ground.gateway(&FLAGS).await.unwrap();
        let (target, token) = gateway.admin().add_host("web-1").await.unwrap();
        let relay = Relay::enrol(gateway.url(), &target, &token).await.unwrap();
        let acks = Arc::new(Acks::open(gateway.folder()));
        Self { gateway, relay, acks }
    }

    async fn kill(&mut self, target: Target) {
        match target {
            Target::Gateway => self.gateway.kill9().await,
            Target::Postgres => self.gateway.store().postgres().cluster().kill().await,
            Target::Relay => self.relay.hang_up(),
            Target::All => {
                self.relay.hang_up();
                let store = self.gateway.store();
                tokio::join!(self.gateway.kill9(), store.postgres().cluster().kill());
            }
        }
    }

    /// Brings back what was killed and waits until a call is carried; gives how long that took.
    async fn mend(&mut self, target: Target, when: &str) -> Duration {
        let down = Instant::now();
        if let (Target::Postgres | Target::All, Store::Postgres(postgres)) = (target, self.gateway.store()) {
            let started = postgres.cluster().start().await;
            started.unwrap_or_else(|error| panic!("{when}: {error}"));
        }
        if let Target::Gateway | Target::All = target {
            let up = self.gateway.up().await;
            up.unwrap_or_else(|error| panic!("{when}: {error}"));
        }
        let there = Instant::now();
        if target != Target::Postgres {
            self.relay.hang_up();
            let dialled = self.relay.dial(self.gateway.url()).await;
            dialled.unwrap_or_else(|error| panic!("{when}: {error}"));
        }
        let admin = self.gateway.admin();
        let command = format!("systemctl status {}", when.replace([' ', ','], "-"));
        let carried = until(BACK_WITHIN, || async { admin.run(&command).await.ok() });
        let Some(call) = carried.await else {
            let refusal = admin.run("uptime").await;
            let log = self.gateway.log();
            panic!("{when}: no call is carried {BACK_WITHIN:?} after all is back: {refusal:?}\n{log}");
        };
        self.acks.keep(&command, &call.correlation_id);
        println!(
            "{when}: a call is carried {:?} after all is back",
            there.elapsed()
        );
        down.elapsed()
    }
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

/// Whether what takes long is wanted.
#[allow(
    clippy::disallowed_methods,
    reason = "a switch of the tests, no configuration"
)]
pub(crate) fn full() -> bool {
    std::env::var_os("TOOLGATE_FULL").is_some()
}
