//! A command line that cannot be parsed, told to programs. For people clap prints it itself.

use std::ffi::OsString;

use clap::error::ErrorKind;

use crate::failure::Failure;

/// Whether `--json` was typed, on a line that could not be parsed.
pub(crate) fn wants_json(args: impl IntoIterator<Item = OsString>) -> bool {
    let mut words = args.into_iter().skip(1).take_while(|word| word != "--");
    words.any(|word| word == "--json")
}

/// What is wrong, without the usage lines, which are for people.
pub(crate) fn usage(error: &clap::Error) -> Failure {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Failure::usage("a command is missing").next("--help lists what there is");
    }
    let text = error.render().to_string();
    let mut lines = text
        .lines()
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"))
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("the command line cannot be used");
    let mut failure = Failure::usage(first.strip_prefix("error: ").unwrap_or(first));
    for line in lines {
        match line.strip_prefix("tip: ") {
            Some(tip) if failure.next.is_none() => failure.next = Some(tip.into()),
            _ => failure.details.push(line.into()),
        }
    }
    failure
}
