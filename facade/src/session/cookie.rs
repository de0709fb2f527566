//! Reading and writing cookies (RFC 6265), as bytes: other programs of the same host set what they like beside ours.

use http::{HeaderMap, HeaderValue, header};

use super::COOKIE;
use crate::problem::Problem;

/// What goes with each cookie of ours: to this host only, never by plain HTTP, never to a script, and from another site
/// only when the reader goes to ours.
const ATTRIBUTES: &str = "Path=/; Secure; HttpOnly; SameSite=Lax";

/// A name that is given twice: two readers could each see another value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Twice;

/// The value of a cookie, as it was sent; none where it is empty, as one that was taken back is.
pub(crate) fn find<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h [u8]>, Twice> {
    let lines = headers.get_all(header::COOKIE).iter();
    let pairs = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b';'));
    let mut values = pairs.filter_map(|pair| {
        let at = pair.iter().position(|byte| *byte == b'=')?;
        let (found, value) = (pair[..at].trim_ascii(), pair[at + 1..].trim_ascii());
        (found == name.as_bytes()).then_some(value)
    });
    match (values.next(), values.next()) {
        (_, Some(_)) => Err(Twice),
        (value, None) => Ok(value.filter(|value| !value.is_empty())),
    }
}

/// The header that gives a browser its session.
pub(crate) fn given(token: &str) -> Result<HeaderValue, Problem> {
    // Tokens of the core are letters, digits, `-` and `_`.
    let mut header =
        HeaderValue::try_from(format!("{COOKIE}={token}; {ATTRIBUTES}")).map_err(|_| Problem::internal())?;
    header.set_sensitive(true);
    Ok(header)
}

/// The header that takes it back.
pub(crate) fn taken_back() -> HeaderValue {
    // Plain text, as a test says.
    HeaderValue::try_from(format!("{COOKIE}=; {ATTRIBUTES}; Max-Age=0"))
        .unwrap_or(HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests;
