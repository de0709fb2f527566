//! The repository as files: found once here, so that no check has its own idea of what belongs to it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use serde_json::Value;

/// The folder that holds everything.
pub(super) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests stands in the root")
}

/// Every file of the project as (path from the root, text), build output and version control left out.
pub(super) fn texts() -> &'static [(String, String)] {
    static TEXTS: OnceLock<Vec<(String, String)>> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let mut paths = Vec::new();
        walk(root(), &mut paths);
        paths.sort();
        paths
            .into_iter()
            .filter_map(|path| {
                let text = fs::read_to_string(&path).ok()?;
                let name = path.strip_prefix(root()).ok()?.to_string_lossy().into_owned();
                Some((name, text))
            })
            .collect()
    })
}

/// The Rust sources below a folder.
pub(super) fn sources(folder: &'static str) -> impl Iterator<Item = &'static (String, String)> {
    texts()
        .iter()
        .filter(move |(path, _)| path.starts_with(folder) && path.ends_with(".rs"))
}

/// What cargo tells of the workspace, resolved for this machine when `whole` is set, else the members only.
pub(super) fn cargo_metadata(whole: bool) -> Value {
    let mut command = Command::new(env!("CARGO"));
    command
        .current_dir(root())
        .args(["metadata", "--format-version", "1", "--locked"]);
    if whole {
        command.args(["--filter-platform", "x86_64-unknown-linux-gnu"]);
    } else {
        command.arg("--no-deps");
    }
    let output = command.output().expect("cargo runs");
    assert!(
        output.status.success(),
        "cargo metadata: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("cargo prints JSON")
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if path.is_dir() {
            let built = name == "target" || name == "toolgate-data" || name == ".git";
            if !built && !path.join("CACHEDIR.TAG").exists() {
                walk(&path, found);
            }
        } else if name != ".git" {
            found.push(path);
        }
    }
}
