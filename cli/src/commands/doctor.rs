//! `doctor`: looks at this machine and at the gateway, and says for each fault what to do.

mod gateway;
mod machine;

use serde_json::json;

use super::Context;
use crate::{
    config::Reader,
    failure::{Exit, Failure},
    output::Output,
};

/// One thing that was looked at.
#[derive(Debug)]
struct Check {
    name: &'static str,
    state: State,
    found: String,
    next: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Good,
    Doubtful,
    Bad,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Doubtful => "note",
            Self::Bad => "fault",
        }
    }
}

impl Check {
    fn good(name: &'static str, found: impl Into<String>) -> Self {
        Self {
            name,
            state: State::Good,
            found: found.into(),
            next: None,
        }
    }

    fn doubtful(name: &'static str, found: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            name,
            state: State::Doubtful,
            found: found.into(),
            next: Some(next.into()),
        }
    }

    fn bad(name: &'static str, found: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            name,
            state: State::Bad,
            found: found.into(),
            next: Some(next.into()),
        }
    }
}

/// Runs the command: 0 when nothing is at fault, 1 otherwise.
pub(super) async fn run(context: &Context) -> Result<Exit, Failure> {
    let config = context.config(Reader::Client)?;
    let mut checks = machine::look(&config);
    checks.extend(gateway::look(&config, &context.environment).await);
    print(context.output, &checks)?;
    let at_fault = checks.iter().any(|check| check.state == State::Bad);
    Ok(if at_fault { Exit::Failed } else { Exit::Done })
}

fn print(output: Output, checks: &[Check]) -> Result<(), Failure> {
    if output.json {
        let checks: Vec<_> = checks
            .iter()
            .map(|check| {
                json!({"name": check.name, "state": check.state.word(), "found": check.found, "next": check.next})
            })
            .collect();
        return output.value(&json!({"checks": checks}));
    }
    for check in checks {
        let word = format!("{:<5}", check.state.word());
        output.raw(output.verdict(&word, check.state != State::Bad).as_bytes())?;
        output.line(&format!("  {:<10}  {}", check.name, check.found))?;
        if let Some(next) = &check.next {
            output.line(&format!("                   next: {next}"))?;
        }
    }
    Ok(())
}
