//! Joins the sources, weakest first, and remembers where each value came from.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

use toolgate_core::config::{AwsConfig, JwtConfig, OidcConfig, VaultConfig};

use super::{
    BuiltInRelay, Checkpoint, Config, Environment, Limits, Log, Problems, TlsFiles,
    check::check,
    file,
    key::{Key, Reader, Value},
    keys::{KEYS, find},
    problem::Problem,
};

const FILE_NAME: &str = "toolgate.toml";

/// What the command line gave.
#[derive(Debug, Default)]
pub(crate) struct Given {
    /// `--config`.
    pub(crate) file: Option<PathBuf>,
    /// Settings as flags.
    pub(crate) flags: Vec<(&'static Key, String)>,
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nobody said anything.
    Default,
    /// `file:line`.
    File(String),
    /// The variable.
    Environment(String),
    /// The flag.
    Flag(String),
}

/// The configuration and where its values came from.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The checked settings.
    pub(crate) config: Config,
    /// Key, value as text and origin, in the order of the table.
    pub(crate) values: Vec<(&'static Key, String, Origin)>,
    /// The file that was read, if any.
    pub(crate) file: Option<PathBuf>,
}

/// Reads every source and checks the whole.
pub(crate) fn load(given: &Given, environment: &Environment, reader: Reader) -> Result<Loaded, Problems> {
    let mut problems = environment.problems();
    let mut values: Vec<Setting> = KEYS.iter().map(Setting::default).collect();
    let file = find_file(given, environment);
    if let Some((path, required)) = &file
        && (*required || path.exists())
    {
        apply_file(path, &mut values, &mut problems);
    }
    for setting in &mut values {
        let variable = setting.key.variable();
        if let Some(text) = environment.get(&variable) {
            setting.take_text(
                text,
                &variable.clone(),
                Origin::Environment(variable),
                &mut problems,
            );
        }
    }
    for (key, text) in &given.flags {
        let flag = format!("--{}", key.flag());
        if let Some(setting) = values.iter_mut().find(|setting| setting.key.name == key.name) {
            setting.take_text(text, &flag.clone(), Origin::Flag(flag), &mut problems);
        }
    }
    let config = build(&values, &mut problems);
    if problems.is_empty() {
        check(&config, reader, &mut problems);
    }
    if !problems.is_empty() {
        return Err(Problems(problems));
    }
    Ok(Loaded {
        config,
        values: values
            .into_iter()
            .map(|setting| (setting.key, setting.text, setting.origin))
            .collect(),
        file: file.map(|(path, _)| path).filter(|path| path.exists()),
    })
}

struct Setting {
    key: &'static Key,
    text: String,
    value: Option<Value>,
    origin: Origin,
}

impl Setting {
    fn default(key: &'static Key) -> Self {
        // The table's own defaults are held to their kinds by a test.
        let value = key.kind.read_text(key.default).ok();
        Self {
            key,
            text: key.default.into(),
            value,
            origin: Origin::Default,
        }
    }

    fn take_text(&mut self, text: &str, place: &str, origin: Origin, problems: &mut Vec<Problem>) {
        let read = self.key.kind.read_text(text);
        self.take(read, text.into(), place, origin, problems);
    }

    fn take(
        &mut self,
        read: Result<Value, String>,
        text: String,
        place: &str,
        origin: Origin,
        problems: &mut Vec<Problem>,
    ) {
        match read {
            Ok(value) => {
                (self.text, self.value, self.origin) = (self.key.kind.shown(&text), Some(value), origin)
            }
            Err(wrong) => problems.push(Problem::new(place, format!("`{}`: {wrong}", self.key.name))),
        }
    }
}

// The data directory is asked before the file is read, since the file may stand in it.
fn find_file(given: &Given, environment: &Environment) -> Option<(PathBuf, bool)> {
    if let Some(path) = &given.file {
        return Some((path.clone(), true));
    }
    let key = find("data_dir")?;
    let flag = given
        .flags
        .iter()
        .find(|(flag, _)| flag.name == key.name)
        .map(|(_, text)| text.as_str());
    let dir = flag
        .or_else(|| environment.get(&key.variable()))
        .unwrap_or(key.default);
    let inside = Path::new(dir).join(FILE_NAME);
    Some((
        if inside.exists() {
            inside
        } else {
            PathBuf::from(FILE_NAME)
        },
        false,
    ))
}

fn apply_file(path: &Path, values: &mut [Setting], problems: &mut Vec<Problem>) {
    let text = match file::read(path) {
        Ok(text) => text,
        Err(problem) => return problems.push(problem),
    };
    let (entries, wrong) = file::parse(&path.display().to_string(), &text);
    problems.extend(wrong);
    for entry in entries {
        let Some(setting) = values
            .iter_mut()
            .find(|setting| setting.key.name == entry.key.name)
        else {
            continue;
        };
        let read = entry.key.kind.read_given(&entry.given);
        let text = match &entry.given {
            super::key::Given::Text(text) => text.clone(),
            super::key::Given::Number(number) => number.to_string(),
            super::key::Given::Switch(on) => on.to_string(),
            super::key::Given::List(names) => names.join(","),
        };
        setting.take(
            read,
            text,
            &entry.place,
            Origin::File(entry.place.clone()),
            problems,
        );
    }
}

fn build(values: &[Setting], problems: &mut Vec<Problem>) -> Config {
    let mut config = blank();
    for setting in values {
        let stored = setting
            .value
            .clone()
            .is_some_and(|value| (setting.key.store)(&mut config, value));
        if !stored && problems.is_empty() {
            let text = format!("`{}` must not be empty", setting.key.name);
            problems.push(Problem::new(place(&setting.origin), text));
        }
    }
    config
}

fn place(origin: &Origin) -> &str {
    match origin {
        Origin::Default => "default",
        Origin::File(place) | Origin::Environment(place) | Origin::Flag(place) => place,
    }
}

// Every field is filled from the table right after; a test holds that none is forgotten.
fn blank() -> Config {
    let nowhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    Config {
        database_url: None,
        data_dir: PathBuf::new(),
        http: nowhere,
        grpc: nowhere,
        behind_proxy: false,
        allowed_hosts: Vec::new(),
        public_url: String::new(),
        tool_names: String::new(),
        unknown_profile: String::new(),
        active_project_scope: String::new(),
        projects_file: None,
        tls: TlsFiles::default(),
        limits: Limits {
            user_per_minute: 0,
            tenant_per_minute: 0,
            tenant_in_flight: 0,
        },
        checkpoint: Checkpoint {
            interval: 0,
            webhook: String::new(),
            webhook_token_file: None,
        },
        relay: BuiltInRelay {
            built_in: false,
            name: String::new(),
        },
        log: Log {
            format: String::new(),
            level: String::new(),
        },
        core: String::new(),
        metrics_addr: None,
        url: String::new(),
        ca_cert: None,
        accept_lost_keys: false,
        aws: AwsConfig {
            prefix: String::new(),
            ..AwsConfig::default()
        },
        vault: VaultConfig {
            mount: String::new(),
            folder: String::new(),
            approle_mount: String::new(),
            ..VaultConfig::default()
        },
        jwt: JwtConfig {
            role_claim: String::new(),
            ..JwtConfig::default()
        },
        oidc: OidcConfig {
            scopes: String::new(),
            role_claim: String::new(),
            ..OidcConfig::default()
        },
        #[cfg(feature = "conformance")]
        echo_hosts: false,
    }
}
