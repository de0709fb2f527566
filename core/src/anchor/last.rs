//! The number and the digest of the last round, kept beside the private keys: what the checkpoint files are held against.
//!
//! Files cannot show that their own end was cut, or that all of them are gone. This can, for whoever holds the files and
//! not the keys. It is written after the files are durable, so that files may be ahead of it and never behind.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{line, root::Root, witness::Survey};

const NAME: &str = "keys/checkpoint-last";
const DRAFT: &str = "keys/checkpoint-last.new";
const KIND: &str = "last";

/// The last round of a data directory, as it is kept beside its private keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastRound {
    /// Whose record it is.
    pub(super) origin: String,
    /// Its number.
    pub(super) number: i64,
    /// [`Root::link`] of its root.
    pub(super) link: [u8; 32],
    /// The first rounds of the newest two files: older files may be moved elsewhere, these may not.
    pub(super) begins: [i64; 2],
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Wire {
    r#type: String,
    v: u8,
    origin: String,
    number: i64,
    link: String,
    begins: [i64; 2],
}

impl LastRound {
    /// Reads it; `None` where no round was ever signed. Read it before the files, which only go on.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn read(data_dir: &Path) -> Result<Option<Self>, String> {
        let mut text = String::new();
        let read = File::open(data_dir.join(NAME))
            .and_then(|file| file.take(line::LONGEST as u64).read_to_string(&mut text));
        match read {
            Ok(_) => Self::parse(&text).map(Some).ok_or_else(|| {
                format!("{NAME} was changed, so that the end of the checkpoints is not known")
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("{NAME} cannot be read: {error}")),
        }
    }

    /// Keeps it, whole or not at all.
    pub(super) fn write(&self, data_dir: &Path) -> Result<(), (PathBuf, io::Error)> {
        let path = data_dir.join(NAME);
        let written = (|| {
            let draft = data_dir.join(DRAFT);
            let mut file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o600)
                .open(&draft)?;
            file.write_all(self.to_text().as_bytes())?;
            file.sync_data()?;
            fs::rename(&draft, &path)?;
            File::open(data_dir.join("keys"))?.sync_all()
        })();
        written.map_err(|error| (path, error))
    }

    /// Says what is missing in files that were read whole.
    ///
    /// # Errors
    /// What is missing.
    pub fn check(&self, survey: &Survey, origin: &str) -> Result<(), String> {
        let first = survey.first_root.as_ref().map(|root| root.number);
        let last = survey.last_root.as_ref().map(|root| (root.number, root.link()));
        self.check_ends(first, last, origin)?;
        match survey.met {
            false => Err(format!(
                "round {} in the checkpoint files is not the one that was signed: they were replaced by others",
                self.number
            )),
            true => Ok(()),
        }
    }

    /// Says what is missing in files that begin and end with these rounds.
    pub(super) fn check_ends(
        &self,
        first: Option<i64>,
        last: Option<(i64, [u8; 32])>,
        origin: &str,
    ) -> Result<(), String> {
        let (signed, begins) = (self.number, self.begins[0]);
        if self.origin != origin {
            return Err(format!(
                "they are of the record {origin}, and the last round was signed for {}",
                self.origin
            ));
        }
        match (first, last) {
            (Some(first), _) if first > begins => Err(format!(
                "the rounds {begins} to {} are missing: the files begin with round {first}",
                first - 1
            )),
            (_, Some((last, _))) if last < signed => Err(format!(
                "the rounds {} to {signed} are missing: the files end with round {last}",
                last + 1
            )),
            (_, Some((last, link))) if last == signed && link != self.link => Err(format!(
                "their last round, {last}, is not the one that was signed"
            )),
            (Some(_), Some(_)) => Ok(()),
            _ => Err(format!(
                "the rounds up to {signed} are missing: the files hold no round at all"
            )),
        }
    }

    /// After a round: of a new file, or of the one before. Where files are missing, `begins` stays, so that it is told
    /// until somebody has dealt with it.
    pub(super) fn after(before: Option<&Self>, root: &Root, is_new_file: bool, is_whole: bool) -> Self {
        let number = root.number;
        let begins = match before.map(|before| before.begins) {
            None => [number; 2],
            Some([_, newest]) if is_new_file && is_whole => [newest, number],
            Some(begins) => begins,
        };
        Self {
            origin: root.origin.clone(),
            number,
            link: root.link(),
            begins,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let wire: Wire = line::read(text.strip_suffix('\n')?)?;
        let sound = wire.r#type == KIND && wire.v == 1 && wire.number >= 1;
        sound.then_some(())?;
        let read = Self {
            link: line::from_hex(&wire.link)?,
            origin: wire.origin,
            number: wire.number,
            begins: wire.begins,
        };
        (read.to_text() == text).then_some(read)
    }

    fn to_text(&self) -> String {
        let wire = Wire {
            r#type: KIND.into(),
            v: 1,
            origin: self.origin.clone(),
            number: self.number,
            link: line::hex(&self.link),
            begins: self.begins,
        };
        line::write(&wire) + "\n"
    }
}
