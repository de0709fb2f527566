//! The address of a PostgreSQL database, as a URL or as `key=value` words.
//!
//! Parsing is the client library's, but for what concerns TLS: how much of it is wanted and whom to believe. The
//! password goes in here and comes out at the connection only.

use std::{
    fmt,
    net::IpAddr,
    path::{Path, PathBuf},
    str::FromStr,
};

use percent_encoding::percent_decode_str;
use tokio_postgres::config::{Config, Host, SslMode as WireMode};

const APPLICATION: &str = "toolgate";

/// Where a PostgreSQL database is and who signs in to it. Shows everything but the password.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl {
    config: Config,
    tls: SslMode,
    root_cert: Option<PathBuf>,
}

/// How much TLS is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum SslMode {
    /// None.
    Disable,
    /// Where the server offers it. Guards against listeners, not against a server in the middle, which could as well
    /// offer none.
    Prefer,
    /// Always, with a certificate that is believed for the host's name.
    Require,
}

/// Why a text is no address of a database. Never repeats the text, which may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DatabaseUrlError {
    /// It cannot be read at all.
    #[error(
        "cannot be read ({0}); write postgres://USER:PASSWORD@HOST:PORT/DATABASE, with special characters percent-encoded"
    )]
    Unreadable(String),
    /// A part that must be there is missing.
    #[error("names no {0}; write postgres://USER:PASSWORD@HOST:PORT/DATABASE")]
    Missing(&'static str),
    /// How much TLS is wanted has another spelling.
    #[error("`sslmode` is disable, prefer, require or verify-full")]
    SslMode,
    /// A setting that would undo what the store relies on.
    #[error("`{0}` cannot be set here: the gateway sets it")]
    Reserved(&'static str),
}

impl DatabaseUrl {
    /// What the client library needs to connect.
    pub(in crate::store) fn config(&self) -> &Config {
        &self.config
    }

    /// How much TLS is wanted.
    pub(in crate::store) fn tls(&self) -> SslMode {
        self.tls
    }

    /// The only certificate authorities believed; those of the machine where none is given.
    pub(in crate::store) fn root_cert(&self) -> Option<&Path> {
        self.root_cert.as_deref()
    }

    /// The role that signs in.
    #[must_use]
    pub fn user(&self) -> &str {
        self.config.get_user().unwrap_or_default()
    }

    /// The same address for another role and its password.
    #[must_use]
    pub fn for_role(&self, user: &str, password: Option<&str>) -> Self {
        let mut config = self.config.clone();
        config.user(user);
        if let Some(password) = password {
            config.password(password);
        }
        Self {
            config,
            ..self.clone()
        }
    }
}

impl FromStr for DatabaseUrl {
    type Err = DatabaseUrlError;

    fn from_str(text: &str) -> Result<Self, DatabaseUrlError> {
        let (rest, own) = take_own(text)?;
        let mut config: Config = rest
            .parse()
            .map_err(|error: tokio_postgres::Error| DatabaseUrlError::Unreadable(cause_of(&error)))?;
        if config.get_user().is_none_or(str::is_empty) {
            return Err(DatabaseUrlError::Missing("user"));
        }
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(DatabaseUrlError::Missing("host"));
        }
        let strange = |host: &Host| matches!(host, Host::Tcp(name) if name.contains(['@', ':', '/']) && name.parse::<IpAddr>().is_err());
        if config.get_hosts().iter().any(strange) {
            let reason = "the host holds characters that no host has; a password with `@`, `:` or `/` must be percent-encoded";
            return Err(DatabaseUrlError::Unreadable(reason.into()));
        }
        if config.get_options().is_some() {
            return Err(DatabaseUrlError::Reserved("options"));
        }
        if config.get_dbname().is_none_or(str::is_empty) {
            let user = config.get_user().unwrap_or_default().to_owned();
            config.dbname(user);
        }
        if config.get_application_name().is_none() {
            config.application_name(APPLICATION);
        }
        let tls = own.mode.unwrap_or_else(|| usual_mode(&config));
        config.ssl_mode(match tls {
            SslMode::Disable => WireMode::Disable,
            SslMode::Prefer => WireMode::Prefer,
            SslMode::Require => WireMode::Require,
        });
        Ok(Self {
            config,
            tls,
            root_cert: own.root_cert,
        })
    }
}

/// What of the text is understood here and not by the client library.
#[derive(Default)]
struct Own {
    mode: Option<SslMode>,
    root_cert: Option<PathBuf>,
}

impl Own {
    /// Takes a parameter, or leaves it for the library.
    fn take(&mut self, key: &str, value: &str) -> Result<bool, DatabaseUrlError> {
        match key {
            "sslmode" => {
                self.mode = Some(match value {
                    "disable" => SslMode::Disable,
                    "allow" | "prefer" => SslMode::Prefer,
                    "require" | "verify-ca" | "verify-full" => SslMode::Require,
                    _ => return Err(DatabaseUrlError::SslMode),
                });
            }
            "sslrootcert" => self.root_cert = (!value.is_empty() && value != "system").then(|| value.into()),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn take_own(text: &str) -> Result<(String, Own), DatabaseUrlError> {
    let mut own = Own::default();
    if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        let Some((base, query)) = text.split_once('?') else {
            return Ok((text.to_owned(), own));
        };
        let mut kept = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = percent_decode_str(value).decode_utf8_lossy();
            if !own.take(key, &value)? {
                kept.push(pair);
            }
        }
        let rest = match kept.is_empty() {
            true => base.to_owned(),
            false => format!("{base}?{}", kept.join("&")),
        };
        return Ok((rest, own));
    }
    let mut kept = Vec::new();
    for word in words(text) {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        // What is no key may be a password; the library would repeat it.
        if key.contains(|letter: char| !letter.is_ascii_lowercase() && letter != '_') {
            return Err(DatabaseUrlError::Unreadable(
                "neither a postgres:// URL nor key=value words".into(),
            ));
        }
        if !own.take(key.trim(), value.trim().trim_matches('\''))? {
            kept.push(word);
        }
    }
    Ok((kept.join(" "), own))
}

/// Splits `key=value` words at blanks that are not within quotes.
fn words(text: &str) -> Vec<&str> {
    let (mut out, mut start, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\'' => quoted = !quoted,
            blank if blank.is_whitespace() && !quoted => {
                out.push(&text[start..at]);
                start = at + blank.len_utf8();
            }
            _ => {}
        }
    }
    out.push(&text[start..]);
    out.retain(|word| !word.is_empty());
    out
}

/// Beyond this machine nothing is sent in the clear unless somebody says so.
fn usual_mode(config: &Config) -> SslMode {
    let near = |host: &Host| match host {
        Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback()),
        Host::Unix(_) => true,
    };
    let all_near =
        config.get_hosts().iter().all(near) && config.get_hostaddrs().iter().all(IpAddr::is_loopback);
    if all_near {
        SslMode::Prefer
    } else {
        SslMode::Require
    }
}

// The library's own text says only "invalid connection string"; its causes name keys, never values.
fn cause_of(error: &tokio_postgres::Error) -> String {
    let error: &dyn std::error::Error = error;
    error
        .source()
        .map_or_else(|| error.to_string(), ToString::to_string)
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ports = self.config.get_ports();
        let port = |place: usize| match ports {
            [] => 5432,
            [one] => *one,
            many => many.get(place).copied().unwrap_or(5432),
        };
        let hosts: Vec<String> = match self.config.get_hosts() {
            [] => self
                .config
                .get_hostaddrs()
                .iter()
                .map(ToString::to_string)
                .collect(),
            hosts => hosts
                .iter()
                .map(|host| match host {
                    Host::Tcp(name) => name.clone(),
                    Host::Unix(path) => path.display().to_string(),
                })
                .collect(),
        };
        let hosts: Vec<String> = hosts
            .iter()
            .enumerate()
            .map(|(place, host)| match host.contains(':') {
                true => format!("[{host}]:{}", port(place)),
                false => format!("{host}:{}", port(place)),
            })
            .collect();
        let database = self.config.get_dbname().unwrap_or_default();
        write!(f, "postgres://{}@{}/{database}", self.user(), hosts.join(","))
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({self})")
    }
}

#[cfg(test)]
mod tests;
