//! Where the server's programs are, and who runs them.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use crate::not_run;

/// The unprivileged user of a server that root starts: `nobody`, known on every Linux.
pub(crate) const NOBODY: u32 = 65_534;

/// A folder with `bin`, `lib` and `share`.
#[derive(Debug, Clone)]
pub(crate) struct Binaries(PathBuf);

/// Whether there is a PostgreSQL to test with. Where there is none, says that `test` did not run.
#[must_use]
pub fn available(test: &str) -> bool {
    match missing() {
        None => true,
        Some(why) => {
            not_run(test, &why);
            false
        }
    }
}

/// Why there is no PostgreSQL to test with; `None` where there is one.
#[must_use]
pub fn missing() -> Option<String> {
    Binaries::found().err()
}

impl Binaries {
    /// Those of this machine, or why there are none.
    pub(crate) fn found() -> Result<Self, String> {
        static FOUND: OnceLock<Result<Binaries, String>> = OnceLock::new();
        FOUND.get_or_init(Self::find).clone()
    }

    fn find() -> Result<Self, String> {
        let places = places();
        let Some(folder) = places.iter().find(|place| place.join("bin/postgres").is_file()) else {
            return Err(format!(
                "no PostgreSQL in {}; tests/run puts one there, or set TOOLGATE_POSTGRES_DIR",
                places
                    .last()
                    .map(|place| place.display().to_string())
                    .unwrap_or_default()
            ));
        };
        let binaries = Self(folder.clone());
        let output = binaries
            .command("postgres")
            .arg("--version")
            .output()
            .map_err(|error| format!("{} cannot be started: {error}", folder.display()))?;
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(format!("{} cannot be run unprivileged: {told}", folder.display()));
        }
        Ok(binaries)
    }

    /// One of the programs, to be run by an unprivileged user with nothing in its environment and no terminal. Root
    /// becomes nobody by `setpriv`, which then is the program: the child is the server itself.
    pub(crate) fn command(&self, program: &str) -> Command {
        let path = self.0.join("bin").join(program);
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            command
                .arg(format!("--reuid={NOBODY}"))
                .arg(format!("--regid={NOBODY}"))
                .arg("--clear-groups")
                .arg("--")
                .arg(path);
            command
        } else {
            Command::new(path)
        };
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
            .env("LC_ALL", "C")
            .env("LD_LIBRARY_PATH", self.0.join("lib"))
            .current_dir("/")
            .stdin(Stdio::null());
        command
    }
}

/// Whether this process is root, which PostgreSQL refuses to run as.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Where to look, most wanted first.
#[allow(
    clippy::disallowed_methods,
    reason = "set by tests/run for its tests, no configuration"
)]
fn places() -> Vec<PathBuf> {
    if let Some(given) = std::env::var_os("TOOLGATE_POSTGRES_DIR") {
        return vec![PathBuf::from(given)];
    }
    let tools = |folder: &Path| folder.join("test-tools/postgres");
    // A test stands in <target>/<profile>/deps.
    let own = std::env::current_exe().unwrap_or_default();
    let mut places: Vec<PathBuf> = own.ancestors().skip(2).take(2).map(tools).collect();
    places.push(tools(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target")));
    places
}
