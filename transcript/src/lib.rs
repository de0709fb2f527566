//! The transcript tailer: follows the JSONL transcripts of an agent and tells of the internal issues that it reports.
//!
//! Two halves. What a line says ([`read`] and what it is made of) is pure. What stands in files ([`Tail`]) goes on
//! whatever happens to them: they are rotated, cut, missing, unreadable, written in pieces. May touch the contract;
//! knows no gateway, no network and no clock of its own: whoever drives it says what time it is. Nothing of a
//! transcript but reports, names and ids is ever logged.

mod json;
mod line;
mod lines;
mod open;
mod record;
mod report;
mod tail;
mod tool;
mod turn;
#[cfg(test)]
mod witness;

pub use line::{Block, Issue, read};
pub use lines::{LONGEST_LINE, Lines, Piece};
pub use record::{COUNTER, Work, begin, describe};
pub use report::{CATEGORIES, Labels, Report, SEVERITIES};
pub use tail::{Looked, Settings, Tail};
pub use tool::{REPORT_TOOL, SERVER, report_tool};
pub use turn::Turns;
