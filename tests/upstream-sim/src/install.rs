//! Where `fakepve` is; it is installed below `target/` when it is not there yet.

use std::{io, path::PathBuf};

use tokio::process::Command;
use toolgate_upstream_sim::proxmox;

/// The release that the front is written for.
const PACKAGE: &str = "fakepve[crypto]==0.5.0";

pub(crate) async fn fakepve() -> io::Result<PathBuf> {
    if let Some(program) = proxmox::program() {
        return Ok(program);
    }
    let place = proxmox::folder();
    println!("installing fakepve into target/test-tools/fakepve (once; needs python3 and the network) …");
    run(Command::new("python3").args(["-m", "venv"]).arg(&place)).await?;
    let pip = place.join("bin/pip");
    run(Command::new(pip).args(["install", "--quiet", "--disable-pip-version-check", PACKAGE])).await?;
    Ok(place.join("bin/fakepve"))
}

async fn run(command: &mut Command) -> io::Result<()> {
    let program = command.as_std().get_program().to_string_lossy().into_owned();
    let ended = command
        .status()
        .await
        .map_err(|error| io::Error::other(format!("{program}: {error}")))?;
    match ended.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("{program} failed, {ended}"))),
    }
}
