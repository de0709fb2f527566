//! What `up` prints when it is up: addresses, the way in, and a line to paste.
//!
//! Pure text. The token is printed at the first start only; every other line reads it from its file, so that it stays
//! out of the shell's history.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::commands::sign_in::link;

/// Everything the text tells.
#[derive(Debug)]
pub(super) struct Welcome {
    /// Base URL of REST, SSE and uplinks, as others know it.
    pub(super) rest: String,
    /// The same as this machine can dial it.
    pub(super) bound: String,
    /// URL of gRPC.
    pub(super) grpc: String,
    /// Our certificate, absolute, where TLS ends here.
    pub(super) certificate: Option<PathBuf>,
    /// The data directory, absolute.
    pub(super) data_dir: PathBuf,
    /// It is another than the default, so client commands have to be told.
    pub(super) named_dir: bool,
    /// The admin's way in.
    pub(super) token: Token,
    /// This very host.
    pub(super) host: Host,
    /// How this program is started, as a word of the shell.
    pub(super) program: String,
    /// Milliseconds since the start of the process's work.
    pub(super) took_ms: u128,
}

/// The admin's way in.
#[derive(Clone)]
pub(super) enum Token {
    /// The first start made a token and a sign-in code, shown once.
    Made { token: String, code: String },
    /// It stands in its file.
    InFile,
    /// The file is gone.
    Missing,
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Made { .. } => "Made(***)",
            Self::InFile => "InFile",
            Self::Missing => "Missing",
        })
    }
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
            format!("  pages  {}/", self.rest),
            format!("  REST   {}", self.rest),
        ];
        if self.bound != self.rest {
            lines.push(format!("         (bound to {})", self.bound));
        }
        lines.extend([
            format!("  MCP    {}", self.mcp()),
            format!("  OpenAI {}/openai/v1/tools, …/tool_calls", self.rest),
            format!("  gRPC   {}", self.grpc),
            format!("  data   {}", self.data_dir.display()),
            format!("  host   {}", self.host.text()),
        ]);
        self.way_in(&mut lines);
        lines.extend([
            String::new(),
            "Try it:".into(),
            String::new(),
            self.curl(),
            String::new(),
        ]);
        if self.host != Host::Off {
            let target = self
                .host
                .target_id()
                .map_or_else(String::new, |id| format!(" --target {id}"));
            lines.push(self.command(&format!(
                "call ssh.run_whitelisted_command --arg command='df -h'{target}"
            )));
        }
        lines.push(self.command("doctor"));
        format!("{}\n", lines.join("\n"))
    }

    /// Where clients of MCP connect.
    fn mcp(&self) -> String {
        format!("{}/mcp", self.rest)
    }

    fn way_in(&self, lines: &mut Vec<String>) {
        let file = self.token_file();
        match &self.token {
            Token::Made { token, .. } => lines.extend([
                format!("  token  {token}"),
                format!("         (admin; shown this once, kept in {})", file.display()),
                "  open   this link signs you in to the pages; it works once, within 15 minutes:".into(),
                format!("         {}", self.sign_in().unwrap_or_default()),
            ]),
            Token::InFile => lines.extend([
                format!("  token  in {}", file.display()),
                format!(
                    "  open   for a link that signs you in to the pages: {}",
                    self.command("sign-in")
                ),
            ]),
            Token::Missing => {
                let (dir, file) = (word(&self.data_dir), word(&file));
                lines.extend([
                    format!("  token  none: {file} is not there; to make one, stop the gateway and run"),
                    format!(
                        "         (umask 077; {} token create NAME --role admin --offline --data-dir {dir} > {file})",
                        self.program
                    ),
                ]);
            }
        }
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
            "bound": self.bound,
            "mcp": self.mcp(),
            "openai": format!("{}/openai/v1", self.rest),
            "grpc": self.grpc,
            "dataDir": self.data_dir,
            "tokenFile": (!matches!(self.token, Token::Missing)).then(|| self.token_file()),
            "token": match &self.token {
                Token::Made { token, .. } => Some(token),
                Token::InFile | Token::Missing => None,
            },
            "signIn": self.sign_in(),
            "host": {"state": state, "name": name},
            "curl": self.curl(),
            "tookMs": u64::try_from(self.took_ms).unwrap_or(u64::MAX),
        })
    }

    fn token_file(&self) -> PathBuf {
        self.data_dir.join("admin-token")
    }

    fn sign_in(&self) -> Option<String> {
        match &self.token {
            Token::Made { code, .. } => Some(link(&self.rest, code)),
            Token::InFile | Token::Missing => None,
        }
    }

    /// The URL for this machine. The name on a certificate is that of the public one.
    fn near(&self) -> &str {
        if self.certificate.is_some() {
            &self.rest
        } else {
            &self.bound
        }
    }

    // A client command with all that it needs to find this gateway and to be let in.
    fn command(&self, words: &str) -> String {
        let mut line = format!("{} {words}", self.program);
        if self.near() == self.bound {
            if self.named_dir {
                line.push_str(&format!(" --data-dir {}", word(&self.data_dir)));
            }
            return line;
        }
        // The directory's own address would not fit the certificate, and its token goes to no other by itself.
        line.push_str(&format!(" --url {}", shell_word(self.near())));
        if let Some(path) = &self.certificate {
            line.push_str(&format!(" --ca-cert {}", word(path)));
        }
        match self.token {
            Token::Missing => line,
            _ => format!("TOOLGATE_TOKEN=$(cat {}) {line}", word(&self.token_file())),
        }
    }

    // The inner curl starts the call and names its stream, the outer one follows it.
    fn curl(&self) -> String {
        let token = match self.token {
            Token::Missing => "$TOOLGATE_TOKEN".into(),
            _ => format!("$(cat {})", word(&self.token_file())),
        };
        let header = format!("-H \"Authorization: Bearer {token}\"");
        let trust = self.certificate.as_deref();
        let trust = trust.map_or_else(String::new, |path| format!(" --cacert {}", word(path)));
        let url = self.near();
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
        if *self == Self::Off {
            return None;
        }
        let mut call = json!({"name": "ssh.run_whitelisted_command", "arguments": {"command": "uptime"}});
        if let Some(id) = self.target_id() {
            call["targetId"] = json!(id);
        }
        Some(call)
    }

    fn target_id(&self) -> Option<&str> {
        match self {
            Self::Connected { target_id, .. } => target_id.as_deref(),
            Self::Off | Self::Waiting { .. } => None,
        }
    }
}

fn word(path: &Path) -> String {
    shell_word(&path.display().to_string())
}

/// A text as one word of the shell.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.into();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests;
