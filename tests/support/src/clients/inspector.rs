//! The MCP Inspector from the command line.

use serde_json::Value;

use super::{Clients, finish};

/// What the Inspector made of one request.
#[derive(Debug)]
pub struct Inspected {
    /// Its exit code: 6 when `--strict` finds fault with a schema.
    pub code: Option<i32>,
    /// What it printed, null when that is no JSON.
    pub answer: Value,
    /// What it complained of.
    pub complaint: String,
}

impl Clients {
    /// One request of one era, `legacy` or `modern`.
    ///
    /// # Errors
    /// When it did not end.
    pub async fn inspect(
        &self,
        era: &str,
        target: &[&str],
        token: &str,
        request: &[&str],
    ) -> Result<Inspected, String> {
        let mut command = self.command(&self.places.node());
        command.arg(self.places.inspector()).arg("--cli");
        if target.first().is_some_and(|word| word.starts_with("http")) {
            command.args(["--transport", "http", "--header"]);
            command.arg(format!("Authorization: Bearer {token}"));
        } else {
            command.args(["--transport", "stdio", "-e"]);
            command.arg(format!("TOOLGATE_TOKEN={token}"));
        }
        command
            .args(["--protocol-era", era, "--format", "json"])
            .args(request)
            .arg("--")
            .args(target);
        let output = finish(command).await?;
        let said = String::from_utf8_lossy(&output.stdout);
        Ok(Inspected {
            code: output.status.code(),
            answer: serde_json::from_str(&said).unwrap_or_default(),
            complaint: format!("{said}{}", String::from_utf8_lossy(&output.stderr)),
        })
    }
}
