//! `audit export`: the record as NDJSON, to a file or to standard output.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use reqwest::Response;

use crate::{
    client::Gateway,
    failure::{Exit, Failure},
    output::Output,
};

const SILENCE: Duration = Duration::from_secs(60);

/// Runs the command.
pub(super) async fn run(
    gateway: &Gateway,
    output: Output,
    file: Option<&Path>,
    after: u64,
) -> Result<Exit, Failure> {
    let query = if after > 0 {
        vec![("afterSeq", after.to_string())]
    } else {
        Vec::new()
    };
    let response = gateway.stream("/api/audit/export", &query).await?;
    match file {
        None => copy(gateway, response, |piece| output.raw(piece))
            .await
            .map(|_| Exit::Done),
        Some(path) => to_file(gateway, response, path).await,
    }
}

// A file of the final name is always whole: the pieces go to a neighbour first.
async fn to_file(gateway: &Gateway, response: Response, path: &Path) -> Result<Exit, Failure> {
    let partial = PathBuf::from(format!("{}.partial", path.display()));
    let broken =
        |error: std::io::Error| Failure::failed(format!("{} cannot be written: {error}", path.display()));
    let mut file = create(&partial).map_err(broken)?;
    let copied = copy(gateway, response, |piece| file.write_all(piece).map_err(broken)).await;
    let kept = copied.and_then(|lines| {
        file.sync_all()
            .and_then(|()| std::fs::rename(&partial, path))
            .map_err(broken)?;
        Ok(lines)
    });
    match kept {
        Ok(lines) => {
            eprintln!("{lines} lines written to {}", path.display());
            Ok(Exit::Done)
        }
        Err(failure) => {
            drop(std::fs::remove_file(&partial));
            Err(failure)
        }
    }
}

fn create(path: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
}

async fn copy(
    gateway: &Gateway,
    mut response: Response,
    mut write: impl FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<usize, Failure> {
    let mut lines = 0;
    loop {
        let piece = tokio::time::timeout(SILENCE, response.chunk())
            .await
            .map_err(|_| Failure::failed("the export stopped halfway").next("run it again"))?
            .map_err(|error| gateway.unreachable(&error))?;
        let Some(piece) = piece else {
            return Ok(lines);
        };
        lines += piece.iter().filter(|byte| **byte == b'\n').count();
        write(&piece)?;
    }
}

#[cfg(test)]
mod tests {
    use super::to_file;
    use crate::client::fake::{Fake, cut, events};

    async fn export(answer: String) -> (bool, Vec<String>) {
        let fake = Fake::answering([("GET /api/audit/export ", answer)]).await;
        let dir = tempfile::tempdir().unwrap();
        let response = fake.gateway.stream("/api/audit/export", &[]).await.unwrap();
        let exported = to_file(&fake.gateway, response, &dir.path().join("record.ndjson")).await;
        let files = std::fs::read_dir(dir.path()).unwrap();
        (
            exported.is_ok(),
            files
                .map(|file| file.unwrap().file_name().into_string().unwrap())
                .collect(),
        )
    }

    #[tokio::test]
    async fn a_whole_export_has_its_final_name() {
        assert_eq!(
            export(events("{}\n{}\n")).await,
            (true, vec!["record.ndjson".into()])
        );
    }

    #[tokio::test]
    async fn an_export_that_breaks_off_leaves_no_file() {
        assert_eq!(export(cut("{}\n")).await, (false, vec![]));
    }
}
