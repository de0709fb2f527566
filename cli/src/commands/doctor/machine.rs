//! What can be seen without asking the gateway: version, systemd, files, ports.

use std::{
    net::SocketAddr,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use super::Check;
use crate::{
    address::{self, Address, socket},
    config::Config,
    serve::owner,
};

/// Every check of this machine.
pub(super) fn look(config: &Config) -> Vec<Check> {
    let mut checks = vec![
        Check::good("version", env!("CARGO_PKG_VERSION")),
        systemd(Path::new("/run/systemd/system")),
    ];
    if config.url.is_empty() {
        checks.push(data_dir(&config.data_dir));
        let (http, grpc) = ports(config, address::read(&config.data_dir).as_ref());
        checks.push(port("http port", http));
        checks.extend(grpc.map(|grpc| port("grpc port", grpc)));
    }
    checks
}

fn systemd(running: &Path) -> Check {
    if running.is_dir() {
        return Check::good("systemd", "runs here");
    }
    let next = "nothing, unless this host is a target: systemctl and journalctl will answer with an error, the other \
                commands work";
    Check::doubtful("systemd", "does not run here", next)
}

fn data_dir(dir: &Path) -> Check {
    const NAME: &str = "data";
    let place = dir.display();
    if !dir.exists() {
        let next = "`toolgate up` makes it; give --data-dir where the gateway runs with another";
        return Check::doubtful(NAME, format!("{place} is not there"), next);
    }
    let open: Vec<String> = secrets(dir)
        .into_iter()
        .filter(|path| {
            path.metadata()
                .is_ok_and(|meta| meta.permissions().mode() & 0o077 != 0)
        })
        .map(|path| path.display().to_string())
        .collect();
    if open.is_empty() {
        return Check::good(NAME, format!("{place}, secrets closed to others"));
    }
    let next = format!(
        "chmod 600 {}; then make new keys or tokens if others may have read them",
        open.join(" ")
    );
    Check::bad(NAME, "secrets can be read by others", next)
}

fn secrets(dir: &Path) -> Vec<PathBuf> {
    let keys = std::fs::read_dir(dir.join("keys"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let mut files: Vec<PathBuf> = keys.collect();
    files.sort();
    files.extend(["admin-token", "address", "toolgate.db", "core.sock"].map(|name| dir.join(name)));
    files
}

// Those of the gateway that runs in the directory; else those where it would run.
fn ports(config: &Config, running: Option<&Address>) -> (SocketAddr, Option<SocketAddr>) {
    match running {
        Some(running) => (
            socket(&running.http).unwrap_or(config.http),
            running.grpc.as_deref().and_then(socket),
        ),
        None => (config.http, Some(config.grpc)),
    }
}

fn port(name: &'static str, address: SocketAddr) -> Check {
    match owner::of(address.port()) {
        Some(owner) => Check::good(name, format!("{address} is held by {owner}")),
        None => Check::doubtful(
            name,
            format!("nobody listens on {address}"),
            "start the gateway with `toolgate up`",
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::{super::State, data_dir, systemd};

    #[test]
    fn a_secret_that_others_can_read_is_a_fault_that_names_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let token = dir.path().join("admin-token");
        fs::write(&token, "x").unwrap();
        fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(data_dir(dir.path()).state, State::Good);

        fs::set_permissions(&token, fs::Permissions::from_mode(0o640)).unwrap();
        let check = data_dir(dir.path());
        assert_eq!(check.state, State::Bad);
        assert!(check.next.unwrap().contains("admin-token"));
    }

    #[test]
    fn what_is_not_there_is_noted_and_no_fault() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(data_dir(&dir.path().join("none")).state, State::Doubtful);
        assert_eq!(systemd(&dir.path().join("none")).state, State::Doubtful);
        assert_eq!(systemd(dir.path()).state, State::Good);
    }
}
