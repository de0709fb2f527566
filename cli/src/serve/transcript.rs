//! `transcript tail`: follows transcripts beside an agent and shows what it counts.
//!
//! Reading is the crate's; here are the beat, the end and the door. Talks to no gateway.

use std::time::{Duration, Instant};

use tokio::{task::spawn_blocking, time::sleep};
use tokio_util::sync::CancellationToken;
use toolgate_transcript::{Settings, Tail, Work, begin, report_tool};

use super::{metrics_door::MetricsDoor, stop::Stop};
use crate::{
    args::TranscriptTailArgs,
    commands::Context,
    config::{Environment, Reader},
    failure::{Exit, Failure},
    logging,
};

/// Between two looks where there is nothing new.
const BEAT: Duration = Duration::from_millis(100);
/// How long what is there is still read after we were told to stop.
const LAST_LOOKS: Duration = Duration::from_secs(10);
/// How long the log is waited for; a reader of it that stalls is waited for once.
const PATIENCE: Duration = Duration::from_secs(2);

/// Runs the command until it is told to stop.
pub(super) async fn run(context: &Context, args: TranscriptTailArgs) -> Result<Exit, Failure> {
    let config = context.config(Reader::Transcript)?;
    let stop = Stop::on_signals()?;
    let metrics = MetricsDoor::open(&config).await?;
    begin();
    say(context, &args, metrics.as_ref());
    let settings = Settings {
        report_tool: report_tool(&args.server),
        work: work(&context.environment),
        from_end: args.from_end,
        rest: rest(),
        ..Settings::default()
    };
    let followed = follow(Tail::new(args.paths, settings), stop.token()).await;
    drop(metrics);
    followed.map(|()| Exit::Done)
}

/// What the pod works on, as `toolgate mcp` beside it is told as well.
fn work(environment: &Environment) -> Work {
    let told = |text: Option<&str>| text.unwrap_or_default().to_owned();
    Work {
        project: told(environment.project()),
        task: told(environment.task()),
        repo: told(environment.repo()),
        kind: told(environment.kind()),
    }
}

// Reads on a thread where reading may wait; everything else goes on meanwhile.
async fn follow(mut tail: Tail, told: CancellationToken) -> Result<(), Failure> {
    let mut until = None;
    loop {
        // What was written before the word counts, so that one whole look comes after it.
        let ending = told.is_cancelled();
        let look = spawn_blocking(move || {
            let looked = tail.look(Instant::now());
            (tail, looked)
        });
        let (back, looked) = look.await.map_err(broken)?;
        tail = back;
        if !ending {
            if !looked.more {
                tokio::select! {
                    () = sleep(BEAT) => {}
                    () = told.cancelled() => {}
                }
            }
            continue;
        }
        let grows = looked.more || looked.bytes > 0;
        if grows && Instant::now() < *until.get_or_insert_with(|| Instant::now() + LAST_LOOKS) {
            continue;
        }
        if grows {
            tracing::warn!("transcripts still grow; what comes now is not read");
        }
        return spawn_blocking(move || tail.finish()).await.map_err(broken);
    }
}

fn broken(error: tokio::task::JoinError) -> Failure {
    Failure::failed(format!("reading transcripts broke off: {error}"))
}

/// Waits for the log, so that a long transcript does not overrun it; but not each time for a reader that stalls.
fn rest() -> Box<dyn FnMut() + Send> {
    let mut stalls = false;
    Box::new(move || {
        let patience = if stalls { Duration::ZERO } else { PATIENCE };
        stalls = !logging::catch_up(patience);
    })
}

/// One who follows does not end for want of a reader.
fn say(context: &Context, args: &TranscriptTailArgs, metrics: Option<&MetricsDoor>) {
    let paths: Vec<String> = args.paths.iter().map(|path| path.display().to_string()).collect();
    let at = metrics.map(|door| format!("http://{}/metrics", door.address()));
    let printed = match context.output.json {
        true => context
            .output
            .value(&serde_json::json!({"following": paths, "metrics": at})),
        false => {
            let shown = at.map_or_else(String::new, |at| format!("; metrics at {at}"));
            let text = format!("transcript: following {}{shown}", paths.join(", "));
            context.output.line(&text)
        }
    };
    if printed.is_err() {
        tracing::warn!("standard output cannot be written");
    }
}
