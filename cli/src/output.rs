//! What people and programs read: plain text, tables, JSON. Colour only on a terminal that wants it.
//!
//! Writes to standard output; warnings and progress go to standard error. A reader that leaves early is no failure.

pub(crate) mod printable;
pub(crate) mod spinner;
pub(crate) mod table;

use std::io::{IsTerminal, Write};

use serde_json::Value;

pub(crate) use self::table::Table;
use crate::failure::Failure;

/// Where a command writes its answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    /// JSON instead of text.
    pub(crate) json: bool,
    terminal: bool,
    colour: bool,
}

impl Output {
    /// Standard output.
    pub(crate) fn new(json: bool, no_color: bool) -> Self {
        let terminal = std::io::stdout().is_terminal();
        Self {
            json,
            terminal,
            colour: terminal && !no_color,
        }
    }

    /// One JSON value, indented for people who look at it.
    pub(crate) fn value(self, value: &Value) -> Result<(), Failure> {
        let text = if self.terminal {
            serde_json::to_string_pretty(value)
        } else {
            serde_json::to_string(value)
        };
        self.raw(
            text.map_err(|error| Failure::failed(error.to_string()))?
                .as_bytes(),
        )?;
        self.raw(b"\n")
    }

    /// A line of text. Control characters never reach a terminal.
    pub(crate) fn line(self, text: &str) -> Result<(), Failure> {
        if self.terminal {
            self.raw(printable::printable(text).as_bytes())?;
        } else {
            self.raw(text.as_bytes())?;
        }
        self.raw(b"\n")
    }

    /// A table, or JSON when asked.
    pub(crate) fn table(self, table: &Table) -> Result<(), Failure> {
        self.raw(table.render(self.colour).as_bytes())
    }

    /// Bytes as they are.
    pub(crate) fn raw(self, bytes: &[u8]) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        out.write_all(bytes)?;
        Ok(out.flush()?)
    }

    /// Green or red, where there is colour.
    pub(crate) fn verdict(self, text: &str, good: bool) -> String {
        let colour = if good { 32 } else { 31 };
        if self.colour {
            format!("\u{1b}[{colour}m{text}\u{1b}[0m")
        } else {
            text.into()
        }
    }
}
