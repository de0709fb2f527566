//! What can be typed after `transcript`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use toolgate_transcript::SERVER;

/// `transcript …`.
#[derive(Debug, Subcommand)]
pub(crate) enum TranscriptCommand {
    /// Follow JSONL transcripts until told to stop
    ///
    /// Every call of a tool in them becomes a record of the log, every call of `report_internal_issue` a second one, at
    /// the level of its severity, and a count of `tatara_wrapper_internal_issue_total`, which --metrics-addr serves.
    /// Files may come later, be rotated or cut: what stands in them when they are looked at, ten times a second, is
    /// told once. SIGTERM ends it after what is there was read.
    Tail(TranscriptTailArgs),
}

/// `transcript tail`.
#[derive(Debug, Args)]
pub(crate) struct TranscriptTailArgs {
    /// Transcripts; a file that is not there yet is waited for
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Key under which `toolgate mcp` is registered with the agent
    #[arg(long, value_name = "NAME", default_value = SERVER, value_parser = server)]
    pub(crate) server: String,
    /// Leave out what stands in the files at the start
    #[arg(long)]
    pub(crate) from_end: bool,
}

// As agents write it between underscores; another name would match nothing, without a word.
fn server(text: &str) -> Result<String, String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    match (1..=64).contains(&text.len()) && text.bytes().all(fits) {
        true => Ok(text.into()),
        false => Err(
            "expected up to 64 letters, digits, - and _, as the name stands between the underscores of \
                      `mcp__NAME__report_internal_issue`"
                .into(),
        ),
    }
}
