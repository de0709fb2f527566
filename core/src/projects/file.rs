//! Makes the projects of the first tenant what `projects.toml` says, on the record as the gateway itself.

use super::Projects;
use crate::{
    changes::By,
    error::{Error, Missing},
    targets::{Entry, Followed},
};

impl Projects {
    /// Registers, changes, enables and disables as the file says, then sets the tenant's default where the file names
    /// one.
    ///
    /// # Errors
    /// When the store cannot be written. Then nothing of it is done, or all but the default.
    pub async fn follow_file(&self, entries: Vec<Entry>, default: Option<&str>) -> Result<Followed, Error> {
        let tenant = self.changes.home_tenant().await?;
        let tenant = tenant.ok_or(Error::NotFound(Missing::Resource("tenant")))?;
        let by = By::gateway(tenant);
        let followed = self.targets.follow_file(by.clone(), entries).await?;
        if let Some(default) = default {
            self.set_default(by.clone(), Some(default)).await?;
        }
        for project in self.targets.projects(&by).await? {
            // What becomes of a changed list may be another thing now.
            self.fleet.ask_again(project.id);
        }
        Ok(followed)
    }
}
