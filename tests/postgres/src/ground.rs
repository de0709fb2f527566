//! The folder that all servers of this process live in, the cluster they are copied from, and the watch that removes
//! both.
//!
//! The watch is a shell that waits for the end of a pipe which this process holds: however the process ends, also by
//! SIGKILL, the pipe ends with it. Then every server in the folder is ended, its disks are unmounted and the folder is
//! removed.

use std::{
    fs, io,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use crate::binaries::{Binaries, NOBODY, is_root};

/// Ends what lives in the folder `$1` once nobody writes to standard input any more. Servers that were stopped must go
/// on to be ended; SIGQUIT lets a server give its shared memory back, SIGKILL is for what does not hear.
const WATCH: &str = r#"
cat >/dev/null
processes() {
  for process in /proc/[0-9]*; do
    case "$(readlink "$process/cwd" 2>/dev/null)" in "$1"/*) echo "${process#/proc/}" ;; esac
  done
}
for pid in $(processes "$1"); do kill -CONT "$pid"; kill -QUIT "$pid"; done 2>/dev/null
for try in 1 2 3 4 5 6 7 8 9 10; do
  [ -z "$(processes "$1")" ] && break
  sleep 0.2
done
for pid in $(processes "$1"); do kill -KILL "$pid"; done 2>/dev/null
sed -n "s|^[^ ]* \($1/[^ ]*\) tmpfs .*|\1|p" /proc/mounts | while read -r disk; do umount -l "$disk"; done 2>/dev/null
rm -rf "$1"
"#;

/// The ground of this process.
#[derive(Debug)]
pub(crate) struct Ground {
    /// The programs.
    pub(crate) binaries: Binaries,
    folder: PathBuf,
    made: AtomicU32,
    /// Never read: while this process lives, its standard input is open.
    _watch: Child,
}

impl Ground {
    /// The one of this process, made at first use.
    pub(crate) fn get() -> Result<&'static Self, String> {
        static GROUND: OnceLock<Result<Ground, String>> = OnceLock::new();
        GROUND.get_or_init(Self::make).as_ref().map_err(Clone::clone)
    }

    fn make() -> Result<Self, String> {
        let binaries = Binaries::found()?;
        let folder = folder().map_err(|error| format!("no folder for PostgreSQL: {error}"))?;
        let watch = watch(&folder).map_err(|error| format!("no watch over PostgreSQL: {error}"))?;
        let ground = Self {
            binaries,
            folder,
            made: AtomicU32::new(0),
            _watch: watch,
        };
        ground.init()?;
        Ok(ground)
    }

    /// Makes the cluster that all others are copies of.
    fn init(&self) -> Result<(), String> {
        let mut command = self.binaries.command("initdb");
        command
            .args([
                "--username=postgres",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
            ])
            .args(["--no-sync", "--no-instructions", "--pgdata"])
            .arg(self.template());
        succeed(&mut command)
    }

    /// A name for one more folder.
    pub(crate) fn new_folder(&self, what: &str) -> Result<PathBuf, String> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(format!("{what}-{number}"));
        fs::create_dir(&path)
            .and_then(|()| own(&path, 0o700))
            .map_err(|error| format!("{} cannot be made: {error}", path.display()))?;
        Ok(path)
    }

    /// Fills the folder with a copy of the cluster.
    pub(crate) fn copy_into(&self, folder: &Path) -> Result<(), String> {
        let mut command = Command::new("cp");
        command
            .args(["--archive", "--reflink=auto", "--"])
            .arg(self.template().join("."))
            .arg(folder);
        succeed(&mut command)
    }

    fn template(&self) -> PathBuf {
        self.folder.join("template")
    }
}

/// Runs a command to its end.
pub(crate) fn succeed(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{name} cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(format!("{name}: {told}"))
}

/// Gives a folder to the server's user.
pub(crate) fn own(folder: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(mode))?;
    if is_root() {
        std::os::unix::fs::chown(folder, Some(NOBODY), Some(NOBODY))?;
    }
    Ok(())
}

fn folder() -> io::Result<PathBuf> {
    // A short path without surprises: the watch finds mounts and processes by it.
    let folder = tempfile::Builder::new()
        .prefix("toolgate-postgres-")
        .tempdir()?
        .keep()
        .canonicalize()?;
    own(&folder, 0o711)?;
    Ok(folder)
}

/// In a process group of its own, so that what ends the test does not end the watch.
fn watch(folder: &Path) -> io::Result<Child> {
    Command::new("sh")
        .args(["-c", WATCH, "watch"])
        .arg(folder)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
}
