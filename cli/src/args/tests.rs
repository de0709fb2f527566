use clap::Command as Clap;

use super::{Command, ToolsCommand, command, parse, usage, wants_json};
use crate::golden;

const WIDTH: usize = 100;

fn typed(line: &str) -> Result<super::Parsed, clap::Error> {
    parse(line.split(' ').map(Into::into))
}

#[test]
fn the_command_line_is_well_formed() {
    command().debug_assert();
}

#[test]
fn the_help_of_every_command_is_what_is_committed() {
    let mut root = command().term_width(WIDTH);
    root.build();
    let mut pages = Vec::new();
    collect("toolgate", &mut root, &mut pages);
    for (name, page) in pages {
        golden::check(&format!("cli/golden/help/{name}.txt"), &page);
    }
}

fn collect(name: &str, command: &mut Clap, pages: &mut Vec<(String, String)>) {
    let help = command.clone().term_width(WIDTH).render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    pages.push((name.into(), format!("{}\n", lines.join("\n"))));
    for inner in command
        .get_subcommands_mut()
        .filter(|inner| inner.get_name() != "help")
    {
        let name = format!("{name}-{}", inner.get_name());
        collect(&name, inner, pages);
    }
}

#[test]
fn every_command_that_works_takes_the_settings_it_reads() {
    let bare = [
        "completions",
        "man",
        "config schema",
        "config docs",
        "smoke",
        "profile for-kind",
    ];
    let command = command();
    let mut found = Vec::new();
    leaves(&command, String::new(), &mut found);
    assert!(found.len() > bare.len());
    for (name, leaf) in found {
        let takes = leaf.get_arguments().any(|arg| arg.get_id() == "config");
        assert_eq!(takes, !bare.contains(&name.as_str()), "{name}");
    }
}

fn leaves<'a>(command: &'a Clap, name: String, found: &mut Vec<(String, &'a Clap)>) {
    let inner: Vec<&Clap> = command.get_subcommands().collect();
    if inner.is_empty() {
        found.push((name, command));
        return;
    }
    for command in inner {
        let name = format!("{name} {}", command.get_name()).trim().to_owned();
        leaves(command, name, found);
    }
}

#[test]
fn settings_are_taken_from_the_innermost_command() {
    let given = typed("toolgate target list --url http://h:1 --config x.toml --json")
        .unwrap()
        .given;
    assert_eq!(given.file, Some("x.toml".into()));
    let flags: Vec<(&str, &str)> = given
        .flags
        .iter()
        .map(|(key, text)| (key.name, text.as_str()))
        .collect();
    assert_eq!(flags, [("url", "http://h:1")]);
}

#[test]
fn a_switch_may_stand_alone_and_never_swallows_what_follows() {
    let value = |line: &str| {
        typed(line)
            .unwrap()
            .given
            .flags
            .first()
            .map(|(_, text)| text.clone())
    };
    assert_eq!(value("toolgate up --behind-proxy").as_deref(), Some("true"));
    assert_eq!(
        value("toolgate up --behind-proxy --json").as_deref(),
        Some("true")
    );
    assert_eq!(
        value("toolgate up --behind-proxy=false").as_deref(),
        Some("false")
    );
    assert_eq!(value("toolgate up"), None);
}

#[test]
fn an_unknown_flag_names_the_nearest_known_one() {
    let error = typed("toolgate up --limits-user-per-minut 5").unwrap_err();
    assert_eq!(error.exit_code(), 2);
    assert!(error.to_string().contains("--limits-user-per-minute"), "{error}");
}

#[test]
fn without_a_command_everything_runs() {
    assert!(typed("toolgate").unwrap().cli.command.is_none());
}

#[test]
fn the_database_is_named_where_it_is_opened() {
    for command in ["up", "core", "audit verify", "audit export"] {
        let line = format!("toolgate {command} --database-url postgres://app@db/gate");
        assert!(typed(&line).is_ok(), "{line}");
    }
    assert!(typed("toolgate facade --database-url postgres://app@db/gate").is_err());
}

#[test]
fn programs_are_told_what_is_wrong_with_the_line_as_json() {
    let check = |line: &str, message: &str, details: &[&str], next: Option<&str>| {
        let json = usage(&typed(line).unwrap_err()).json();
        let expected = serde_json::json!({"error": {
            "exitCode": 2, "message": message, "details": details, "next": next, "problem": null,
        }});
        assert_eq!(json, expected, "{line}");
    };
    check(
        "toolgate up --htp x --json",
        "unexpected argument '--htp' found",
        &[],
        Some("a similar argument exists: '--http'"),
    );
    check(
        "toolgate token create --json",
        "the following required arguments were not provided:",
        &["--role <ROLE>", "<NAME>"],
        None,
    );
    check(
        "toolgate token",
        "a command is missing",
        &[],
        Some("--help lists what there is"),
    );
}

#[test]
fn json_is_asked_for_before_the_end_of_flags() {
    let check = |line: &str, expected: bool| {
        assert_eq!(wants_json(line.split(' ').map(Into::into)), expected, "{line}");
    };
    check("toolgate up --json", true);
    check("toolgate --json nope", true);
    check("toolgate call -- --json", false);
    check("toolgate up", false);
}

#[test]
fn a_flag_stands_with_the_listing_or_with_the_tool_that_is_shown() {
    let profile = |line: &str| match typed(line).unwrap().cli.command {
        Some(Command::Tools(args)) => match args.command {
            Some(ToolsCommand::Show { profile, .. }) => profile.profile,
            None => args.profile.profile,
        },
        other => panic!("{other:?}"),
    };
    assert_eq!(profile("toolgate tools --profile p").as_deref(), Some("p"));
    assert_eq!(
        profile("toolgate tools show a.b --profile p").as_deref(),
        Some("p")
    );
    let given = typed("toolgate tools show a.b --url http://h:1").unwrap().given;
    assert_eq!(given.flags.len(), 1);
}

#[test]
fn every_command_line_that_a_document_shows_is_understood() {
    let mut shown = 0;
    for file in [
        "README.md",
        "docs/relay.md",
        "docs/project.md",
        "docs/transcript.md",
    ] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("..")
            .join(file);
        let text = std::fs::read_to_string(path).unwrap();
        let lines = text.lines().filter_map(|line| {
            line.strip_prefix("$ toolgate ")
                .or_else(|| line.strip_prefix("ExecStart=/usr/local/bin/toolgate "))
        });
        for line in lines {
            let parsed = parse(["toolgate".into()].into_iter().chain(words(line)));
            assert!(parsed.is_ok(), "{file}: {line}: {parsed:?}");
            shown += 1;
        }
    }
    assert!(shown > 5, "the documents still show command lines");
}

// As a shell reads them, as far as the documents go: single quotes and comments.
fn words(line: &str) -> Vec<std::ffi::OsString> {
    let line = line.split(" #").next().unwrap_or_default();
    let (mut words, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words
        .into_iter()
        .filter(|word| !word.is_empty())
        .map(Into::into)
        .collect()
}
