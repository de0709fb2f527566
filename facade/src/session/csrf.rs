//! What our pages prove themselves with: derived from the session, so there is nothing to keep, and nobody who cannot
//! read the session or our answers can compute it.

use data_encoding::BASE64URL_NOPAD;
use ring::digest::{Context, SHA256};
use subtle::ConstantTimeEq;

const LABEL: &[u8] = b"toolgate/csrf/v1";

/// The token of a session, by its cookie's value.
pub(crate) fn token(session: &[u8]) -> String {
    let mut hash = Context::new(&SHA256);
    hash.update(LABEL);
    hash.update(&[0]);
    hash.update(session);
    BASE64URL_NOPAD.encode(hash.finish().as_ref())
}

/// Whether this is the session's, in a time that tells nothing of how much of it is right.
pub(super) fn fits(session: &[u8], shown: &[u8]) -> bool {
    token(session).as_bytes().ct_eq(shown).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_the_one_that_the_pages_were_told() {
        // printf 'toolgate/csrf/v1\0tgs_a_b' | openssl sha256 -binary | basenc --base64url
        assert_eq!(token(b"tgs_a_b"), "D4v28UHHjlMAbm1GXfZfXWGtraZrIvt8tRfGf2QIPks");
    }

    #[test]
    fn only_the_whole_token_of_this_session_fits() {
        let right = token(b"tgs_a_b");
        assert!(fits(b"tgs_a_b", right.as_bytes()));
        for wrong in [
            "",
            &right[1..],
            &right[..42],
            &format!("{right}="),
            &right.to_lowercase(),
            &token(b"tgs_a_c"),
        ] {
            assert!(!fits(b"tgs_a_b", wrong.as_bytes()), "{wrong}");
        }
        assert!(!fits(b"tgs_a_b", b"tgs_a_b"));
    }
}
