//! From a request's metadata to what the broker wants to know of the asker.

use std::{net::IpAddr, time::Duration};

use http::HeaderMap;
use tonic::{Request, metadata::MetadataMap};

use crate::{
    broker::{Ask, Door},
    error::Error,
    identity::{Context, Secret},
};

/// The dialects a facade may speak; anything else is recorded as `grpc`.
const DIALECTS: [&str; 5] = ["rest", "mcp", "openai", "cli", "web"];

const TIMEOUT: &str = "grpc-timeout";

/// The caller's deadline; one that cannot be read is refused by name, because to go on without it would surprise.
pub(super) fn deadline(headers: &HeaderMap) -> Result<Option<Duration>, Error> {
    let mut values = headers.get_all(TIMEOUT).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let read = value.to_str().ok().and_then(timeout);
    match (read, values.next()) {
        (Some(deadline), None) => Ok(Some(deadline)),
        _ => Err(Error::malformed(
            "header grpc-timeout",
            "must be given once, as up to 8 digits and one of H, M, S, m, u, n",
        )),
    }
}

/// Reads what a request brings beside its message.
pub(super) fn of<T>(request: &Request<T>) -> Ask {
    let door = request
        .extensions()
        .get::<Door>()
        .copied()
        .unwrap_or(Door::Network);
    let peer = request.remote_addr().map(|addr| addr.ip());
    from(request.metadata(), door, peer)
}

pub(super) fn from(metadata: &MetadataMap, door: Door, peer: Option<IpAddr>) -> Ask {
    let text = |name: &str| metadata.get(name).and_then(|value| value.to_str().ok());
    // Projects and tasks have names that people gave; whether one can be used is asked where it is used.
    let utf8 = |name: &str| {
        let value = metadata.get(name)?;
        Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    // Only a facade may say where its caller sits and which dialect it speaks: a network peer would say what it likes.
    let trusted = door == Door::Facade;
    Ask {
        credential: text("authorization").and_then(bearer),
        // A name that is no plain text is one that nobody knows, and must not pass as none.
        profile: utf8("toolgate-profile"),
        context: Context::new(
            utf8("toolgate-project").as_deref(),
            utf8("toolgate-task").as_deref(),
        ),
        // What is no text is no session either, and must not pass as none.
        session: metadata
            .get("toolgate-session")
            .filter(|_| trusted)
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()),
        facade: text("toolgate-facade")
            .filter(|_| trusted)
            .and_then(|name| DIALECTS.into_iter().find(|known| *known == name))
            .unwrap_or("grpc"),
        source: text("toolgate-source")
            .filter(|_| trusted)
            .and_then(|ip| ip.parse().ok())
            .or(peer),
        deadline: text(TIMEOUT).and_then(timeout),
    }
}

// RFC 7235: the scheme is case-insensitive.
fn bearer(header: &str) -> Option<Secret> {
    let (scheme, credential) = header.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| Secret::new(credential.trim().to_owned()))
}

/// `grpc-timeout` of the gRPC over HTTP/2 protocol: at most eight digits and a unit.
fn timeout(text: &str) -> Option<Duration> {
    let unit = text.chars().last()?;
    let digits = &text[..text.len() - unit.len_utf8()];
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let n: u64 = digits.parse().ok()?;
    match unit {
        'H' => Some(Duration::from_secs(n * 3_600)),
        'M' => Some(Duration::from_secs(n * 60)),
        'S' => Some(Duration::from_secs(n)),
        'm' => Some(Duration::from_millis(n)),
        'u' => Some(Duration::from_micros(n)),
        'n' => Some(Duration::from_nanos(n)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grpc_timeouts_are_read_as_the_protocol_says() {
        let cases = [
            ("1H", Some(Duration::from_secs(3_600))),
            ("2M", Some(Duration::from_secs(120))),
            ("10S", Some(Duration::from_secs(10))),
            ("250m", Some(Duration::from_millis(250))),
            ("99999999n", Some(Duration::from_nanos(99_999_999))),
            ("", None),
            ("S", None),
            ("-1S", None),
            ("999999999S", None),
            ("1s", None),
            ("1é", None),
        ];
        for (text, expected) in cases {
            assert_eq!(timeout(text), expected, "{text}");
        }
    }

    #[test]
    fn a_deadline_that_cannot_be_read_or_stands_twice_is_refused_by_name() {
        let told = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(TIMEOUT, value.parse().expect("a header"));
            }
            deadline(&headers).map_err(|error| error.to_string())
        };
        assert_eq!(told(&[]), Ok(None));
        assert_eq!(told(&["0n"]), Ok(Some(Duration::ZERO)));
        assert_eq!(told(&["5S"]), Ok(Some(Duration::from_secs(5))));
        for values in [&["-1S"][..], &["abc"], &[""], &["1S", "1S"], &["1é"]] {
            let error = told(values).expect_err("refused");
            assert!(error.starts_with("header grpc-timeout:"), "{error}");
        }
    }

    #[test]
    fn a_network_peer_cannot_say_where_it_sits_or_which_dialect_it_speaks() {
        let mut metadata = MetadataMap::new();
        metadata.insert("toolgate-session", "s".parse().unwrap());
        metadata.insert("toolgate-facade", "rest".parse().unwrap());
        metadata.insert("toolgate-source", "10.0.0.1".parse().unwrap());
        let peer = "192.0.2.7".parse().ok();
        let network = from(&metadata, Door::Network, peer);
        assert_eq!((network.facade, network.source), ("grpc", peer));
        assert_eq!(network.session, None);
        let facade = from(&metadata, Door::Facade, peer);
        assert_eq!((facade.facade, facade.source), ("rest", "10.0.0.1".parse().ok()));
        assert_eq!(facade.session.as_deref(), Some("s"));
    }
}
