//! The settings as flags: added to each command that reads them, taken back from what was parsed.

use clap::{Arg, ArgAction, ArgMatches, Command, parser::ValueSource};

use super::{
    key::{Key, Kind, Reader},
    keys::KEYS,
};

const HEADING: &str = "Settings";

/// Adds the flags of one reader to its command.
pub(crate) fn add(command: Command, reader: Reader) -> Command {
    let config = Arg::new("config")
        .long("config")
        .value_name("FILE")
        .help_heading(HEADING)
        .help("Configuration file, instead of DIR/toolgate.toml or ./toolgate.toml");
    KEYS.iter()
        .filter(|key| key.readers.contains(&reader))
        .fold(command.arg(config), |command, key| command.arg(flag(key)))
}

/// What the user gave: the configuration file, and each flag with its key.
pub(crate) fn take(matches: &ArgMatches) -> (Option<String>, Vec<(&'static Key, String)>) {
    let text = |name: &str| match matches.try_get_one::<String>(name) {
        Ok(Some(text)) if matches.value_source(name) == Some(ValueSource::CommandLine) => Some(text.clone()),
        _ => None,
    };
    let flags = KEYS
        .iter()
        .filter_map(|key| text(key.name).map(|text| (key, text)))
        .collect();
    (text("config"), flags)
}

// Values stay texts here: they are checked with those of the other sources, so that all faults are told at once.
fn flag(key: &'static Key) -> Arg {
    let default = if key.default.is_empty() {
        String::new()
    } else {
        format!(" [default: {}]", key.default)
    };
    let arg = Arg::new(key.name)
        .long(key.flag())
        .help_heading(HEADING)
        .help(format!("{}{default}", key.doc.trim_end_matches('.')))
        .action(ArgAction::Set);
    match key.kind {
        Kind::Switch => arg
            .value_name("true|false")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true"),
        Kind::Address | Kind::OptionalAddress => arg.value_name("ADDR"),
        Kind::Path => arg.value_name(if key.name == "data_dir" { "DIR" } else { "FILE" }),
        Kind::Number { .. } => arg.value_name("N").allow_hyphen_values(true),
        Kind::Choice(words) => arg.value_name(words.join("|")),
        Kind::Url | Kind::Endpoint | Kind::Database => arg.value_name("URL"),
        Kind::Hosts => arg.value_name("HOST,…"),
        Kind::Roles => arg.value_name("VALUE=ROLE,…"),
        Kind::Text { .. } => arg.value_name("TEXT"),
    }
}
