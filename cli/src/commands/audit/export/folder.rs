//! `audit export --out DIR`: rows, checkpoints, keys and manifest, so that the export can be verified anywhere.
//!
//! Rows first, then what the gateway signed about them. It signs once more for that, and what was written meanwhile
//! belongs to the export as far as that newest checkpoint goes; so every row of it is covered.

use std::{io::IsTerminal, path::Path, time::Duration};

use indicatif::ProgressBar;
use toolgate_core::{
    audit::export::Format,
    clock::Clock,
    proof::{Folder, FolderError, Manifest},
    rfc3339,
};

use super::{Pieces, rows};
use crate::{
    client::Gateway,
    failure::{Exit, Failure},
    output::Output,
};

const EVIDENCE: &str = "/api/audit/checkpoints";
const TICK: Duration = Duration::from_millis(200);

/// Runs the command.
pub(super) async fn run(
    gateway: &Gateway,
    output: Output,
    dir: &Path,
    format: Format,
    after: Option<u64>,
) -> Result<Exit, Failure> {
    let progress = Progress::new();
    let mut folder = open(dir, format).await?;
    let begin = begin(&folder, after)?;
    take_rows(gateway, &mut folder, begin, i64::MAX, &progress).await?;
    folder.end_of_rows().map_err(failed)?;
    let Some(first) = folder.first_seq() else {
        return Err(failed(FolderError::Nothing));
    };
    take_evidence(gateway, &mut folder, first.saturating_sub(1)).await?;
    let covered = folder.end_of_evidence().map_err(failed)?.unwrap_or(0);
    let last = last_of(&folder);
    if covered > last {
        take_rows(gateway, &mut folder, place(last), covered, &progress).await?;
        folder.end_of_rows().map_err(failed)?;
    }
    let last = last_of(&folder);
    let now = rfc3339::format(Clock::system().wall_us());
    let manifest = folder
        .finish(now, format!("toolgate {}", env!("CARGO_PKG_VERSION")))
        .map_err(failed)?;
    progress.end();
    tell(output, dir, &manifest)?;
    ended(covered, last)
}

// Reads what an earlier run left, which may be much.
async fn open(dir: &Path, format: Format) -> Result<Folder, Failure> {
    let dir = dir.to_owned();
    let opened = tokio::task::spawn_blocking(move || Folder::open(&dir, format)).await;
    opened
        .map_err(|error| Failure::failed(error.to_string()))?
        .map_err(failed)
}

/// The place after which the gateway begins.
fn begin(folder: &Folder, after: Option<u64>) -> Result<u64, Failure> {
    let (Some(last), Some(first)) = (folder.last(), folder.first_seq()) else {
        return Ok(after.unwrap_or(0));
    };
    let differs = after.is_some_and(|after| after != place(first.saturating_sub(1)));
    if differs {
        return Err(
            Failure::usage(format!("the export in this folder begins with row {first}"))
                .next("leave --from-seq and --after away to go on with it, or export into another folder"),
        );
    }
    // The last row is asked for again: it shows that the record goes on where the export ends.
    Ok(place(last.seq.saturating_sub(1)))
}

async fn take_rows(
    gateway: &Gateway,
    folder: &mut Folder,
    after: u64,
    through: i64,
    progress: &Progress,
) -> Result<(), Failure> {
    let mut pieces = rows(gateway, after).await?;
    while let Some(piece) = pieces.next().await? {
        folder.take_rows(&piece, through).map_err(failed)?;
        progress.tell(folder.count());
        if last_of(folder) >= through {
            // The rest is of a later time than the checkpoint.
            folder.drop_rest();
            break;
        }
    }
    Ok(())
}

async fn take_evidence(gateway: &Gateway, folder: &mut Folder, after: i64) -> Result<(), Failure> {
    let query = [("afterSeq", after.to_string())];
    let mut pieces = Pieces::new(gateway, gateway.stream(EVIDENCE, &query).await?);
    while let Some(piece) = pieces.next().await? {
        folder.take_evidence(&piece).map_err(failed)?;
    }
    Ok(())
}

fn tell(output: Output, dir: &Path, manifest: &Manifest) -> Result<(), Failure> {
    if output.json {
        let value = serde_json::to_value(manifest).map_err(|error| Failure::failed(error.to_string()))?;
        return output.value(&value);
    }
    eprintln!(
        "{} rows, {} to {}, written to {}",
        manifest.count,
        manifest.first_seq,
        manifest.last_seq,
        dir.display()
    );
    eprintln!("verify it with: toolgate audit verify --export {}", dir.display());
    Ok(())
}

fn ended(covered: i64, last: i64) -> Result<Exit, Failure> {
    if covered > last {
        return Err(Failure::new(
            Exit::NotIntact,
            format!("the gateway vouched for row {covered}, and its record ends with row {last}: its end was cut off"),
        )
        .next("keep this export, and run `toolgate audit verify`"));
    }
    if covered < last {
        return Err(Failure::failed(format!(
            "the gateway signed for the rows up to {covered} only, so nothing proves those up to {last}"
        ))
        .next("the gateway's log says why it does not sign; then run the export again"));
    }
    Ok(Exit::Done)
}

fn failed(error: FolderError) -> Failure {
    match error.is_finding() {
        true => Failure::new(Exit::NotIntact, error.to_string()),
        false => Failure::failed(error.to_string()),
    }
}

fn last_of(folder: &Folder) -> i64 {
    folder.last().map_or(0, |last| last.seq)
}

fn place(seq: i64) -> u64 {
    u64::try_from(seq).unwrap_or(0)
}

/// Rows so far, on a terminal.
struct Progress(Option<ProgressBar>);

impl Progress {
    fn new() -> Self {
        Self(std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            bar.enable_steady_tick(TICK);
            bar
        }))
    }

    fn tell(&self, rows: i64) {
        if let Some(bar) = &self.0 {
            bar.set_message(format!("{rows} rows"));
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_gateway_did_not_vouch_for_is_told() {
        assert_eq!(ended(9, 9).unwrap(), Exit::Done);
        assert_eq!(ended(9, 7).unwrap_err().exit, Exit::NotIntact);
        assert_eq!(ended(7, 9).unwrap_err().exit, Exit::Failed);
    }
}
