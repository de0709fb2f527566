//! Where a list goes on, as callers carry it: opaque, small, and good for the same question only.
//!
//! A cursor holds the pairs of the query that GitHub named for the next page, under a key that the credential gives. A
//! made-up cursor, one of another question, of another target or from before the credential changed is not read at all.

use data_encoding::BASE64URL_NOPAD;
use ring::hmac;

use super::route::pairs;

const MAC: usize = 16;
/// What the contract lets callers send.
const LONGEST: usize = 512;

/// Makes and reads the cursors of one target.
pub(super) struct Cursors(hmac::Key);

impl Cursors {
    /// For the target at this base with this credential.
    pub(super) fn new(token: &str, base: &str) -> Self {
        let root = hmac::Key::new(hmac::HMAC_SHA256, token.as_bytes());
        let key = hmac::sign(&root, format!("toolgate/github/cursor/v1\n{base}").as_bytes());
        Self(hmac::Key::new(hmac::HMAC_SHA256, key.as_ref()))
    }

    /// The cursor to this page of the answer to this question; `None` when it would be too long.
    pub(super) fn seal(&self, question: &str, page: &[(String, String)]) -> Option<String> {
        let payload = form_urlencoded(page);
        let mac = self.mac(question, &payload);
        let sealed = BASE64URL_NOPAD.encode(&[&mac.as_ref()[..MAC], payload.as_bytes()].concat());
        (sealed.len() <= LONGEST).then_some(sealed)
    }

    /// The page that a cursor of this question leads to.
    pub(super) fn open(&self, question: &str, cursor: &str) -> Option<Vec<(String, String)>> {
        if cursor.len() > LONGEST {
            return None;
        }
        let bytes = BASE64URL_NOPAD.decode(cursor.as_bytes()).ok()?;
        let (mac, payload) = bytes.split_at_checked(MAC)?;
        let payload = std::str::from_utf8(payload).ok()?;
        // Compared by a second pass of the key, so that time tells nothing of the first.
        let again = |mac: &[u8]| hmac::sign(&self.0, mac);
        let expected = self.mac(question, payload);
        (again(mac).as_ref() == again(&expected.as_ref()[..MAC]).as_ref()).then(|| pairs(payload))?
    }

    fn mac(&self, question: &str, payload: &str) -> hmac::Tag {
        let mut text = question.len().to_string();
        for part in ["\n", question, payload] {
            text.push_str(part);
        }
        hmac::sign(&self.0, text.as_bytes())
    }
}

impl std::fmt::Debug for Cursors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Cursors(***)")
    }
}

fn form_urlencoded(page: &[(String, String)]) -> String {
    let encoded = |text: &str| {
        percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
    };
    let pairs: Vec<String> = page
        .iter()
        .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)))
        .collect();
    pairs.join("&")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn page(value: &str) -> Vec<(String, String)> {
        vec![("page".into(), value.into()), ("per_page".into(), "30".into())]
    }

    #[test]
    fn a_cursor_leads_back_to_its_page() {
        let cursors = Cursors::new("github_pat_a", "https://api.github.com");
        let cursor = cursors.seal("q", &page("Y3=&x")).unwrap();
        assert_eq!(cursors.open("q", &cursor), Some(page("Y3=&x")));
        assert!(
            cursors.seal("q", &page(&"x".repeat(500))).is_none(),
            "longer than a caller may send"
        );
    }

    #[test]
    fn a_cursor_of_something_else_is_not_read() {
        let cursors = Cursors::new("github_pat_a", "https://api.github.com");
        let cursor = cursors.seal("q", &page("2")).unwrap();
        assert_eq!(cursors.open("another question", &cursor), None);
        for (token, base) in [
            ("github_pat_b", "https://api.github.com"),
            ("github_pat_a", "https://acme.org/api/v3"),
        ] {
            assert_eq!(
                Cursors::new(token, base).open("q", &cursor),
                None,
                "{token} {base}"
            );
        }
        let mut bytes = BASE64URL_NOPAD.decode(cursor.as_bytes()).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        assert_eq!(cursors.open("q", &BASE64URL_NOPAD.encode(&bytes)), None);
        for made_up in ["", "page=2", "AAAA", "https://evil.example/?page=2"] {
            assert_eq!(cursors.open("q", made_up), None, "{made_up}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_reading_a_cursor_panic(cursor in "\\PC{0,600}") {
            prop_assert_eq!(Cursors::new("t", "b").open("q", &cursor), None);
        }
    }
}
