//! The process between the relay and a command: `toolgate __guard`.
//!
//! Two stages of the same binary, because what other programs do between fork and exec is done here by a second exec,
//! in plain safe code. `watch` is subreaper of everything the command starts and holds one end of a socket, its
//! lifeline: when the relay closes the other end, by intent or by dying in whatever way, or when the deadline is
//! long past, `watch` kills until nothing is left. `launch` sheds privileges, asks to die with `watch`, and becomes
//! the command. Absent: shells, signal handlers, knowledge of the six commands.
//!
//! A project's server is guarded the same way as `serve` and `become`, with two differences: its standard input is its
//! lifeline as well, and when that ends it gets a moment to end by itself; and it keeps all that its operator gave it.
//!
//! `watch` does not ask for a parent death signal itself: it would be killed before it could clean up. The lifeline
//! tells it of the relay's death, and a process that has a lifeline cannot miss it.

use std::{ffi::OsString, io::Write, process::ExitCode};

mod accounts;
mod launch;
mod reap;
mod report;
mod serve;
mod watch;

pub(crate) use report::Report;

/// How a guard is called: `… watch DEADLINE_MS drop|keep -- PROGRAM ARGS…`.
pub(crate) const WATCH: &str = "watch";
const LAUNCH: &str = "launch";
/// How a guard of a project's server is called: `… serve GRACE_MS keep -- PROGRAM ARGS…`.
pub(crate) const SERVE: &str = "serve";
const BECOME: &str = "become";
/// How the line begins that a guard writes to standard error when it could not become the server.
pub(crate) const FAILED: &str = "toolgate guard: ";
/// Commands run as an unprivileged user.
pub(crate) const DROP: &str = "drop";
/// Commands run as whoever runs the relay.
pub(crate) const KEEP: &str = "keep";

/// What a guard is told to do.
#[derive(Debug, PartialEq, Eq)]
struct Order {
    /// The words before the stage: how this binary is made to be a guard.
    prefix: Vec<OsString>,
    stage: Stage,
    drop: bool,
    program: OsString,
    arguments: Vec<OsString>,
}

#[derive(Debug, PartialEq, Eq)]
enum Stage {
    Watch { deadline_ms: u64 },
    Launch { guard: i32 },
    Serve { grace_ms: u64 },
    Become { guard: i32 },
}

/// Entry of `toolgate __guard`. Not for people: the relay calls it.
pub fn guard_main() -> ExitCode {
    let Some(order) = Order::read(std::env::args_os().skip(1)) else {
        drop(writeln!(
            std::io::stderr(),
            "this is called by the relay, not by hand"
        ));
        return ExitCode::from(2);
    };
    match order.stage {
        Stage::Watch { deadline_ms } => watch::run(&order, deadline_ms),
        Stage::Launch { guard } => launch::run(&order, guard),
        Stage::Serve { grace_ms } => serve::run(&order, grace_ms),
        Stage::Become { guard } => launch::server(&order, guard),
    }
}

impl Order {
    fn read(arguments: impl Iterator<Item = OsString>) -> Option<Self> {
        let mut words = arguments.peekable();
        let mut prefix = Vec::new();
        while let Some(word) = words.next_if(|word| !is_stage(word)) {
            prefix.push(word);
        }
        let stage = words.next()?;
        let number = words.next()?.into_string().ok()?;
        let stage = match stage.to_str()? {
            WATCH => Stage::Watch {
                deadline_ms: number.parse().ok()?,
            },
            SERVE => Stage::Serve {
                grace_ms: number.parse().ok()?,
            },
            BECOME => Stage::Become {
                guard: number.parse().ok()?,
            },
            _ => Stage::Launch {
                guard: number.parse().ok()?,
            },
        };
        let drop = match words.next()?.to_str()? {
            DROP => true,
            KEEP => false,
            _ => return None,
        };
        words.next_if(|word| word == "--")?;
        Some(Self {
            prefix,
            stage,
            drop,
            program: words.next()?,
            arguments: words.collect(),
        })
    }
}

fn is_stage(word: &OsString) -> bool {
    [WATCH, LAUNCH, SERVE, BECOME].iter().any(|stage| word == stage)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<Order> {
        Order::read(line.split(' ').map(OsString::from))
    }

    #[test]
    fn an_order_keeps_prefix_and_arguments_apart() {
        let order = read("__guard watch 9000 drop -- /usr/bin/df watch -- -h").expect("an order");
        assert_eq!(order.prefix, ["__guard"]);
        assert_eq!(order.stage, Stage::Watch { deadline_ms: 9000 });
        assert!(order.drop);
        assert_eq!(order.program, "/usr/bin/df");
        assert_eq!(order.arguments, ["watch", "--", "-h"]);
    }

    #[test]
    fn a_server_is_guarded_by_stages_of_its_own() {
        let order = read("__guard serve 2000 keep -- npx watch").expect("an order");
        assert_eq!(order.stage, Stage::Serve { grace_ms: 2000 });
        assert_eq!(
            (order.program, order.arguments),
            ("npx".into(), vec!["watch".into()])
        );
        let order = read("__guard become 7 keep -- npx").expect("an order");
        assert_eq!(order.stage, Stage::Become { guard: 7 });
    }

    #[test]
    fn anything_else_is_no_order() {
        for line in [
            "",
            "__guard",
            "__guard watch",
            "watch x drop -- a",
            "watch 1 maybe -- a",
            "watch 1 drop a",
            "watch 1 drop --",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
