use proptest::prelude::*;

use super::*;

#[track_caller]
fn runs(command: &str, argv: &[&str]) {
    let parsed = parse(command).unwrap_or_else(|refused| panic!("{command:?}: {refused}"));
    assert_eq!(parsed.argv(), argv, "{command:?}");
    assert_eq!(parsed.to_string(), command);
}

#[test]
fn the_six_commands_become_fixed_argument_vectors() {
    runs("uptime", &["uptime"]);
    runs("df -h", &["df", "-h"]);
    runs("free -m", &["free", "-m"]);
    runs(
        "systemctl status nginx",
        &["systemctl", "status", "--no-pager", "--", "nginx"],
    );
    runs("journalctl -n 5", &["journalctl", "--no-pager", "-n5"]);
    runs("journalctl -n 500", &["journalctl", "--no-pager", "-n500"]);
    runs(
        "systemctl list-units --type=service",
        &["systemctl", "list-units", "--no-pager", "--type=service"],
    );
}

#[test]
fn names_of_services_as_hosts_have_them_are_accepted() {
    let long = "a".repeat(255);
    for name in [
        "nginx",
        "nginx.service",
        "_internal",
        "php7.4-fpm",
        "user@1000.service",
        "tpl@b-c",
        "dbus-org.freedesktop.resolve1.service",
        "systemd-fsck@dev-disk-by\\x2duuid-1234.service",
        "a:b",
        "1.service",
        "getty@tty1",
        "7zip",
        &long,
    ] {
        runs(
            &format!("systemctl status {name}"),
            &["systemctl", "status", "--no-pager", "--", name],
        );
    }
}

#[test]
fn what_is_not_the_name_of_one_service_is_refused() {
    let long = "a".repeat(256);
    for name in [
        "-H root@evil",
        "-Hroot@evil",
        "-M",
        "--root=/",
        "--help",
        "-p",
        "--state=failed",
        "1",
        "4711",
        "/",
        "/etc/passwd",
        ".",
        "..",
        ".service",
        "tpl@*",
        "*",
        "[a-z]*",
        "ngin?",
        "",
        "demo;id",
        "a b",
        "a\nb",
        "nginx\n",
        "nginx ",
        " nginx",
        "dé",
        "%n",
        "$(id)",
        "`id`",
        "a|b",
        "a&b",
        "a\0b",
        "tpl@.service",
        "tpl@",
        "a@b@c",
        "@a",
        "a\\b",
        "a\\x2",
        "a\\xgg",
        "a\\",
        "ssh.socket",
        "multi-user.target",
        "home.mount",
        "session-1.scope",
        "user.slice",
        "apt.timer",
        "ｎginx",
        "nginx\u{200b}",
        &long,
    ] {
        let command = format!("systemctl status {name}");
        assert_eq!(
            parse(&command),
            Err(if command.len() > MAX_COMMAND {
                Refused::Unknown
            } else {
                Refused::Service
            }),
            "{name:?}"
        );
    }
}

#[test]
fn what_is_not_a_number_of_lines_is_refused() {
    for lines in [
        "0",
        "501",
        "65541",
        "+5",
        "-5",
        "all",
        " 5",
        "5 ",
        "0x10",
        "5;id",
        "٥",
        "５",
        "05",
        "1e2",
        "",
        "5\n",
        "5.0",
        "1_0",
        "99999999999999999999",
    ] {
        assert_eq!(
            parse(&format!("journalctl -n {lines}")),
            Err(Refused::Lines),
            "{lines:?}"
        );
    }
}

#[test]
fn anything_else_is_refused() {
    for command in [
        "",
        " ",
        "rm -rf /",
        "uptime; id",
        "uptime ",
        " uptime",
        "uptime\n",
        "uptime\0",
        "UPTIME",
        "uptime -p",
        "/usr/bin/uptime",
        "ｕptime",
        "df",
        "df  -h",
        "df\t-h",
        "df -h /",
        "df -h;id",
        "df\u{a0}-h",
        "free",
        "free -g",
        "systemctl",
        "systemctl status",
        "systemctl  status nginx",
        "systemctl restart nginx",
        "systemctl list-units",
        "systemctl list-units --type=socket",
        "systemctl list-units --type=service --all",
        "systemctl list-units --no-pager --type=service",
        "journalctl",
        "journalctl -n5",
        "journalctl -n",
        "journalctl -f",
        "journalctl --no-pager -n5",
        "$(uptime)",
        "uptime && id",
        "uptime | sh",
    ] {
        assert_eq!(parse(command), Err(Refused::Unknown), "{command:?}");
    }
    assert_eq!(parse(&"a".repeat(1 << 20)), Err(Refused::Unknown));
}

#[test]
fn two_spaces_before_an_argument_are_refused() {
    assert!(parse("systemctl status  nginx").is_err());
    assert!(parse("journalctl -n  5").is_err());
}

#[test]
fn the_advertised_commands_are_the_accepted_ones() {
    for command in COMMANDS {
        let example = command.replace("<service>", "nginx").replace("<1-500>", "7");
        assert!(parse(&example).is_ok(), "{command}");
    }
}

/// Words an attacker would try, glued by separators an attacker would try.
fn hostile() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "uptime",
        "df",
        "-h",
        "free",
        "-m",
        "systemctl",
        "status",
        "list-units",
        "--type=service",
        "journalctl",
        "-n",
        "5",
        "nginx",
        "nginx.service",
        "-H",
        "root@x",
        "*",
        "\\x2d",
        "@",
        ";",
        "|",
        "$(id)",
        "٥",
        "sh",
        "-c",
        "..",
        "/",
    ]);
    let gap = prop::sample::select(vec!["", " ", "  ", "\t", "\n", ";", "\u{a0}", "\0"]);
    prop::collection::vec((word, gap), 0..6).prop_map(|parts| {
        parts
            .into_iter()
            .flat_map(|(word, gap)| [word, gap])
            .collect::<String>()
    })
}

/// The grammar once more, as an independent description of what may be accepted.
fn is_plainly_one_of_the_six(command: &str) -> bool {
    let words: Vec<&str> = command.split(' ').collect();
    match words.as_slice() {
        ["uptime"] | ["df", "-h"] | ["free", "-m"] | ["systemctl", "list-units", "--type=service"] => true,
        ["journalctl", "-n", lines] => (1..=500).any(|n| n.to_string() == *lines),
        ["systemctl", "status", name] => {
            let first = name.chars().next();
            (1..=255).contains(&name.len())
                && first.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
                && name
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || ":_.\\@-".contains(c))
                && name.parse::<u128>().is_err()
                && name.matches('@').count() <= 1
                && !name.ends_with('@')
                && !name.ends_with("@.service")
        }
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_outside_the_grammar_is_accepted(command in prop_oneof![hostile(), ".{0,40}", "systemctl status .{0,20}"]) {
        if let Ok(parsed) = parse(&command) {
            prop_assert!(is_plainly_one_of_the_six(&command), "{command:?}");
            prop_assert_eq!(parsed.to_string(), command);
        }
    }

    #[test]
    fn a_shown_command_parses_to_itself(lines in 1u16..=500, name in "[A-Za-z_][A-Za-z0-9_.-]{0,40}") {
        for command in [format!("journalctl -n {lines}"), format!("systemctl status {name}")] {
            if let Ok(parsed) = parse(&command) {
                prop_assert_eq!(parse(&parsed.to_string()), Ok(parsed));
            }
        }
        let accepted = parse(&format!("journalctl -n {lines}")).is_ok();
        prop_assert!(accepted);
    }
}
