//! `Link` of a list: whether there is a next page, and which pairs of the query lead to it.
//!
//! Followed is only what is below the base. Even then the address itself is not used: what is taken from it are the few
//! pairs that say which page, and they go onto the path that this gateway asks for.

use http::{HeaderMap, Uri, header};

use super::route::pairs;

/// Pairs that say which page.
const PAGING: [&str; 6] = ["page", "per_page", "after", "before", "since", "cursor"];
const LONGEST_VALUE: usize = 256;

/// What comes behind a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing.
    Nothing,
    /// Another page, reached by these pairs.
    Page(Vec<(String, String)>),
    /// Another page at an address that is not followed.
    Elsewhere,
}

/// What comes behind the page with these headers, read from a target at this base.
pub(super) fn next(headers: &HeaderMap, base: &str) -> Next {
    let links = headers.get_all(header::LINK).iter();
    let found = links
        .filter_map(|value| value.to_str().ok())
        .flat_map(links_of)
        .find(|(_, relation)| relation.eq_ignore_ascii_case("next"));
    let Some((address, _)) = found else {
        return Next::Nothing;
    };
    let paging = below(address, base).and_then(|uri| paging(uri.query().unwrap_or_default()));
    paging.map_or(Next::Elsewhere, Next::Page)
}

/// Address and relation of each link: `<address>; rel="relation", …`. Addresses may hold commas.
fn links_of(header: &str) -> Vec<(&str, &str)> {
    let mut links = vec![];
    let mut rest = header;
    while let Some((address, behind)) = rest.split_once('<').and_then(|(_, rest)| rest.split_once('>')) {
        let (parameters, next) = match behind.split_once('<') {
            Some((parameters, _)) => (parameters, &behind[parameters.len()..]),
            None => (behind, ""),
        };
        let relation = parameters.split([';', ',']).find_map(|parameter| {
            let (name, value) = parameter.trim().split_once('=')?;
            name.trim()
                .eq_ignore_ascii_case("rel")
                .then(|| value.trim().trim_matches('"'))
        });
        links.push((address, relation.unwrap_or_default()));
        rest = next;
    }
    links
}

/// The address, if it is of the base's scheme, host and port and below its path.
fn below(address: &str, base: &str) -> Option<Uri> {
    let (uri, base): (Uri, Uri) = (address.parse().ok()?, base.parse().ok()?);
    let origin = |uri: &Uri| {
        let scheme = uri.scheme_str()?.to_ascii_lowercase();
        let usual = if scheme == "http" { 80 } else { 443 };
        Some((
            scheme,
            uri.host()?.to_ascii_lowercase(),
            uri.port_u16().unwrap_or(usual),
        ))
    };
    let named = uri
        .authority()
        .is_some_and(|authority| !authority.as_str().contains('@'));
    let rest = uri.path().strip_prefix(base.path().trim_end_matches('/'))?;
    let inside = rest.starts_with('/') && !rest.split('/').any(|segment| matches!(segment, "." | ".."));
    (named && inside && origin(&uri)? == origin(&base)?).then_some(uri)
}

fn paging(query: &str) -> Option<Vec<(String, String)>> {
    let mut paging = pairs(query)?;
    paging.retain(|(name, value)| PAGING.contains(&name.as_str()) && value.len() <= LONGEST_VALUE);
    paging
        .iter()
        .any(|(name, _)| name != "per_page")
        .then_some(paging)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(base: &str, link: &str, expected: Option<&[(&str, &str)]>) {
        let mut headers = HeaderMap::new();
        headers.insert(header::LINK, link.parse().unwrap());
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let expected = expected.map_or(Next::Elsewhere, |pairs| {
            Next::Page(pairs.iter().map(pair).collect())
        });
        assert_eq!(next(&headers, base), expected, "{link}");
    }

    const CLOUD: &str = "https://api.github.com";
    const SERVER: &str = "https://acme.org/api/v3";

    #[test]
    fn the_next_page_is_found_wherever_it_stands() {
        let second = Some(&[("per_page", "1"), ("page", "2")][..]);
        check(
            CLOUD,
            r#"<https://api.github.com/user/repos?per_page=1&page=2>; rel="next""#,
            second,
        );
        let prev_first = r#"<https://api.github.com/repositories/1000/actions/runs?per_page=1&page=1>; rel="prev", <https://api.github.com/repositories/1000/actions/runs?branch=a,b&per_page=1&page=2>; rel="next", <https://api.github.com/x?page=9>; rel="last""#;
        check(CLOUD, prev_first, second);
        check(
            CLOUD,
            "<https://API.github.com:443/user/repos?page=2> ; rel=next",
            Some(&[("page", "2")]),
        );
        check(
            CLOUD,
            r#"<https://api.github.com/user/repos?after=Y3%3D>; rel="next""#,
            Some(&[("after", "Y3=")]),
        );
        check(
            SERVER,
            r#"<https://acme.org/api/v3/user/repos?page=2>; rel="next""#,
            Some(&[("page", "2")]),
        );
    }

    #[test]
    fn another_place_is_not_followed() {
        for link in [
            "<https://evil.example/user/repos?page=2>; rel=\"next\"",
            "<https://api.github.com.evil.example/user/repos?page=2>; rel=\"next\"",
            "<https://api.github.com@evil.example/user/repos?page=2>; rel=\"next\"",
            "<http://api.github.com/user/repos?page=2>; rel=\"next\"",
            "<https://api.github.com:8443/user/repos?page=2>; rel=\"next\"",
            "</user/repos?page=2>; rel=\"next\"",
            "<https://api.github.com/user/repos>; rel=\"next\"",
            "<https://api.github.com/user/repos?per_page=5>; rel=\"next\"",
        ] {
            check(CLOUD, link, None);
        }
        check(
            SERVER,
            "<https://acme.org/api/v4/user/repos?page=2>; rel=\"next\"",
            None,
        );
        check(
            SERVER,
            "<https://acme.org/api/v33/user/repos?page=2>; rel=\"next\"",
            None,
        );
        check(
            SERVER,
            "<https://acme.org/api/v3/../admin?page=2>; rel=\"next\"",
            None,
        );
    }

    #[test]
    fn without_a_next_link_the_list_ends() {
        assert_eq!(next(&HeaderMap::new(), CLOUD), Next::Nothing);
        for link in [
            "",
            "<",
            "<>",
            "<https://api.github.com/x?page=1>; rel=\"prev\"",
            "page=2; rel=next",
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::LINK, link.parse().unwrap());
            assert_eq!(next(&headers, CLOUD), Next::Nothing, "{link}");
        }
    }
}
