//! A path below the base as octocrab carries it, and back.

use http::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::upstream::reader::ReadPath;

/// Everything but what means itself in every part of an address.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Segments and pairs of one request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Route {
    segments: Vec<String>,
    query: Vec<(String, String)>,
}

impl Route {
    /// The path of these segments.
    pub(super) fn of<S: Into<String>>(segments: impl IntoIterator<Item = S>) -> Self {
        Self {
            segments: segments.into_iter().map(Into::into).collect(),
            query: vec![],
        }
    }

    /// The path of what belongs to a repository.
    pub(super) fn in_repo(owner: &str, repo: &str, rest: &[&str]) -> Self {
        Self::of(["repos", owner, repo].iter().chain(rest).copied())
    }

    /// With this pair in the query, in the place of one of the same name.
    pub(super) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        let value = value.into();
        match self.query.iter_mut().find(|(known, _)| known == name) {
            Some(pair) => pair.1 = value,
            None => self.query.push((name.to_owned(), value)),
        }
        self
    }

    /// The same where there is a value.
    pub(super) fn with_some(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// With all these pairs.
    pub(super) fn with_all<'a>(self, pairs: impl IntoIterator<Item = &'a (String, String)>) -> Self {
        pairs
            .into_iter()
            .fold(self, |route, (name, value)| route.with(name, value.as_str()))
    }

    /// The value of this name in the query.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        let pair = self.query.iter().find(|(known, _)| known == name);
        pair.map(|(_, value)| value.as_str())
    }

    /// As an address without scheme and host; `None` when it is too long for one.
    pub(super) fn uri(&self) -> Option<Uri> {
        let mut text = String::new();
        for segment in &self.segments {
            text.push('/');
            text.extend(utf8_percent_encode(segment, ENCODED));
        }
        for (n, (name, value)) in self.query.iter().enumerate() {
            text.push(if n == 0 { '?' } else { '&' });
            text.extend(utf8_percent_encode(name, ENCODED));
            text.push('=');
            text.extend(utf8_percent_encode(value, ENCODED));
        }
        text.parse().ok()
    }

    /// What such an address means; `None` for one with a host or with bytes that are no text.
    pub(super) fn of_uri(uri: &Uri) -> Option<Self> {
        if uri.host().is_some() {
            return None;
        }
        let segments = uri.path().strip_prefix('/')?.split('/').map(decoded);
        Some(Self {
            segments: segments.collect::<Option<_>>()?,
            query: pairs(uri.query().unwrap_or_default())?,
        })
    }

    /// As the reader takes it.
    pub(super) fn to_read(&self) -> ReadPath {
        self.query.iter().fold(
            ReadPath::of(self.segments.iter().cloned()),
            |path, (name, value)| path.with(name, value.as_str()),
        )
    }
}

/// The pairs of a query; `None` when one is no text.
pub(super) fn pairs(query: &str) -> Option<Vec<(String, String)>> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(name)?, decoded(&value.replace('+', " "))?))
        })
        .collect()
}

fn decoded(text: &str) -> Option<String> {
    let bytes = percent_decode_str(text).decode_utf8().ok()?;
    Some(bytes.into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_route_is_written_and_read_back() {
        let route = Route::in_repo("acme", "a/b ?", &["actions", "runs"])
            .with("branch", "feat/ü & more=1+1")
            .with("page", "1")
            .with("page", "2");
        let uri = route.uri().unwrap();
        assert_eq!(
            uri.to_string(),
            "/repos/acme/a%2Fb%20%3F/actions/runs?branch=feat%2F%C3%BC%20%26%20more%3D1%2B1&page=2"
        );
        assert_eq!(Route::of_uri(&uri), Some(route));
    }

    #[test]
    fn an_address_with_a_host_is_no_route() {
        assert_eq!(Route::of_uri(&"https://evil.example/user".parse().unwrap()), None);
        assert_eq!(Route::of_uri(&"/%ff".parse().unwrap()), None);
    }

    proptest! {
        #[test]
        fn whatever_the_parts_hold_they_come_back(
            segments in prop::collection::vec("\\PC{1,12}", 1..5), name in "[a-z]{1,8}", value in "\\PC{0,40}"
        ) {
            let route = Route::of(segments).with(&name, value);
            prop_assert_eq!(Route::of_uri(&route.uri().unwrap()), Some(route));
        }
    }
}
