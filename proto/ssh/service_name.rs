//! The name of one systemd service.
//!
//! `systemctl` takes far more than names in this place: options (`-H host` dials out), process ids, paths, globs,
//! other kinds of units. Only what names exactly one service passes.

use std::fmt;

/// The name of one service, with or without `.service`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ServiceName(String);

const MAX: usize = 255;
const SUFFIX: &str = ".service";

/// The other kinds of units. `php7.4-fpm` is a service all the same: only these endings mean another kind.
const OTHER_KINDS: [&str; 12] = [
    ".socket",
    ".target",
    ".device",
    ".mount",
    ".automount",
    ".swap",
    ".timer",
    ".path",
    ".slice",
    ".scope",
    ".snapshot",
    ".busname",
];

impl ServiceName {
    /// Parses a name; `None` when it might mean anything but one service.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let stem = text.strip_suffix(SUFFIX).unwrap_or(text);
        let accepted = text.len() <= MAX
            && starts_plainly(text)
            && text.bytes().all(is_allowed)
            && !text.bytes().all(|byte| byte.is_ascii_digit())
            && !OTHER_KINDS.iter().any(|kind| text.ends_with(kind))
            && names_an_instance(stem)
            && escapes_well(text);
        accepted.then(|| Self(text.to_owned()))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn starts_plainly(text: &str) -> bool {
    text.bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'_' | b'.' | b'\\' | b'@' | b'-')
}

/// At most one `@`, and something behind it: a bare template is no service.
fn names_an_instance(stem: &str) -> bool {
    match stem.split_once('@') {
        None => true,
        Some((_, instance)) => !instance.is_empty() && !instance.contains('@'),
    }
}

/// A backslash only as `\xHH`, the way systemd escapes.
fn escapes_well(text: &str) -> bool {
    text.split('\\').skip(1).all(|rest| match rest.as_bytes() {
        [b'x', high, low, ..] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
        _ => false,
    })
}

impl fmt::Display for ServiceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
