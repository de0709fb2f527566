//! How a command ends: its exit code, and when it failed, a text that says what happened and what to do next.

use std::io::ErrorKind;

use serde_json::{Map, Value, json};

/// Exit codes; `--help` tells them, scripts rely on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// The tool said no, or something went wrong.
    Failed = 1,
    /// The command line or the configuration cannot be used.
    Usage = 2,
    /// The gateway refused.
    Refused = 3,
    /// The gateway cannot be reached.
    Unreachable = 4,
    /// The audit record is not intact.
    NotIntact = 5,
    /// Nothing was tested.
    NotRun = 6,
}

/// Why a command did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// How the process ends.
    pub(crate) exit: Exit,
    /// What happened.
    pub(crate) message: String,
    /// Each place that is wrong, or what there is to choose from.
    pub(crate) details: Vec<String>,
    /// What to do next.
    pub(crate) next: Option<String>,
    /// The gateway's own problem details, for `--json`.
    pub(crate) problem: Option<Box<Map<String, Value>>>,
}

impl Failure {
    /// A failure with an exit code of its own.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            exit,
            message: message.into(),
            details: Vec::new(),
            next: None,
            problem: None,
        }
    }

    /// Something went wrong.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, message)
    }

    /// The command line cannot be used.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Adds what to do next.
    #[must_use]
    pub(crate) fn next(mut self, next: impl Into<String>) -> Self {
        self.next = Some(next.into());
        self
    }

    /// The reader of our output left; nobody is there to be told.
    pub(crate) fn is_silent(&self) -> bool {
        self.message.is_empty()
    }

    /// The text for people.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("error: {}", self.message);
        for detail in &self.details {
            text.push_str("\n  ");
            text.push_str(detail);
        }
        if let Some(next) = &self.next {
            text.push_str("\nnext: ");
            text.push_str(next);
        }
        text
    }

    /// The same for programs.
    pub(crate) fn json(&self) -> Value {
        json!({"error": {
            "exitCode": self.exit as u8,
            "message": self.message,
            "details": self.details,
            "next": self.next,
            "problem": self.problem,
        }})
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == ErrorKind::BrokenPipe {
            return Self::new(Exit::Done, "");
        }
        Self::failed(format!("cannot write the output: {error}"))
    }
}

impl From<crate::config::Problems> for Failure {
    fn from(problems: crate::config::Problems) -> Self {
        let details = problems
            .0
            .iter()
            .map(|problem| format!("{}: {}", problem.place, problem.text))
            .collect();
        Self {
            details,
            ..Self::usage("the configuration cannot be used")
        }
    }
}
