//! Finds programs in fixed places; the relay's own `PATH` decides nothing.

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

const PLACES: [&str; 4] = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/// The absolute path of a program, if this host has it.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    PLACES
        .iter()
        .map(|place| Path::new(place).join(program))
        .find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_by_absolute_path_or_not_at_all() {
        assert!(find("sh").expect("every host has a shell").is_absolute());
        assert_eq!(find("no-such-program-here"), None);
    }
}
