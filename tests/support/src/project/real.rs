//! The real relay of a project, as a child process beside a real server.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tokio::process::{Child, Command};

use crate::{Caller, McpClient, Revision, binary, until};

/// What the relay stands beside.
#[derive(Debug, Clone, Copy)]
pub enum Beside<'a> {
    /// A command that the relay starts, speaking on standard input and output.
    Command(&'a [String]),
    /// A server that listens.
    Url(&'a str),
}

/// A running relay. Dropping it kills it.
#[derive(Debug)]
pub struct RealProject {
    child: Child,
    log: PathBuf,
}

impl RealProject {
    /// `toolgate relay project`, enrolled with a one-time token, its state and log in `folder`.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(
        gateway: &str,
        name: &str,
        token: Option<&str>,
        folder: &Path,
        beside: Beside<'_>,
    ) -> Result<Self, String> {
        Self::start_with(gateway, name, token, folder, beside, &[])
    }

    /// The same with further arguments.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start_with(
        gateway: &str,
        name: &str,
        token: Option<&str>,
        folder: &Path,
        beside: Beside<'_>,
        extra: &[&str],
    ) -> Result<Self, String> {
        let log = folder.join(format!("{name}.log"));
        let logged = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&log)
            .map_err(|error| error.to_string())?;
        let mut command = Command::new(binary());
        command.args([
            "relay",
            "project",
            "--gateway",
            gateway,
            "--name",
            name,
            "--allow-root",
        ]);
        command
            .arg("--data-dir")
            .arg(folder.join(format!("{name}-relay")));
        if let Some(token) = token {
            command.args(["--token", token]);
        }
        command.args(extra);
        match beside {
            Beside::Command(words) => command.arg("--").args(words),
            Beside::Url(url) => command.args(["--url", url]),
        };
        let child = command
            .env_clear()
            .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
            .env("HOME", folder)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::from(logged))
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| error.to_string())?;
        Ok(Self { child, log })
    }

    /// Waits until a client of the pipe is answered.
    ///
    /// # Errors
    /// When none is within half a minute; the text holds what the relay logged.
    pub async fn up(&self, caller: &Caller, name: &str) -> Result<(), String> {
        let path = format!("/mcp/project/{name}");
        let answered = until(Duration::from_secs(30), || async {
            let client = McpClient::open(caller, &path, Revision::November2025).await;
            client.hello().result().is_some().then_some(())
        });
        answered
            .await
            .ok_or_else(|| format!("{name} did not come up: {}", self.log()))
    }

    /// The process id.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Ends it as a power cut would.
    pub async fn kill9(&mut self) {
        let _ = self.child.kill().await;
    }

    /// What it logged.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}
