//! `mcp`: the Model Context Protocol over standard input and output, in front of whichever core there is.
//!
//! Standard output carries the protocol and nothing else; what there is to say before it begins goes to standard error.
//! Ends with its input, its output, or a signal.

mod behind;

use tokio::io::{stdin, stdout};
use toolgate_contract::{
    registry,
    v1::{ErrorReason, Failure as Refusal},
};
use toolgate_facade::mcp::{Stdio, StdioError, stdio};
use zeroize::Zeroizing;

use self::behind::Behind;
use super::{metrics_door::MetricsDoor, rooms, stop::Stop};
use crate::{
    args::McpArgs,
    client::{problem, reach::token_file},
    commands::Context,
    config::{Config, Reader},
    failure::{Exit, Failure},
};

/// Runs the command until its client leaves.
pub(super) async fn run(context: &Context, args: McpArgs) -> Result<Exit, Failure> {
    let config = context.config(Reader::Mcp)?;
    let stop = Stop::on_signals()?;
    let profile = args
        .tool_profile
        .as_deref()
        .or(context.environment.tool_profile());
    let profile = profile.map(str::to_owned);
    if let Some(name) = profile
        .as_deref()
        .filter(|name| !name.is_empty() && registry::profile(name).is_none())
    {
        tracing::warn!(profile = %name.escape_debug(), "unknown profile, nothing is hidden by it; `toolgate profile list` names those there are");
    }
    let metrics = MetricsDoor::open(&config).await?;
    let behind = Behind::find(&config).await?;
    let served = match credential(context, &config, &behind) {
        Ok(token) => serve(&config, &behind, &token, profile, &stop).await,
        Err(failure) => Err(failure),
    };
    let ended = behind.end().await;
    drop(metrics);
    served.and(ended).map(|()| Exit::Done)
}

async fn serve(
    config: &Config,
    behind: &Behind,
    token: &str,
    profile: Option<String>,
    stop: &Stop,
) -> Result<(), Failure> {
    let mut settings = Stdio::new(token).map_err(|_| {
        Failure::usage("the token is not plain text")
            .next("set the token as it was printed in TOOLGATE_TOKEN")
    })?;
    settings.profile = profile;
    settings.tool_names = rooms::tool_names(config);
    settings.version = env!("CARGO_PKG_VERSION").into();
    let served = stdio(behind.service(), settings, stdin(), stdout(), stop.token());
    // Whichever ends first ends the other: nothing goes on without a client, nor without the core.
    tokio::select! {
        ended = served => ended.map_err(|error| told(error, behind)),
        lost = behind.lost() => lost,
    }
}

/// The token of the environment; else the admin's, where the core is this machine's own.
fn credential(context: &Context, config: &Config, behind: &Behind) -> Result<Zeroizing<String>, Failure> {
    let own = || {
        behind
            .is_of_this_machine()
            .then(|| token_file(&config.data_dir))
            .flatten()
    };
    context.environment.token().or_else(own).ok_or_else(|| {
        Failure::usage("there is no token to show to the gateway").next(
            "set TOOLGATE_TOKEN: `toolgate token create NAME --role agent` makes one; or give --data-dir where the \
             gateway's admin-token can be read",
        )
    })
}

fn told(error: StdioError, behind: &Behind) -> Failure {
    match error {
        StdioError::Unreachable(why) => Failure::new(
            Exit::Unreachable,
            format!("the core at {} cannot be reached: {why}", behind.place()),
        )
        .next("start the gateway with `toolgate up`, or name another one with --core"),
        StdioError::Refused(refusal) => refused(&refusal),
        StdioError::Pipe(error) => Failure::failed(format!("the client's pipe is broken: {error}")),
    }
}

fn refused(refusal: &Refusal) -> Failure {
    let reason = refusal.reason();
    let exit = match reason {
        ErrorReason::Internal | ErrorReason::AuditUnavailable => Exit::Failed,
        _ => Exit::Refused,
    };
    let failure = Failure::new(exit, refusal.message.clone());
    match problem::next(Some(reason), refusal.retry_after_seconds(), true) {
        Some(next) => failure.next(next),
        None => failure,
    }
}
