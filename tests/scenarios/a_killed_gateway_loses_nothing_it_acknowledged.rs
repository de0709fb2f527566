//! Gate INV-4. The gateway is killed at random points under load, again and again: what it acknowledged is on the
//! record, what reached the host is on the record, the chain holds, and what was left open is closed as unknown.
//!
//! 15 cycles; with TOOLGATE_FULL=1 it is 100.

use toolgate_test_support::Ground;

use crate::kill_cycles::{self, Target, full};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_gateway_loses_nothing_it_acknowledged() {
    let cycles = if full() { 100 } else { 15 };
    kill_cycles::run(Ground::Sqlite, &[Target::Gateway], cycles).await;
}
