//! The text behind the status: Proxmox VE says there what went wrong.

use http::Extensions;
use hyper::ext::ReasonPhrase;

const LONGEST: usize = 512;

/// What the target said behind the status, where it is not what the status is called anyway: one line, bounded.
pub(in crate::upstream::reader) fn status_text(extensions: &Extensions) -> Option<String> {
    let said = String::from_utf8_lossy(extensions.get::<ReasonPhrase>()?.as_bytes());
    let line: String = said.chars().filter(|c| !c.is_control()).take(LONGEST).collect();
    let line = line.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_one_bounded_line() {
        let check = |said: &[u8], expected: Option<&str>| {
            let mut extensions = Extensions::new();
            extensions.insert(ReasonPhrase::try_from(said).unwrap());
            assert_eq!(status_text(&extensions).as_deref(), expected);
        };
        check(
            b"Permission check failed (/vms/100, VM.Audit)",
            Some("Permission check failed (/vms/100, VM.Audit)"),
        );
        check(b"", None);
        check(b"  \t ", None);
        check(b"a\tb\xffc", Some("ab\u{fffd}c"));
        check(&[b'x'; 2_000], Some(&"x".repeat(512)));
        assert_eq!(status_text(&Extensions::new()), None);
    }
}
