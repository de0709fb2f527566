//! The six commands against a real systemd, booted in namespaces, through a real relay that runs as root and its
//! commands that do not.
//!
//! Wants root, unshare and a systemd on the machine. Where one is missing the test says so and counts as not run.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

#[path = "harness/gateway.rs"]
mod gateway;

use gateway::Gateway;

const INSIDE: &str = "inside_the_namespaces_every_command_tells_of_the_real_systemd";

#[test]
fn every_command_tells_of_a_real_systemd() {
    let dir = tempfile::tempdir().expect("a directory");
    let Some(booted) = Booted::start(dir.path()) else {
        not_run();
        return;
    };
    booted.run(&["systemctl", "start", "dbus.socket", "toolgate-demo.service"]);
    // It fails, which is the point.
    booted.run(&["systemctl", "start", "toolgate-failed.service"]);
    let output = booted.output(&[
        "/carry/test",
        "--exact",
        INSIDE,
        "--include-ignored",
        "--nocapture",
    ]);
    let told =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.contains("1 passed"), "{told}");
}

/// Says so, and leaves a note for `tests/run`, which counts it as not run.
#[allow(
    clippy::disallowed_methods,
    reason = "set by tests/run for its tests, no configuration"
)]
fn not_run() {
    let why = "systemd cannot be booted in namespaces here (root, unshare and systemd are wanted)";
    eprintln!("NOT RUN: {why}");
    if let Some(folder) = std::env::var_os("TOOLGATE_NOT_RUN_DIR") {
        let note = PathBuf::from(folder).join("every_command_tells_of_a_real_systemd");
        fs::write(note, format!("{why}\n")).expect("a note is written");
    }
}

/// A systemd that ends with this value.
struct Booted {
    unshare: Child,
    init: u32,
}

impl Booted {
    fn start(dir: &Path) -> Option<Self> {
        let known = |path: &str| Path::new(path).exists();
        if !rustix::process::geteuid().is_root()
            || !known("/lib/systemd/systemd")
            || !known("/usr/bin/unshare")
        {
            return None;
        }
        fs::create_dir(dir.join("over")).expect("a directory");
        fs::create_dir(dir.join("carry")).expect("a directory");
        fs::copy(
            std::env::current_exe().expect("this binary"),
            dir.join("carry/test"),
        )
        .expect("copies");
        fs::copy(env!("CARGO_BIN_EXE_toolgate-guard"), dir.join("carry/guard")).expect("copies");
        let boot = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/harness/boot-systemd.sh");
        let unshare = Command::new("unshare")
            .args([
                "--kill-child",
                "-f",
                "-p",
                "-m",
                "-u",
                "-i",
                "-n",
                "-C",
                "--propagation",
                "private",
                "sh",
            ])
            .args([&boot, dir])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut booted = Self { unshare, init: 0 };
        booted.wait_until_up().then_some(booted)
    }

    fn wait_until_up(&mut self) -> bool {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(30) {
            if !matches!(self.unshare.try_wait(), Ok(None)) {
                return false;
            }
            self.init = self.init();
            if self.init != 0 {
                let state = self.output(&["systemctl", "is-system-running"]).stdout;
                if matches!(state.as_slice(), b"running\n" | b"degraded\n") {
                    return true;
                }
            }
            sleep(Duration::from_millis(100));
        }
        false
    }

    /// The first process inside, as this side numbers it.
    fn init(&self) -> u32 {
        let id = self.unshare.id();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        children
            .split_ascii_whitespace()
            .next()
            .and_then(|pid| pid.parse().ok())
            .unwrap_or(0)
    }

    fn output(&self, argv: &[&str]) -> std::process::Output {
        Command::new("nsenter")
            .args(["-t", &self.init.to_string(), "-a", "-r", "-w"])
            .args(argv)
            .env("TOOLGATE_TEST_GUARD", "/carry/guard")
            .stdin(Stdio::null())
            .output()
            .expect("nsenter")
    }

    fn run(&self, argv: &[&str]) {
        self.output(argv);
    }
}

impl Drop for Booted {
    fn drop(&mut self) {
        // The kernel kills everything inside with the namespace's first process, and unshare kills that.
        let _ = self.unshare.kill();
        let _ = self.unshare.wait();
    }
}

#[tokio::test]
#[ignore = "called by the test above inside the namespaces"]
async fn inside_the_namespaces_every_command_tells_of_the_real_systemd() {
    let gateway = Gateway::start(false).await;
    let mut relay = gateway.run(Some(gateway.token()));
    relay.connected().await;
    for (command, exit_code, wanted) in [
        ("uptime", 0, "load average"),
        ("df -h", 0, "Mounted on"),
        ("free -m", 0, "Mem:"),
        ("systemctl status toolgate-demo", 0, "Active: active (running)"),
        ("systemctl status toolgate-demo.service", 0, "Demo"),
        ("systemctl status toolgate-failed", 3, "Active: failed"),
        ("systemctl status rescue", 3, "Active: inactive"),
        ("journalctl -n 500", 0, "Started toolgate-demo.service"),
        ("systemctl list-units --type=service", 0, "toolgate-demo.service"),
    ] {
        let result = gateway.ask(command).await;
        let structured = &result["structuredContent"];
        assert_eq!(structured["exit_code"], exit_code, "{command}: {result}");
        assert!(
            structured["stdout"]
                .as_str()
                .is_some_and(|text| text.contains(wanted)),
            "{command}: {result}"
        );
        assert_eq!(result["isError"], false);
        assert!(!result.to_string().contains("\\u001b"), "{command}: colours");
    }
    let unknown = gateway.ask("systemctl status no-such-unit").await;
    assert_eq!(unknown["structuredContent"]["exit_code"], 4, "{unknown}");
    assert!(
        unknown["structuredContent"]["stderr"]
            .as_str()
            .is_some_and(|text| text.contains("could not be found"))
    );
    assert!(
        unknown["content"][0]["text"]
            .as_str()
            .is_some_and(|text| text.contains("[exit code 4]"))
    );
    assert!(relay.stopped().await.is_ok());
}
