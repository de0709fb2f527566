//! A real browser: Debian's Chromium, driven by Playwright, with the scripts of `tests/browser`.
//!
//! `tests/run` puts the packages into `target/test-tools/browser`. A test asks [`Browser::here`], and is not run where
//! something is missing.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;
use toolgate_test_postgres::not_run;

use crate::clients::test_tools;

/// How long one walk may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(240);

/// A browser that can be sent on walks.
#[derive(Debug)]
pub struct Browser {
    packages: PathBuf,
    chromium: PathBuf,
    shots: PathBuf,
    home: TempDir,
}

/// What a walk told at its end.
#[derive(Debug)]
pub struct Walked {
    /// The sentences that were made true, in their order.
    pub steps: Vec<String>,
    /// What was measured.
    pub figures: Value,
}

impl Browser {
    /// The one on this machine; where a part is missing, says that `test` did not run.
    ///
    /// # Panics
    /// When there is no place for what it writes.
    #[must_use]
    pub fn here(test: &str) -> Option<Self> {
        match Self::find() {
            Ok(browser) => Some(browser),
            Err(why) => {
                not_run(test, &why);
                None
            }
        }
    }

    fn find() -> Result<Self, String> {
        let tools = test_tools("browser").ok_or("no target/test-tools/browser; tests/run puts it there")?;
        let chromium = [
            "/usr/bin/chromium",
            "/usr/bin/chromium-browser",
            "/usr/bin/google-chrome",
        ];
        let chromium = chromium
            .into_iter()
            .map(PathBuf::from)
            .find(|path| path.is_file());
        let shots = tools.parent().unwrap_or(&tools).join("../screenshots");
        std::fs::create_dir_all(&shots).map_err(|error| error.to_string())?;
        Ok(Self {
            chromium: chromium.ok_or("no Chromium; tests/run installs Debian's where it may")?,
            packages: tools,
            shots: shots.canonicalize().map_err(|error| error.to_string())?,
            home: tempfile::tempdir().expect("a directory"),
        })
    }

    /// Runs a script of `tests/browser` at the gateway of this URL with what else it is told.
    ///
    /// # Errors
    /// The step that did not hold, and why.
    pub async fn walk(&self, script: &str, url: &str, token: &str, more: Value) -> Result<Walked, String> {
        let mut told = json!({"url": url, "token": token, "shots": self.shots});
        if let (Some(told), Value::Object(more)) = (told.as_object_mut(), more) {
            told.extend(more);
        }
        let mut command = Command::new("node");
        command
            .arg(
                Path::new(env!("CARGO_MANIFEST_DIR"))
                    .join("../browser")
                    .join(script),
            )
            .arg(told.to_string())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
            .env("HOME", self.home.path())
            .env("BROWSER_PACKAGES", &self.packages)
            .env("MCP_PACKAGES", self.packages.with_file_name("mcp-node"))
            .env("CHROMIUM", &self.chromium)
            .current_dir(self.home.path())
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let output = tokio::time::timeout(PATIENCE, command.output())
            .await
            .map_err(|_| format!("{script} did not end within {PATIENCE:?}"))?
            .map_err(|error| format!("{script}: {error}"))?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(format!("{script}: {}: {complaint}", output.status));
        }
        let said: Value = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("{script}: {error} in {:?}: {complaint}", output.stdout))?;
        let steps = said["walked"].as_array().into_iter().flatten();
        Ok(Walked {
            steps: steps
                .filter_map(|step| step.as_str().map(str::to_owned))
                .collect(),
            figures: said["figures"].clone(),
        })
    }
}
