//! When a token expires: `2027-10-12 09:00:00 UTC`, which is no ISO time, or one that is.

use crate::rfc3339;

/// The moment as RFC 3339; `None` for what is none.
pub(in crate::adapters::github) fn expiry(text: &str) -> Option<String> {
    let text = text.trim();
    if text.len() > 40 {
        return None;
    }
    let mut words = text.splitn(3, ' ');
    let (day, rest) = (words.next()?, words.next());
    let Some(time) = rest else {
        return rfc3339::parse(day).ok().map(rfc3339::format);
    };
    let offset = match words.next().map(str::trim) {
        None | Some("UTC" | "Z" | "GMT") => "Z".to_owned(),
        Some(offset) if offset.len() == 5 && offset.is_ascii() => {
            format!("{}:{}", &offset[..3], &offset[3..])
        }
        Some(_) => return None,
    };
    rfc3339::parse(&format!("{day}T{time}{offset}"))
        .ok()
        .map(rfc3339::format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_that_was_seen_is_read() {
        let check =
            |text: &str, expected: Option<&str>| assert_eq!(expiry(text).as_deref(), expected, "{text}");
        check("2027-10-12 09:00:00 UTC", Some("2027-10-12T09:00:00.000000Z"));
        check("2027-10-12 09:00:00 +0200", Some("2027-10-12T07:00:00.000000Z"));
        check("2027-10-12T09:00:00Z", Some("2027-10-12T09:00:00.000000Z"));
        check("2027-10-12 09:00:00", Some("2027-10-12T09:00:00.000000Z"));
        for text in [
            "",
            " ",
            "never",
            "2027-10-12",
            "2027-10-12 09:00:00 CESTX",
            "2027-10-12 09:00:00 üüx",
        ] {
            check(text, None);
        }
    }
}
