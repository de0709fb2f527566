//! `completions` and `man`: both are written from the command line itself.

use std::path::Path;

use clap_complete::Shell;

use crate::{
    args::command,
    failure::{Exit, Failure},
    output::Output,
};

/// Completions for a shell.
pub(crate) fn completions(output: Output, shell: Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "toolgate", &mut script);
    output.raw(&script)?;
    Ok(Exit::Done)
}

/// The manual: the first page to standard output, or a page per command into a directory.
pub(crate) fn manual(output: Output, dir: Option<&Path>) -> Result<Exit, Failure> {
    let Some(dir) = dir else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command()).render(&mut page)?;
        output.raw(&page)?;
        return Ok(Exit::Done);
    };
    std::fs::create_dir_all(dir)
        .and_then(|()| clap_mangen::generate_to(command(), dir))
        .map_err(|error| Failure::failed(format!("{} cannot be written: {error}", dir.display())))?;
    Ok(Exit::Done)
}
