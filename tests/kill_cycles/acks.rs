//! What was acknowledged, on disk before the next call.

use std::{
    collections::BTreeMap,
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    sync::Mutex,
};

/// The file of acknowledgements.
pub(super) struct Acks {
    file: Mutex<File>,
    path: PathBuf,
}

impl Acks {
    pub(super) fn open(folder: &Path) -> Self {
        let path = folder.join("acks");
        Self {
            file: Mutex::new(File::create(&path).unwrap()),
            path,
        }
    }

    pub(super) fn keep(&self, command: &str, call: &str) {
        let mut file = self.file.lock().unwrap();
        writeln!(file, "{command}\t{call}").unwrap();
        file.sync_data().unwrap();
    }

    /// Command → call.
    pub(super) fn all(&self) -> BTreeMap<String, String> {
        let text = std::fs::read_to_string(&self.path).unwrap();
        let lines = text.lines().filter_map(|line| line.split_once('\t'));
        lines
            .map(|(command, call)| (command.to_owned(), call.to_owned()))
            .collect()
    }
}
