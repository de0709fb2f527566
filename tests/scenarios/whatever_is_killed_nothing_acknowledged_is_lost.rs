//! Gate INV-4 on PostgreSQL. The gateway, its server, the relay, or all of them are killed at random points under
//! load, again and again: what was acknowledged is on the record, what reached the host is on the record, the chain
//! holds, no call has two rows, and what was left open is closed as unknown.
//!
//! 12 cycles; with TOOLGATE_FULL=1 it is 200.

use toolgate_test_support::Ground;

use crate::kill_cycles::{self, Target, full};

const TARGETS: [Target; 4] = [Target::Gateway, Target::Postgres, Target::Relay, Target::All];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_killed_nothing_acknowledged_is_lost() {
    let test = "whatever_is_killed_nothing_acknowledged_is_lost";
    let Some(ground) = Ground::own_postgres(test).await else {
        return;
    };
    let cycles = if full() { 200 } else { 12 };
    kill_cycles::run(ground, &TARGETS, cycles).await;
}
