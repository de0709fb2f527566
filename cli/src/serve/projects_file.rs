//! `projects.toml`: read before anything starts, followed while the gateway runs.
//!
//! A file that cannot be used keeps the gateway from starting; one that becomes so is told in the log and changes nothing.
//! No file at the default place changes nothing either: what registered its projects is not what forgets them.

mod text;
mod watch;

use std::path::PathBuf;

use toolgate_core::projects::{Followed, Projects};

use self::{text::Wanted, watch::Stamp};
use crate::{
    config::{Config, Problems, problem::Problem},
    failure::Failure,
};

const NAME: &str = "projects.toml";

/// The file, as it was read.
#[derive(Debug)]
pub(super) struct ProjectsFile {
    path: PathBuf,
    seen: Option<Stamp>,
    /// What it says; `None` where there is none.
    wanted: Option<Wanted>,
}

impl ProjectsFile {
    /// Reads it, if there is one. One that the settings name must be there.
    pub(super) fn read(config: &Config) -> Result<Self, Failure> {
        let (path, must) = match &config.projects_file {
            Some(path) => (path.clone(), true),
            None => (config.data_dir.join(NAME), false),
        };
        // Before its text: what is written meanwhile is seen as another file.
        let seen = Stamp::of(&path);
        let wanted = match seen.is_some() || must {
            true => Some(text::read(&path).map_err(Problems)?),
            false => None,
        };
        Ok(Self { path, seen, wanted })
    }

    /// Makes the projects what it says.
    pub(super) async fn follow(self, projects: Projects) -> Result<Following, Failure> {
        if let Some(wanted) = &self.wanted {
            let followed = follow(&projects, wanted).await;
            let followed = followed.map_err(|error| {
                Failure::failed(format!("{} cannot be followed: {error}", self.path.display()))
            })?;
            tell(&self.path, &followed);
        }
        Ok(Following {
            path: self.path,
            seen: self.seen,
            projects,
        })
    }
}

/// The file while the gateway runs.
#[derive(Debug)]
pub(super) struct Following {
    path: PathBuf,
    seen: Option<Stamp>,
    projects: Projects,
}

async fn follow(projects: &Projects, wanted: &Wanted) -> Result<Followed, toolgate_core::error::Error> {
    projects
        .follow_file(wanted.entries.clone(), wanted.default.as_deref())
        .await
}

fn tell(path: &std::path::Path, followed: &Followed) {
    let path = path.display();
    if !followed.changed.is_empty() {
        tracing::info!(%path, projects = followed.changed.join(", "), "projects are what their file says");
    }
    for project in &followed.untouched {
        tracing::warn!(%path, project, "a project of this name was registered otherwise, and stays as it is");
    }
}

fn complain(problems: &[Problem]) {
    for Problem { place, text } in problems {
        tracing::error!(
            place,
            text,
            "the file of projects cannot be used, so nothing changes"
        );
    }
}

#[cfg(test)]
mod tests;
