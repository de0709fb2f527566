//! The query of a URL as pairs of texts, strictly: what does not decode is refused, not guessed.

use crate::{body::malformed, problem::Problem};

/// Most pairs a query may hold; no request has as many fields.
const MOST: usize = 100;

/// Splits and decodes a query.
pub(crate) fn pairs(query: &str) -> Result<Vec<(String, String)>, Problem> {
    let parts = query.split('&').filter(|part| !part.is_empty());
    let mut pairs = Vec::new();
    for part in parts {
        if pairs.len() == MOST {
            return Err(malformed(format!("the query has more than {MOST} parameters")));
        }
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let name = decode(name).ok_or_else(|| malformed("a parameter name in the query does not decode"))?;
        let value = decode(value)
            .ok_or_else(|| malformed(format!("the value of query parameter {name:?} does not decode")))?;
        pairs.push((name, value));
    }
    Ok(pairs)
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'+' => b' ',
            b'%' => hex(bytes.next()?)? << 4 | hex(bytes.next()?)?,
            _ => byte,
        });
    }
    String::from_utf8(out).ok()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_decoded_strictly() {
        let check = |query: &str, expected: Option<&[(&str, &str)]>| {
            let expected = expected.map(|pairs| {
                pairs
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                    .collect::<Vec<_>>()
            });
            assert_eq!(pairs(query).ok(), expected, "{query}");
        };
        check("", Some(&[]));
        check("&&", Some(&[]));
        check("a=1&b=", Some(&[("a", "1"), ("b", "")]));
        check("a", Some(&[("a", "")]));
        check("a+b=c%20d%2B", Some(&[("a b", "c d+")]));
        check("a=b=c", Some(&[("a", "b=c")]));
        check("a=%", None);
        check("a=%2", None);
        check("a=%zz", None);
        check("a=%+1", None);
        check("a=%ff", None);
        check(&"a=1&".repeat(101), None);
    }
}
