//! The grammar of the six commands that may run on a host.
//!
//! Pure and shared: the broker parses a command before it permits a call, the relay parses it again before it runs
//! one. Every accepted text is canonical, so what was asked, what was journalled and what ran are the same text.
//! Absent: shells, quoting, look-up of programs (the relay does that), anything beyond ASCII.

use std::fmt;

mod lines;
mod service_name;

pub use lines::Lines;
pub use service_name::ServiceName;

/// The longest text that is looked at.
pub const MAX_COMMAND: usize = 300;

/// The six commands as a caller is told about them.
pub const COMMANDS: [&str; 6] = [
    "uptime",
    "df -h",
    "free -m",
    "systemctl status <service>",
    "journalctl -n <1-500>",
    "systemctl list-units --type=service",
];

/// One of the six commands. There is no seventh, and none carries free text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Command {
    /// How long the host is up, and its load.
    Uptime,
    /// Space of the mounted file systems.
    DiskFree,
    /// Memory in MiB.
    FreeMemory,
    /// State of one service, with its last log lines.
    ServiceStatus(ServiceName),
    /// The last lines of the journal.
    Journal(Lines),
    /// The loaded services.
    ListServices,
}

/// A text that is none of the six commands. It says nothing of the text itself, which may be hostile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// No such command.
    #[error(
        "not one of the six read-only commands: uptime, df -h, free -m, systemctl status <service>, \
         journalctl -n <1-500>, systemctl list-units --type=service"
    )]
    Unknown,
    /// `systemctl status` with something that is not the name of one service.
    #[error("systemctl status takes the name of one service, such as nginx or nginx.service")]
    Service,
    /// `journalctl -n` with something that is not a number from 1 to 500.
    #[error("journalctl -n takes a number of lines from 1 to 500, digits only")]
    Lines,
}

/// Parses a command. Words are parted by exactly one space; nothing stands before or after.
pub fn parse(command: &str) -> Result<Command, Refused> {
    if command.len() > MAX_COMMAND {
        return Err(Refused::Unknown);
    }
    match command {
        "uptime" => Ok(Command::Uptime),
        "df -h" => Ok(Command::DiskFree),
        "free -m" => Ok(Command::FreeMemory),
        "systemctl list-units --type=service" => Ok(Command::ListServices),
        _ => parse_with_argument(command),
    }
}

fn parse_with_argument(command: &str) -> Result<Command, Refused> {
    if let Some(name) = command.strip_prefix("systemctl status ") {
        return ServiceName::parse(name)
            .map(Command::ServiceStatus)
            .ok_or(Refused::Service);
    }
    if let Some(lines) = command.strip_prefix("journalctl -n ") {
        return Lines::parse(lines).map(Command::Journal).ok_or(Refused::Lines);
    }
    Err(Refused::Unknown)
}

impl Command {
    /// The program, by its bare name. Where it lies on a host is for the relay to find.
    #[must_use]
    pub fn program(&self) -> &'static str {
        match self {
            Self::Uptime => "uptime",
            Self::DiskFree => "df",
            Self::FreeMemory => "free",
            Self::ServiceStatus(_) | Self::ListServices => "systemctl",
            Self::Journal(_) => "journalctl",
        }
    }

    /// Everything after the program. Options are fixed; the one name stands behind `--`.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        let fixed: &[&str] = match self {
            Self::Uptime => &[],
            Self::DiskFree => &["-h"],
            Self::FreeMemory => &["-m"],
            Self::ServiceStatus(name) => &["status", "--no-pager", "--", name.as_str()],
            // One word: as two, a number journalctl does not like would become a match on the journal.
            Self::Journal(lines) => return vec!["--no-pager".to_owned(), format!("-n{lines}")],
            Self::ListServices => &["list-units", "--no-pager", "--type=service"],
        };
        fixed.iter().map(|&word| word.to_owned()).collect()
    }

    /// Program and arguments, as they are run.
    #[must_use]
    pub fn argv(&self) -> Vec<String> {
        let mut argv = vec![self.program().to_owned()];
        argv.extend(self.arguments());
        argv
    }
}

/// The canonical text, which is also the only accepted one.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uptime => f.write_str("uptime"),
            Self::DiskFree => f.write_str("df -h"),
            Self::FreeMemory => f.write_str("free -m"),
            Self::ServiceStatus(name) => write!(f, "systemctl status {name}"),
            Self::Journal(lines) => write!(f, "journalctl -n {lines}"),
            Self::ListServices => f.write_str("systemctl list-units --type=service"),
        }
    }
}

#[cfg(test)]
mod tests;
