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

    /// The processes below it whose command line holds a word; none once the relay itself is gone.
    #[must_use]
    pub fn below(&self, word: &str) -> Vec<u32> {
        let parents: Vec<(u32, u32)> = processes().filter_map(|pid| Some((pid, parent(pid)?))).collect();
        let mut found: Vec<u32> = self.pid().into_iter().collect();
        let mut next = 0;
        while let Some(&pid) = found.get(next) {
            found.extend(
                parents
                    .iter()
                    .filter(|(_, parent)| *parent == pid)
                    .map(|(pid, _)| pid),
            );
            next += 1;
        }
        found.retain(|pid| Some(*pid) != self.pid() && command_line(*pid).contains(word));
        found
    }

    /// What it logged.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

/// Whether a process is there and no zombie.
#[must_use]
pub fn lives(pid: u32) -> bool {
    state(pid).is_some_and(|state| state != "Z")
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Behind the name, which may hold anything, stand the state and the parent.
fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn state(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(stat.rsplit_once(')')?.1.split_whitespace().next()?.to_owned())
}

fn command_line(pid: u32) -> String {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&words).replace('\0', " ")
}
