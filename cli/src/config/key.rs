//! What a key is: its name in every source, its kind, its default, who reads it.
//!
//! Pure data and pure functions; knows no file, no environment, no command line.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use toolgate_core::{oidc::is_role_rule, store::DatabaseUrl};

use super::Config;

/// One setting.
#[derive(Debug)]
pub(crate) struct Key {
    /// The name in the file, dots for tables: `limits.user_per_minute`.
    pub(crate) name: &'static str,
    /// What values look like.
    pub(crate) kind: Kind,
    /// The value when nobody says anything; empty means none.
    pub(crate) default: &'static str,
    /// The commands that take it as a flag.
    pub(crate) readers: &'static [Reader],
    /// One or two sentences for people.
    pub(crate) doc: &'static str,
    /// Puts a checked value into the configuration; false when the kind does not fit the field.
    pub(crate) store: fn(&mut Config, Value) -> bool,
}

impl Key {
    /// The environment variable: `TOOLGATE_LIMITS_USER_PER_MINUTE`.
    pub(crate) fn variable(&self) -> String {
        format!("TOOLGATE_{}", self.name.replace('.', "_").to_uppercase())
    }

    /// The flag without its dashes: `limits-user-per-minute`.
    pub(crate) fn flag(&self) -> String {
        self.name.replace(['.', '_'], "-")
    }
}

/// Who reads a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// `toolgate up`.
    Up,
    /// `toolgate core`.
    Core,
    /// `toolgate facade`.
    Facade,
    /// `toolgate mcp`.
    Mcp,
    /// `toolgate relay …`.
    Relay,
    /// `toolgate transcript tail`.
    Transcript,
    /// Commands that talk to a gateway.
    Client,
    /// `toolgate audit verify` and `export`, which talk to a gateway or read the database themselves.
    Record,
    /// `toolgate db …`.
    Database,
    /// `toolgate config show`: every key.
    Show,
}

/// What values of a key look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// IP address and port.
    Address,
    /// The same, or nothing.
    OptionalAddress,
    /// A path; relative ones start at the current directory.
    Path,
    /// True or false; as a flag it may stand without a value.
    Switch,
    /// A whole number within a range.
    Number {
        /// Least value.
        min: u32,
        /// Greatest value.
        max: u32,
    },
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// `http://…` or `https://…`.
    Url,
    /// A URL as above, or `unix:PATH`, or a path.
    Endpoint,
    /// A text of at most so many bytes.
    Text {
        /// Greatest length in bytes.
        max: usize,
    },
    /// Host names, each with or without a port: an array in the file, commas elsewhere.
    Hosts,
    /// Rules `VALUE=ROLE`: an array in the file, commas elsewhere.
    Roles,
    /// The address of a PostgreSQL database. May hold a password, so its text is never shown.
    Database,
}

/// A value as a source gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Given {
    /// From environment and flags, or a string in the file.
    Text(String),
    /// A number in the file.
    Number(i64),
    /// A boolean in the file.
    Switch(bool),
    /// An array of strings in the file.
    List(Vec<String>),
}

/// A value that fits its key's kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// For [`Kind::Address`].
    Address(SocketAddr),
    /// For [`Kind::OptionalAddress`]; none when empty.
    OptionalAddress(Option<SocketAddr>),
    /// For [`Kind::Path`]; none when empty.
    Path(Option<PathBuf>),
    /// For [`Kind::Switch`].
    Switch(bool),
    /// For [`Kind::Number`].
    Number(u32),
    /// For [`Kind::Hosts`] and [`Kind::Roles`].
    List(Vec<String>),
    /// For [`Kind::Database`]; none when empty.
    Database(Option<Box<DatabaseUrl>>),
    /// For the others.
    Text(String),
}

impl Kind {
    /// Checks a text of environment, flag or default. The error says what was expected.
    pub(crate) fn read_text(self, text: &str) -> Result<Value, String> {
        match self {
            Self::Switch => match text {
                "true" | "1" | "yes" | "on" => Ok(Value::Switch(true)),
                "false" | "0" | "no" | "off" => Ok(Value::Switch(false)),
                _ => Err(self.wanted(text)),
            },
            Self::Number { .. } => text
                .parse()
                .map_err(|_| self.wanted(text))
                .and_then(|number| self.read_number(number)),
            Self::Hosts | Self::Roles => {
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                self.read_list(items.map(str::to_owned).collect())
            }
            Self::Database if text.is_empty() => Ok(Value::Database(None)),
            Self::Database => match text.parse() {
                Ok(url) => Ok(Value::Database(Some(Box::new(url)))),
                Err(error) => Err(format!("the address of the database {error}")),
            },
            Self::Address
            | Self::OptionalAddress
            | Self::Path
            | Self::Choice(_)
            | Self::Url
            | Self::Endpoint
            | Self::Text { .. } => self.read_word(text),
        }
    }

    /// Checks a value of the file, where numbers and booleans have types of their own.
    pub(crate) fn read_given(self, given: &Given) -> Result<Value, String> {
        match (self, given) {
            (Self::Switch, Given::Switch(on)) => Ok(Value::Switch(*on)),
            (Self::Number { .. }, Given::Number(number)) => self.read_number(*number),
            (Self::Switch | Self::Number { .. }, Given::Text(text)) => {
                Err(format!("{} (without quotes)", self.wanted(text)))
            }
            (Self::Hosts | Self::Roles, Given::List(items)) => self.read_list(items.clone()),
            (_, Given::List(_)) => Err(format!("expected {}, got an array", self.expected())),
            (Self::Database, Given::Text(text)) => self.read_text(text),
            (_, Given::Text(text)) => self.read_word(text),
            (_, Given::Number(number)) => Err(self.wanted(&number.to_string())),
            (_, Given::Switch(on)) => Err(self.wanted(&on.to_string())),
        }
    }

    /// What values look like, in words: `a whole number from 1 to 10`.
    pub(crate) fn expected(self) -> String {
        match self {
            Self::Address => "an IP address and port such as 127.0.0.1:7600".into(),
            Self::OptionalAddress => "an IP address and port such as 127.0.0.1:9464, or nothing".into(),
            Self::Path => "a path".into(),
            Self::Switch => "true or false".into(),
            Self::Number { min, max } => format!("a whole number from {min} to {max}"),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::Url => "a URL such as http://127.0.0.1:7600".into(),
            Self::Endpoint => "a path of a Unix socket or a URL such as http://127.0.0.1:7601".into(),
            Self::Hosts => "host names such as gate.example.org or gate.example.org:443".into(),
            Self::Roles => "values and roles such as ops-team=admin or auditors=auditor".into(),
            Self::Text { max } => format!("a text of at most {max} bytes without control characters"),
            Self::Database => "postgres://USER:PASSWORD@HOST:PORT/DATABASE".into(),
        }
    }

    /// A value as it may be shown.
    pub(crate) fn shown(self, text: &str) -> String {
        match self.read_text(text) {
            Ok(Value::Database(Some(url))) => url.to_string(),
            _ => text.into(),
        }
    }

    fn read_number(self, number: i64) -> Result<Value, String> {
        let Self::Number { min, max } = self else {
            return Err(self.wanted(&number.to_string()));
        };
        u32::try_from(number)
            .ok()
            .filter(|number| (min..=max).contains(number))
            .map(Value::Number)
            .ok_or_else(|| self.wanted(&number.to_string()))
    }

    fn read_word(self, text: &str) -> Result<Value, String> {
        let fits = match self {
            Self::Address => {
                return read_address(text)
                    .map(Value::Address)
                    .ok_or_else(|| self.wanted(text));
            }
            Self::OptionalAddress if text.is_empty() => return Ok(Value::OptionalAddress(None)),
            Self::OptionalAddress => {
                let address = read_address(text);
                return address
                    .map(|address| Value::OptionalAddress(Some(address)))
                    .ok_or_else(|| self.wanted(text));
            }
            Self::Path => {
                let path = (!text.is_empty()).then(|| PathBuf::from(text));
                return if text.contains('\0') {
                    Err(self.wanted(text))
                } else {
                    Ok(Value::Path(path))
                };
            }
            Self::Choice(words) => words.contains(&text),
            Self::Url => text.is_empty() || is_http_url(text),
            Self::Endpoint => !text.contains('\0') && (!text.contains("://") || is_http_url(text)),
            Self::Text { max } => text.len() <= max && !text.contains(char::is_control),
            Self::Switch | Self::Number { .. } | Self::Hosts | Self::Roles | Self::Database => false,
        };
        if fits {
            Ok(Value::Text(text.into()))
        } else {
            Err(self.wanted(text))
        }
    }

    fn read_list(self, items: Vec<String>) -> Result<Value, String> {
        let fits = match self {
            Self::Roles => |item: &String| is_role_rule(item) && !item.contains(char::is_control),
            _ => |item: &String| is_host(item),
        };
        match items.iter().find(|item| !fits(item)) {
            Some(item) => Err(self.wanted(item)),
            None => Ok(Value::List(items)),
        }
    }

    fn wanted(self, text: &str) -> String {
        let shown: String = text.chars().take(80).flat_map(char::escape_debug).collect();
        format!("expected {}, got `{shown}`", self.expected())
    }
}

// The one name that means the same on every machine; what others mean would have to be asked of a resolver.
fn read_address(text: &str) -> Option<SocketAddr> {
    match text.strip_prefix("localhost:") {
        Some(port) => port.parse().ok().map(|port| (Ipv4Addr::LOCALHOST, port).into()),
        None => text.parse().ok(),
    }
}

fn is_host(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    !text.is_empty() && text.len() <= 260 && text.bytes().all(allowed)
}

// Only what reqwest and tonic will take; user names in URLs would end up in logs.
fn is_http_url(text: &str) -> bool {
    reqwest::Url::parse(text).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.host_str().is_some_and(|host| !host.is_empty())
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
    })
}
