//! Puts the typed commands and the table of settings together, and takes both apart again after parsing.

use std::{ffi::OsString, path::PathBuf};

use clap::{ArgMatches, CommandFactory, FromArgMatches};

use super::Cli;
use crate::config::{Given, Reader, flags};

/// What was typed.
#[derive(Debug)]
pub(crate) struct Parsed {
    /// The command and its arguments.
    pub(crate) cli: Cli,
    /// Settings that were given as flags.
    pub(crate) given: Given,
}

/// Which commands take which settings; the others take none.
const READERS: &[(&[&str], Reader)] = &[
    (&["up"], Reader::Up),
    (&["core"], Reader::Core),
    (&["facade"], Reader::Facade),
    (&["mcp"], Reader::Mcp),
    (&["call"], Reader::Client),
    (&["tools"], Reader::Client),
    (&["tools", "show"], Reader::Client),
    (&["self"], Reader::Client),
    (&["doctor"], Reader::Client),
    (&["target", "add", "ssh"], Reader::Client),
    (&["target", "add", "proxmox"], Reader::Client),
    (&["target", "add", "github"], Reader::Client),
    (&["target", "add", "gitea"], Reader::Client),
    (&["target", "add", "agent-memory"], Reader::Client),
    (&["target", "add", "agent-operator"], Reader::Client),
    (&["target", "add", "agent-chat"], Reader::Client),
    (&["target", "list"], Reader::Client),
    (&["target", "show"], Reader::Client),
    (&["target", "update"], Reader::Client),
    (&["target", "test"], Reader::Client),
    (&["target", "remove"], Reader::Client),
    (&["target", "enrol"], Reader::Client),
    (&["target", "revoke-relay"], Reader::Client),
    (&["fleet", "add"], Reader::Client),
    (&["fleet", "list"], Reader::Client),
    (&["fleet", "show"], Reader::Client),
    (&["fleet", "health"], Reader::Client),
    (&["fleet", "status"], Reader::Client),
    (&["fleet", "identity"], Reader::Client),
    (&["fleet", "switch"], Reader::Client),
    (&["fleet", "default"], Reader::Client),
    (&["fleet", "update"], Reader::Client),
    (&["fleet", "enable"], Reader::Client),
    (&["fleet", "disable"], Reader::Client),
    (&["fleet", "accept"], Reader::Client),
    (&["fleet", "repin"], Reader::Client),
    (&["fleet", "enrol"], Reader::Client),
    (&["fleet", "revoke"], Reader::Client),
    (&["fleet", "remove"], Reader::Client),
    (&["token", "create"], Reader::Record),
    (&["token", "list"], Reader::Client),
    (&["token", "revoke"], Reader::Client),
    (&["profile", "list"], Reader::Client),
    (&["profile", "show"], Reader::Client),
    (&["profile", "cost"], Reader::Client),
    (&["profile", "create"], Reader::Client),
    (&["profile", "update"], Reader::Client),
    (&["profile", "delete"], Reader::Client),
    (&["profile", "why"], Reader::Client),
    (&["policy", "show"], Reader::Client),
    (&["policy", "disable"], Reader::Client),
    (&["policy", "enable"], Reader::Client),
    (&["sign-in"], Reader::Client),
    (&["audit", "tail"], Reader::Client),
    (&["audit", "export"], Reader::Record),
    (&["audit", "verify"], Reader::Record),
    (&["keys", "show"], Reader::Client),
    (&["keys", "rotate"], Reader::Client),
    (&["keys", "retire"], Reader::Record),
    (&["db", "migrate"], Reader::Database),
    (&["db", "check"], Reader::Database),
    (&["relay", "host"], Reader::Relay),
    (&["relay", "project"], Reader::Relay),
    (&["transcript", "tail"], Reader::Transcript),
    (&["config", "show"], Reader::Show),
];

/// The whole command line, as clap knows it.
pub(crate) fn command() -> clap::Command {
    READERS.iter().fold(Cli::command(), |command, (path, reader)| {
        at(command, path, *reader)
    })
}

/// Parses arguments, the program's name first. The error knows how to print itself, `--help` included.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Parsed, clap::Error> {
    let matches = command().try_get_matches_from(args)?;
    let (file, flags) = flags::take(leaf(&matches));
    let cli = Cli::from_arg_matches(&matches)?;
    Ok(Parsed {
        cli,
        given: Given {
            file: file.map(PathBuf::from),
            flags,
        },
    })
}

fn at(command: clap::Command, path: &[&str], reader: Reader) -> clap::Command {
    match path.split_first() {
        Some((name, rest)) => command.mut_subcommand(*name, |inner| at(inner, rest, reader)),
        None => flags::add(command, reader),
    }
}

fn leaf(matches: &ArgMatches) -> &ArgMatches {
    matches.subcommand().map_or(matches, |(_, inner)| leaf(inner))
}
