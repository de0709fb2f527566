//! `mcp`: the Model Context Protocol over standard input and output, in front of whichever core there is.
//!
//! Standard output carries the protocol and nothing else; what there is to say before it begins goes to standard error.
//! Ends with its input, its output, or a signal.

mod alone;
mod behind;

use tokio::io::{stdin, stdout};
use toolgate_contract::v1::{ErrorReason, Failure as Refusal};
use toolgate_facade::{
    Context as WorksOn,
    mcp::{Stdio, StdioError, stdio},
};
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

/// The name of the server where it stands alone: pods register it by this name (`agent-tools.md` §3).
const ALONE: &str = "tatara";

/// Runs the command until its client leaves.
pub(super) async fn run(context: &Context, args: McpArgs) -> Result<Exit, Failure> {
    let config = context.config(Reader::Mcp)?;
    let stop = Stop::on_signals()?;
    let unread = context.environment.unread();
    if !unread.is_empty() {
        tracing::warn!(variables = %unread.join(", ").escape_debug(), "nobody here reads these variables");
    }
    let brought = alone::read(&context.environment, &args)?;
    let metrics = MetricsDoor::open(&config).await?;
    let behind = Behind::find(&config, brought).await?;
    let served = match credential(context, &config, &behind) {
        Ok(token) => serve(context, &config, &args, &behind, &token, &stop).await,
        Err(failure) => Err(failure),
    };
    let ended = behind.end().await;
    drop(metrics);
    served.and(ended).map(|()| Exit::Done)
}

async fn serve(
    context: &Context,
    config: &Config,
    args: &McpArgs,
    behind: &Behind,
    token: &str,
    stop: &Stop,
) -> Result<(), Failure> {
    let environment = &context.environment;
    let mut settings = Stdio::new(token).map_err(|_| {
        Failure::usage("the token is not plain text")
            .next("set the token as it was printed in TOOLGATE_TOKEN")
    })?;
    // The flag is stronger, also where it is empty: that is how a profile of the pod is left out.
    let profile = args.tool_profile.as_deref().or(environment.tool_profile());
    settings.profile = profile.map(|name| name.trim().to_owned());
    settings.project.clone_from(&args.project);
    settings.context = WorksOn {
        project: environment.project().map(str::to_owned),
        task: environment.task().map(str::to_owned),
    };
    if behind.process().is_some() {
        settings.server_name = ALONE.into();
    }
    // A core of this command's own is closed by itself; one that runs elsewhere goes by its own settings.
    settings.closed_to_unknown = config.unknown_profile == "closed";
    settings.tool_names = rooms::tool_names(config);
    settings.version = env!("CARGO_PKG_VERSION").into();
    let served = stdio(behind.service(), settings, stdin(), stdout(), stop.token());
    // Whichever ends first ends the other: nothing goes on without a client, nor without the core.
    tokio::select! {
        ended = served => ended.map_err(|error| told(error, behind)),
        lost = behind.lost() => lost,
    }
}

/// The token of the environment; else that of the process, in a core of its own; else the admin's, where the core is this
/// machine's.
fn credential(context: &Context, config: &Config, behind: &Behind) -> Result<Zeroizing<String>, Failure> {
    let own = || {
        behind
            .is_of_this_machine()
            .then(|| token_file(&config.data_dir))
            .flatten()
    };
    let process = || {
        behind
            .process()
            .map(|secret| Zeroizing::new(secret.reveal().to_owned()))
    };
    let token = context.environment.token().or_else(process).or_else(own);
    token.ok_or_else(|| {
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
        StdioError::UnknownProfile(_) => Failure::new(Exit::Refused, error.to_string()).next(
            "unknown_profile is closed here; name a profile that there is (`toolgate profile list` shows them to an admin), \
             or none",
        ),
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
