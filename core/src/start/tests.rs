//! What a start does with keys that are gone.

use std::{ffi::OsString, fs};

use super::*;

async fn start(dir: &Path, accept_lost_keys: bool) -> Result<Core, StartError> {
    let config = CoreConfig {
        accept_lost_keys,
        ..CoreConfig::new(dir)
    };
    Core::start(config, Clock::system()).await
}

async fn starts(dir: &Path, accept_lost_keys: bool) {
    start(dir, accept_lost_keys).await.unwrap().shutdown().await;
}

fn files(dir: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(dir.join("keys")).into_iter().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

fn remove(dir: &Path, prefix: &str) {
    for name in files(dir) {
        if name.to_string_lossy().starts_with(prefix) {
            fs::remove_file(dir.join("keys").join(name)).unwrap();
        }
    }
}

#[tokio::test]
async fn a_lost_key_keeps_the_gateway_from_starting_and_is_not_replaced() {
    for gone in ["root-", "gateway.ed25519", ""] {
        let dir = tempfile::tempdir().unwrap();
        starts(dir.path(), false).await;
        remove(dir.path(), gone);
        if gone.is_empty() {
            fs::remove_dir(dir.path().join("keys")).unwrap();
        }
        let left = files(dir.path());
        for _ in 0..2 {
            let told = start(dir.path(), false).await.unwrap_err().to_string();
            assert!(
                told.contains(gone) && told.contains("restore the folder from its backup"),
                "{told}"
            );
            assert!(told.contains("accept_lost_keys"), "{told}");
        }
        assert_eq!(files(dir.path()), left, "nothing was made");
    }
}

#[tokio::test]
async fn an_accepted_loss_is_asked_about_once_and_the_next_loss_anew() {
    let dir = tempfile::tempdir().unwrap();
    starts(dir.path(), false).await;
    remove(dir.path(), "");
    starts(dir.path(), true).await;
    // The first rows are those of the lost root for ever.
    let core = start(dir.path(), false).await.unwrap();
    // A row sealed with the new root, so that losing it is a loss.
    drop(core.built_in_host("here", false).await.unwrap());
    core.shutdown().await;
    let newest = files(dir.path());
    let newest = newest
        .iter()
        .filter_map(|name| name.to_str())
        .find(|name| name.ends_with(".key"));
    fs::remove_file(dir.path().join("keys").join(newest.unwrap())).unwrap();
    start(dir.path(), false).await.unwrap_err();
}

#[tokio::test]
async fn restored_keys_are_taken_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    starts(dir.path(), false).await;
    let (keys, backup) = (dir.path().join("keys"), dir.path().join("backup"));
    fs::rename(&keys, &backup).unwrap();
    start(dir.path(), false).await.unwrap_err();
    fs::rename(&backup, &keys).unwrap();
    starts(dir.path(), false).await;
}
