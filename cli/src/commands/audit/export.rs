//! `audit export`: the record as lines, to a file or to standard output; or with all that proves it, to a folder.

mod folder;
mod pieces;

use std::{
    fs::{File, OpenOptions},
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use toolgate_core::audit::export::{Format, Line, Link};

use self::pieces::Pieces;
use crate::{
    args::{ExportArgs, RecordFormat},
    client::Gateway,
    commands::Context,
    failure::{Exit, Failure},
};

const ROWS: &str = "/api/audit/export";

/// Runs the command.
pub(super) async fn run(context: &Context, args: &ExportArgs) -> Result<Exit, Failure> {
    let gateway = context.gateway()?;
    let format = match args.format {
        RecordFormat::Ndjson => Format::Ndjson,
        RecordFormat::Csv => Format::Csv,
    };
    let after = args.begins_after();
    if let Some(dir) = &args.out {
        return folder::run(&gateway, context.output, dir, format, after).await;
    }
    let rows = rows(&gateway, after.unwrap_or(0)).await?;
    match &args.output {
        None => copy(rows, format, |piece| context.output.raw(piece))
            .await
            .map(|_| Exit::Done),
        Some(path) => to_file(rows, format, path).await,
    }
}

/// The gateway's export of what comes after a place.
async fn rows(gateway: &Gateway, after: u64) -> Result<Pieces<'_>, Failure> {
    let query = if after > 0 {
        vec![("afterSeq", after.to_string())]
    } else {
        Vec::new()
    };
    Ok(Pieces::new(gateway, gateway.stream(ROWS, &query).await?))
}

// A file of the final name is always whole: the pieces go to a neighbour first. A device or a pipe is written as it is.
async fn to_file(rows: Pieces<'_>, format: Format, path: &Path) -> Result<Exit, Failure> {
    let broken =
        |error: std::io::Error| Failure::failed(format!("{} cannot be written: {error}", path.display()));
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        let mut file = OpenOptions::new().write(true).open(path).map_err(broken)?;
        let write = |piece: &[u8]| file.write_all(piece).map_err(broken);
        return copy(rows, format, write).await.map(|_| Exit::Done);
    }
    let partial = PathBuf::from(format!("{}.partial", path.display()));
    let mut file = create(&partial).map_err(broken)?;
    let copied = copy(rows, format, |piece| file.write_all(piece).map_err(broken)).await;
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
    mut rows: Pieces<'_>,
    format: Format,
    mut write: impl FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<usize, Failure> {
    let mut lines = 0;
    let mut turned = Turned::new(format);
    write(format.header().as_bytes())?;
    while let Some(piece) = rows.next().await? {
        lines += piece.iter().filter(|byte| **byte == b'\n').count();
        match format {
            Format::Ndjson => write(&piece)?,
            Format::Csv => write(turned.piece(&piece)?)?,
        }
    }
    turned.end()?;
    Ok(lines)
}

/// Turns the gateway's lines into those of another format.
struct Turned {
    format: Format,
    rest: Vec<u8>,
    line: Line,
    out: Vec<u8>,
}

impl Turned {
    fn new(format: Format) -> Self {
        Self {
            format,
            rest: Vec::new(),
            line: Line::default(),
            out: Vec::new(),
        }
    }

    fn piece(&mut self, piece: &[u8]) -> Result<&[u8], Failure> {
        self.out.clear();
        self.rest.extend_from_slice(piece);
        let whole = self
            .rest
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        for text in self.rest[..whole].split_inclusive(|byte| *byte == b'\n') {
            let link = Link::of(Format::Ndjson, text).map_err(foreign)?;
            self.line
                .read(Format::Ndjson, link.tenant, text)
                .map_err(foreign)?;
            self.format.write(&mut self.out, link.tenant, &self.line.row());
        }
        self.rest.drain(..whole);
        Ok(&self.out)
    }

    fn end(self) -> Result<(), Failure> {
        match self.rest.is_empty() {
            true => Ok(()),
            false => Err(foreign("its last line was cut short")),
        }
    }
}

fn foreign(why: impl std::fmt::Display) -> Failure {
    Failure::failed(format!("the gateway's export cannot be read: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::fake::{Fake, cut, events};

    async fn export(answer: String) -> (bool, Vec<String>) {
        let fake = Fake::answering([("GET /api/audit/export ", answer)]).await;
        let dir = tempfile::tempdir().unwrap();
        let rows = rows(&fake.gateway, 0).await.unwrap();
        let exported = to_file(rows, Format::Ndjson, &dir.path().join("record.ndjson")).await;
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
    async fn a_device_is_written_and_not_replaced() {
        use std::os::unix::fs::FileTypeExt;

        let fake = Fake::answering([("GET /api/audit/export ", events("{}\n"))]).await;
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("device");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        let rows = rows(&fake.gateway, 0).await.unwrap();
        assert_eq!(to_file(rows, Format::Ndjson, &link).await.unwrap(), Exit::Done);
        assert!(std::fs::metadata(&link).unwrap().file_type().is_char_device());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[tokio::test]
    async fn an_export_that_breaks_off_leaves_no_file() {
        assert_eq!(export(cut("{}\n")).await, (false, vec![]));
    }

    #[test]
    fn what_is_no_row_is_not_turned_into_another_format() {
        let mut turned = Turned::new(Format::Csv);
        assert!(turned.piece(b"{}\n").is_err());
        let mut turned = Turned::new(Format::Csv);
        assert_eq!(turned.piece(b"{\"seq\":").unwrap(), b"");
        assert!(turned.end().is_err());
    }
}
