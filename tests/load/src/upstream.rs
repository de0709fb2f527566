//! An upstream that takes its time, as real ones do: the simulated GitHub, each answer 50 ms late.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use toolgate_upstream_sim::github::{GitHub, Token};

/// How many read at once.
pub(crate) const CALLERS: usize = 64;
/// The run that is read: the first there is.
pub(crate) const RUN: u64 = (1 << 53) + 1;
pub(crate) const TOKEN: &str = "github_pat_11SIMULATED_for_load";

const PACE: Duration = Duration::from_millis(50);

/// Serves until its standard input ends, that is until its parent is gone.
pub(crate) async fn serve() -> io::Result<()> {
    let github = GitHub::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
    github.token(TOKEN, Token::least());
    github.pace(PACE);
    println!("{}", github.url().trim_start_matches("http://"));
    let mut nothing = [0; 1];
    tokio::io::stdin().read(&mut nothing).await.map(drop)
}

/// Where the run is at the upstream.
pub(crate) fn path() -> String {
    format!("/repos/acme/shop/actions/runs/{RUN}")
}

/// The call that reads it.
pub(crate) fn call() -> Value {
    json!({"name": "github.get_workflow_run", "arguments": {"owner": "acme", "repo": "shop", "run_id": RUN}})
}

/// The target that it is.
pub(crate) fn target(address: SocketAddr) -> Value {
    json!({"type": "github", "name": "upstream", "credential": {"token": TOKEN},
           "config": {"baseUrl": format!("http://{address}"), "allowHttp": true, "allowLoopback": true}})
}
