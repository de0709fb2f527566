//! Committed texts that tests hold the code to; `UPDATE=1 cargo test -p toolgate` rewrites them.

use std::{fs, path::Path};

/// Compares a text with its committed file, named from the root of the repository.
pub(crate) fn check(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
    #[allow(
        clippy::disallowed_methods,
        reason = "a switch of the tests, not of the product"
    )]
    if std::env::var_os("UPDATE").is_some() {
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir).unwrap();
        }
        fs::write(&path, text).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == text,
        "{file} is not what the code says; run `UPDATE=1 cargo test -p toolgate` and look at it"
    );
}
