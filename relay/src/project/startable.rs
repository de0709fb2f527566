//! Whether a program is there to be started: asked before a guard is, so that its absence is known as such.
//!
//! Looks where `execvp` would. May read the file system and `PATH`; starts nothing.

use std::{
    ffi::OsStr,
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// Where programs are when no `PATH` is given.
const USUAL: &str = "/bin:/usr/bin";

/// An error where the program cannot be started.
pub(crate) fn check(program: &OsStr) -> io::Result<()> {
    among(program, &places())
}

#[allow(
    clippy::disallowed_methods,
    reason = "the program will be looked up there by the system, not by a setting"
)]
fn places() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| USUAL.into());
    std::env::split_paths(&path).collect()
}

fn among(program: &OsStr, places: &[PathBuf]) -> io::Result<()> {
    if program.as_encoded_bytes().contains(&b'/') {
        return may_run(Path::new(program));
    }
    let mut why = io::Error::new(io::ErrorKind::NotFound, "there is no such program in PATH");
    for place in places {
        match may_run(&place.join(program)) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => why = error,
            Err(_) => {}
        }
    }
    Err(why)
}

fn may_run(path: &Path) -> io::Result<()> {
    let meta = path.metadata().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => io::Error::new(error.kind(), "there is no such file"),
        _ => error,
    })?;
    if meta.is_file() && meta.permissions().mode() & 0o111 != 0 {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        "it is no file that may be run",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is(program: &str, wanted: Result<(), io::ErrorKind>) {
        let dir = tempfile::tempdir().expect("a directory");
        for (name, mode) in [("tool", 0o755), ("text", 0o644)] {
            let path = dir.path().join(name);
            std::fs::write(&path, "").expect("writes");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("chmod");
        }
        let program = program.replace("DIR", &dir.path().display().to_string());
        let found = among(program.as_ref(), &["/no/such/place".into(), dir.path().into()]);
        assert_eq!(found.map_err(|error| error.kind()), wanted, "{program}");
    }

    #[test]
    fn a_program_is_there_or_it_is_said_why_not() {
        is("tool", Ok(()));
        is("DIR/tool", Ok(()));
        is("nosuchserver", Err(io::ErrorKind::NotFound));
        is("DIR/nosuchserver", Err(io::ErrorKind::NotFound));
        is("text", Err(io::ErrorKind::PermissionDenied));
        is("DIR/text", Err(io::ErrorKind::PermissionDenied));
        is("DIR", Err(io::ErrorKind::PermissionDenied));
    }
}
