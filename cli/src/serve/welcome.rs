//! What `up` prints when it is up: addresses, the way in, and a line to paste.
//!
//! Pure text. The token is printed at the first start only; every other line reads it from its file, so that it stays
//! out of the shell's history.

use std::{net::SocketAddr, path::PathBuf};

use serde_json::{Value, json};

use crate::commands::sign_in::link;

/// Everything the text tells.
#[derive(Debug)]
pub(super) struct Welcome {
    /// Base URL of REST, SSE and uplinks.
    pub(super) rest: String,
    /// Where gRPC is.
    pub(super) grpc: SocketAddr,
    /// TLS ends here.
    pub(super) tls: bool,
    /// Certificate that curl has to be told, if any.
    pub(super) certificate: Option<PathBuf>,
    /// The data directory, absolute.
    pub(super) data_dir: PathBuf,
    /// What the first start made: admin token and sign-in code.
    pub(super) first: Option<(String, String)>,
    /// This very host.
    pub(super) host: Host,
    /// Flags that client commands need to find this gateway; empty where everything is as by default.
    pub(super) client_flags: String,
    /// Milliseconds since the start of the process's work.
    pub(super) took_ms: u128,
}

/// This very host as a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Host {
    /// The built-in relay is off.
    Off,
    /// Connected; the id is told where several hosts must be told apart.
    Connected { name: String, target_id: Option<String> },
    /// Not connected yet, and why.
    Waiting { name: String, why: String },
}

impl Welcome {
    /// The text for people.
    pub(super) fn text(&self) -> String {
        let mut lines = vec![
            format!(
                "Toolgate {} is up ({} ms).",
                env!("CARGO_PKG_VERSION"),
                self.took_ms
            ),
            String::new(),
            format!("  REST   {}", self.rest),
            format!("  gRPC   {}", self.grpc()),
            format!("  data   {}", self.data_dir.display()),
            format!("  host   {}", self.host.text()),
        ];
        match &self.first {
            Some((token, _)) => lines.extend([
                format!("  token  {token}"),
                format!("         (admin; shown this once, kept in {})", self.token_file().display()),
                "  sign in once, within 15 minutes (the page is still to come; its API is POST /api/sign-in):".into(),
                format!("         {}", self.sign_in().unwrap_or_default()),
            ]),
            None => lines.push(format!("  token  in {}", self.token_file().display())),
        }
        lines.extend([
            String::new(),
            "Try it:".into(),
            String::new(),
            self.curl(),
            String::new(),
        ]);
        if self.host != Host::Off {
            let flags = &self.client_flags;
            lines.push(format!(
                "toolgate call ssh.run_whitelisted_command --arg command='df -h'{flags}"
            ));
        }
        lines.push(format!("toolgate doctor{}", self.client_flags));
        format!("{}\n", lines.join("\n"))
    }

    /// The same for programs.
    pub(super) fn json(&self) -> Value {
        let (state, name) = match &self.host {
            Host::Off => ("off", None),
            Host::Connected { name, .. } => ("connected", Some(name)),
            Host::Waiting { name, .. } => ("waiting", Some(name)),
        };
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "pid": std::process::id(),
            "http": self.rest,
            "grpc": self.grpc(),
            "dataDir": self.data_dir,
            "tokenFile": self.token_file(),
            "token": self.first.as_ref().map(|(token, _)| token),
            "signIn": self.sign_in(),
            "host": {"state": state, "name": name},
            "curl": self.curl(),
            "tookMs": u64::try_from(self.took_ms).unwrap_or(u64::MAX),
        })
    }

    fn grpc(&self) -> String {
        format!("{}://{}", if self.tls { "https" } else { "http" }, self.grpc)
    }

    fn token_file(&self) -> PathBuf {
        self.data_dir.join("admin-token")
    }

    fn sign_in(&self) -> Option<String> {
        self.first.as_ref().map(|(_, code)| link(&self.rest, code))
    }

    // The inner curl starts the call and names its stream, the outer one follows it.
    fn curl(&self) -> String {
        let token = shell_word(&self.token_file().display().to_string());
        let header = format!("-H \"Authorization: Bearer $(cat {token})\"");
        let trust = self.certificate.as_ref();
        let trust = trust.map_or_else(String::new, |path| {
            format!(" --cacert {}", shell_word(&path.display().to_string()))
        });
        let url = &self.rest;
        let Some(body) = self.host.call() else {
            return format!("curl -s{trust} {header} {url}/api/mcp/tools");
        };
        let invoke = format!(
            "curl -s{trust} {header} -H 'Content-Type: application/json' -d '{body}' {url}/api/mcp/invoke"
        );
        format!("curl -sN{trust} {header} \"{url}$({invoke} | grep -o '/api/mcp/stream/[0-9A-Z]*')\"")
    }
}

impl Host {
    fn text(&self) -> String {
        match self {
            Self::Off => "not a target: the built-in relay is off".into(),
            Self::Connected { name, .. } => format!("{name} is a target, through the built-in relay"),
            Self::Waiting { name, why } => format!("{name} is not connected yet: {why}"),
        }
    }

    fn call(&self) -> Option<Value> {
        let mut call = json!({"name": "ssh.run_whitelisted_command", "arguments": {"command": "uptime"}});
        match self {
            Self::Off => return None,
            Self::Connected {
                target_id: Some(id), ..
            } => call["targetId"] = json!(id),
            Self::Connected { .. } | Self::Waiting { .. } => {}
        }
        Some(call)
    }
}

/// A text as one word of the shell.
pub(super) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.into();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests;
