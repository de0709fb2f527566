//! Disks that are soon full.

use std::{
    fs::{self, File},
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    process::Command,
};

use crate::ground::{Ground, own, succeed};

/// A disk of limited size, in memory. Dropping it unmounts it.
#[derive(Debug)]
pub struct SmallDisk {
    path: PathBuf,
}

impl SmallDisk {
    /// Mounts one.
    ///
    /// # Errors
    /// Where this process may not mount: then the test reports itself as not run, with this text.
    pub fn mount(mebibytes: u32) -> Result<Self, String> {
        let path = Ground::get()?.new_folder("disk")?;
        let mut command = Command::new("mount");
        command
            .args(["-t", "tmpfs", "-o", &format!("size={mebibytes}m"), "tmpfs"])
            .arg(&path);
        succeed(&mut command).map_err(|why| format!("no disk of limited size: {why}"))?;
        let disk = Self { path };
        own(&disk.path, 0o700).map_err(|error| format!("no disk of limited size: {error}"))?;
        Ok(disk)
    }

    /// Where it is mounted.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Fills it to the last byte.
    ///
    /// # Errors
    /// When it is not fullness that stops the writing.
    pub fn fill(&self) -> Result<(), String> {
        let told = |error: std::io::Error| format!("{}: {error}", self.path.display());
        let mut file = File::options()
            .create(true)
            .append(true)
            .open(self.ballast())
            .map_err(told)?;
        let mut piece = vec![0_u8; 1 << 20];
        while !piece.is_empty() {
            match file.write_all(&piece) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::StorageFull => piece.truncate(piece.len() / 2),
                Err(error) => return Err(told(error)),
            }
        }
        Ok(())
    }

    /// Takes away what filled it.
    ///
    /// # Errors
    /// When that cannot be removed.
    pub fn free(&self) -> Result<(), String> {
        match fs::remove_file(self.ballast()) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.to_string()),
            _ => Ok(()),
        }
    }

    fn ballast(&self) -> PathBuf {
        self.path.join("ballast")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a server that has just been killed may still hold it.
        if succeed(Command::new("umount").arg("-l").arg(&self.path)).is_ok() {
            let _ = fs::remove_dir(&self.path);
        }
    }
}
