//! A machine of its own inside this one: a booted systemd in namespaces over a throw-away root.
//!
//! Needs root, namespaces, overlayfs and a systemd binary; where one is missing, `boot` says which and the test is not
//! run. The network is this machine's, so that what runs inside can dial loopback.

use std::{io, path::Path, process::Stdio, time::Duration};

use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::{binary, until};

const BOOT: &str = include_str!("systemd/boot.sh");

/// A booted machine. Dropping it kills everything in it.
#[derive(Debug)]
pub struct Systemd {
    outer: Child,
    init: u32,
    _folder: TempDir,
}

impl Systemd {
    /// Boots one, with the `toolgate` binary in it.
    ///
    /// # Errors
    /// Why it cannot be booted here.
    pub async fn boot() -> Result<Self, String> {
        if !Path::new("/lib/systemd/systemd").exists() {
            return Err("no systemd on this machine".into());
        }
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let log = std::fs::File::create(folder.path().join("boot.log")).map_err(|error| error.to_string())?;
        let outer = Command::new("unshare")
            .args([
                "-f",
                "-p",
                "-m",
                "-u",
                "-i",
                "-C",
                "--propagation",
                "private",
                "--kill-child",
                "bash",
                "-c",
                BOOT,
            ])
            .arg("boot")
            .arg(folder.path().join("machine"))
            .arg(binary())
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(|error| error.to_string())?)
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("unshare: {error}"))?;
        let pid = outer.id().ok_or("unshare ended at once")?;
        let init = until(Duration::from_secs(5), || async { child_of(pid) }).await;
        let mut machine = Self {
            outer,
            init: init.unwrap_or_default(),
            _folder: folder,
        };
        let log = std::fs::read_to_string(machine._folder.path().join("boot.log")).unwrap_or_default();
        if machine.init == 0 {
            return Err(format!("no namespaces here: {}", log.trim()));
        }
        let running = until(Duration::from_secs(30), || machine.is_running()).await;
        if running.is_none() {
            let _ = machine.outer.kill().await;
            return Err("systemd did not come up in its namespace within 30 s".into());
        }
        Ok(machine)
    }

    /// Runs a program inside to its end.
    ///
    /// # Errors
    /// When it cannot be started.
    pub async fn run(&self, arguments: &[&str]) -> io::Result<std::process::Output> {
        self.command(arguments).output().await
    }

    /// Starts a program inside; it ends when it is dropped.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn spawn(&self, arguments: &[&str]) -> io::Result<Child> {
        self.command(arguments).spawn()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("nsenter");
        command
            .args(["-t", &self.init.to_string(), "-a", "-r", "-w", "--"])
            .args(arguments)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    async fn is_running(&self) -> Option<()> {
        let state = self.run(&["systemctl", "is-system-running"]).await.ok()?;
        let state = String::from_utf8_lossy(&state.stdout).trim().to_owned();
        matches!(state.as_str(), "running" | "degraded").then_some(())
    }
}

fn child_of(pid: u32) -> Option<u32> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}
