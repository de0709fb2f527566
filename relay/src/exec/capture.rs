//! Output of both streams within one limit.

use super::MAX_OUTPUT;

/// What was kept so far.
#[derive(Debug, Default)]
pub(super) struct Capture {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    full: bool,
}

impl Capture {
    pub(super) fn stdout(&mut self, bytes: &[u8]) {
        let kept = self.admit(bytes);
        self.stdout.extend_from_slice(kept);
    }

    pub(super) fn stderr(&mut self, bytes: &[u8]) {
        let kept = self.admit(bytes);
        self.stderr.extend_from_slice(kept);
    }

    /// True when something had to be left out.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    pub(super) fn into_streams(self) -> (Vec<u8>, Vec<u8>) {
        if !self.full {
            return (self.stdout, self.stderr);
        }
        (whole_characters(self.stdout), whole_characters(self.stderr))
    }

    fn admit<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let room = MAX_OUTPUT - self.stdout.len() - self.stderr.len();
        self.full |= bytes.len() > room;
        &bytes[..bytes.len().min(room)]
    }
}

/// Drops a character that the cut went through. Bytes that are no UTF-8 anyway stay.
fn whole_characters(mut bytes: Vec<u8>) -> Vec<u8> {
    let tail = bytes.len().saturating_sub(3);
    for start in (tail..bytes.len()).rev() {
        if let Err(error) = std::str::from_utf8(&bytes[start..])
            && error.valid_up_to() == 0
            && error.error_len().is_none()
        {
            bytes.truncate(start);
            break;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_never_halves_a_character() {
        for (cut, whole) in [
            (&b"ab"[..], &b"ab"[..]),
            (b"a\xc3", b"a"),
            (b"a\xe2\x82", b"a"),
            (b"a\xf0\x9f\x98", b"a"),
            ("aé".as_bytes(), "aé".as_bytes()),
            ("😀".as_bytes(), "😀".as_bytes()),
            (b"a\xff", b"a\xff"),
            (b"", b""),
        ] {
            assert_eq!(whole_characters(cut.to_vec()), whole, "{cut:?}");
        }
    }

    #[test]
    fn both_streams_share_one_limit() {
        let mut capture = Capture::default();
        capture.stdout(&vec![b'o'; MAX_OUTPUT - 1]);
        capture.stderr(b"e");
        assert!(!capture.is_full(), "exactly the limit is not over it");
        capture.stderr(b"e");
        assert!(capture.is_full());
        let (stdout, stderr) = capture.into_streams();
        assert_eq!((stdout.len(), stderr.len()), (MAX_OUTPUT - 1, 1));
    }
}
