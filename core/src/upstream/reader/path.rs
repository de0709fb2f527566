//! A path below the base, out of segments and pairs.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

use super::{Base, Fault};

/// Everything but what means itself in every part of an address.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

const LONGEST: usize = 16 * 1024;

/// A path below the base and its query, built of segments and pairs, so that no argument can leave its place.
#[derive(Debug, Clone, Default)]
pub struct ReadPath {
    segments: Vec<String>,
    query: Vec<(String, String)>,
}

impl ReadPath {
    /// The path of these segments; each is one segment whatever it holds.
    #[must_use]
    pub fn of<S: Into<String>>(segments: impl IntoIterator<Item = S>) -> Self {
        Self {
            segments: segments.into_iter().map(Into::into).collect(),
            query: vec![],
        }
    }

    /// With this pair in the query.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.query.push((name.to_owned(), value.into()));
        self
    }

    /// With this pair in the query, where there is a value.
    #[must_use]
    pub fn with_some(self, name: &str, value: Option<impl Into<String>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// The address below this base. Segments that mean another place however they are encoded are refused.
    pub(super) fn below(&self, base: &Base) -> Result<Url, Fault> {
        let mut text = base.as_str().to_owned();
        for segment in &self.segments {
            if matches!(segment.as_str(), "" | "." | "..") {
                return Err(Fault::invalid(
                    "a part of the path is empty or only dots; nothing was asked",
                ));
            }
            text.push('/');
            text.extend(utf8_percent_encode(segment, ENCODED));
        }
        for (n, (name, value)) in self.query.iter().enumerate() {
            text.push(if n == 0 { '?' } else { '&' });
            text.extend(utf8_percent_encode(name, ENCODED));
            text.push('=');
            text.extend(utf8_percent_encode(value, ENCODED));
        }
        match Url::parse(&text) {
            Ok(url) if text.len() <= LONGEST && base.holds(&url) => Ok(url),
            _ => Err(Fault::invalid(
                "the path that should be read is none or too long; nothing was asked",
            )),
        }
    }
}

#[cfg(test)]
mod tests;
