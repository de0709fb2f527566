//! `db migrate`: roles, schemas and tables, made where they are missing.

use std::path::Path;

use serde_json::json;
use toolgate_core::store::{
    DatabaseUrl,
    schema::{self, Migrated},
};

use super::failed;
use crate::{
    failure::{Exit, Failure},
    output::{Output, spinner::while_waiting},
};

/// A password longer than that is a mistake, such as another file.
const LONGEST: usize = 1_024;

pub(super) async fn run(
    output: Output,
    url: &DatabaseUrl,
    password_file: Option<&Path>,
) -> Result<Exit, Failure> {
    let password = password_file.map(read).transpose()?;
    let migrating = schema::migrate(url, password.as_deref());
    let done = while_waiting("migrating the database", migrating)
        .await
        .map_err(|error| failed(url, &error))?;
    let next = next_step(url, &done);
    if output.json {
        let applied: Vec<_> = done
            .applied
            .iter()
            .map(|(version, name)| json!({"version": version, "name": name}))
            .collect();
        output.value(&json!({
            "database": url.to_string(),
            "rolesCreated": done.roles,
            "applied": applied,
            "version": done.version,
            "passwordSet": done.password_set,
            "next": next,
        }))?;
        return Ok(Exit::Done);
    }
    tell(output, url, &done)?;
    output.line(&format!("next: {next}"))?;
    Ok(Exit::Done)
}

fn tell(output: Output, url: &DatabaseUrl, done: &Migrated) -> Result<(), Failure> {
    if !done.roles.is_empty() {
        output.line(&format!("roles made: {}", done.roles.join(", ")))?;
    }
    for (version, name) in &done.applied {
        output.line(&format!("applied: {version:04} {name}"))?;
    }
    if done.password_set {
        output.line("password of toolgate_app set")?;
    }
    output.line(&format!("{url} is at version {}", done.version))
}

fn next_step(url: &DatabaseUrl, done: &Migrated) -> String {
    let app = url.for_role("toolgate_app", None);
    if done.roles.iter().any(|role| role == "toolgate_app") && !done.password_set {
        return format!(
            "give toolgate_app a password (`toolgate db migrate --app-password-file FILE`) or another way in, then \
             `toolgate up --database-url {app}`"
        );
    }
    format!("toolgate up --database-url {app}")
}

/// The first line of the file.
fn read(path: &Path) -> Result<String, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("{} cannot be read: {error}", path.display())))?;
    let password = text.lines().next().unwrap_or_default();
    if password.is_empty() || password.len() > LONGEST {
        return Err(Failure::usage(format!(
            "the first line of {} must be the password, of at most {LONGEST} bytes",
            path.display()
        )));
    }
    Ok(password.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_the_first_line_of_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("password");
        std::fs::write(&path, "s3cret word\r\nmore\n").unwrap();
        assert_eq!(read(&path).unwrap(), "s3cret word");
        std::fs::write(&path, "\n").unwrap();
        assert!(read(&path).is_err());
        assert!(read(&dir.path().join("nowhere")).is_err());
    }
}
