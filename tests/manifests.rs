//! Manifests of Kubernetes, held against its schemas.

use std::path::{Path, PathBuf};

use tokio::process::Command;

/// The program that judges them.
pub(crate) struct Validator(PathBuf);

impl Validator {
    /// Where `tests/run` has put it: beside the binaries of this test, or in the folder of the sources.
    pub(crate) fn find() -> Option<Self> {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
        let binaries = toolgate_test_support::binary();
        let beside = binaries.parent().and_then(Path::parent).map(Path::to_owned);
        let places = beside.into_iter().chain([sources]);
        places
            .map(|place| place.join("test-tools/kubernetes/bin/kubernetes-validate"))
            .find(|program| program.is_file())
            .map(Self)
    }

    /// Whether every document fits, and what was told of each.
    pub(crate) async fn judge(&self, manifest: &str) -> (bool, String) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("manifest.yaml");
        std::fs::write(&file, manifest).unwrap();
        let output = Command::new(&self.0)
            .arg("--strict")
            .arg(&file)
            .output()
            .await
            .unwrap();
        let told = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        (output.status.success(), told.into_owned())
    }
}
