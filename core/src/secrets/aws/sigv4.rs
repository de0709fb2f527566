//! Signature Version 4 of AWS requests, for requests whose path is `/` and whose body is at hand.
//!
//! A hash of the canonical request, signed with a key that is derived from the secret key, day, region and service.
//! Every header of the request is signed. Pure: the time is passed in.

use data_encoding::HEXLOWER;
use reqwest::Request;
use ring::{
    digest::{SHA256, digest},
    hmac::{self, HMAC_SHA256},
};
use time::{OffsetDateTime, macros::format_description};
use zeroize::Zeroizing;

use super::credentials::Credentials;

/// What a signature is made with.
pub(super) struct Signing<'a> {
    pub(super) credentials: &'a Credentials,
    pub(super) region: &'a str,
    pub(super) service: &'a str,
    pub(super) time_us: i64,
}

/// The headers to be added to the request; `None` for a request that cannot be signed.
pub(super) fn sign(
    request: &Request,
    body: &[u8],
    signing: &Signing<'_>,
) -> Option<Vec<(&'static str, Zeroizing<String>)>> {
    let at = OffsetDateTime::from_unix_timestamp(signing.time_us.div_euclid(1_000_000)).ok()?;
    let stamp = at
        .format(format_description!("[year][month][day]T[hour][minute][second]Z"))
        .ok()?;
    let day = stamp.get(..8)?;
    let mut added = vec![("x-amz-date", Zeroizing::new(stamp.clone()))];
    if let Some(token) = &signing.credentials.token {
        added.push(("x-amz-security-token", token.clone()));
    }
    let (canonical, signed) = canonical(request, body, &added)?;
    let scope = format!("{day}/{}/{}/aws4_request", signing.region, signing.service);
    let to_sign = format!(
        "AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{}",
        HEXLOWER.encode(digest(&SHA256, canonical.as_bytes()).as_ref())
    );
    let key = signing_key(signing, day);
    let signature = HEXLOWER.encode(hmac::sign(&key, to_sign.as_bytes()).as_ref());
    let authorization = format!(
        "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={signed}, Signature={signature}",
        signing.credentials.id,
    );
    added.push(("authorization", Zeroizing::new(authorization)));
    Some(added)
}

fn canonical(
    request: &Request,
    body: &[u8],
    added: &[(&'static str, Zeroizing<String>)],
) -> Option<(Zeroizing<String>, String)> {
    let url = request.url();
    let host = match (url.host_str()?, url.port()) {
        (host, None) => host.to_owned(),
        (host, Some(port)) => format!("{host}:{port}"),
    };
    let mut headers: Vec<(&str, &str)> = vec![("host", &host)];
    for (name, value) in request.headers() {
        headers.push((name.as_str(), value.to_str().ok()?.trim()));
    }
    headers.extend(added.iter().map(|(name, value)| (*name, value.as_str())));
    headers.sort_unstable();
    let signed = headers
        .iter()
        .map(|(name, _)| *name)
        .collect::<Vec<_>>()
        .join(";");
    let mut lines = Zeroizing::new(String::with_capacity(4096));
    lines.push_str(&format!(
        "{}\n{}\n{}\n",
        request.method(),
        url.path(),
        url.query().unwrap_or_default()
    ));
    for (name, value) in headers {
        lines.push_str(name);
        lines.push(':');
        lines.push_str(value);
        lines.push('\n');
    }
    lines.push_str(&format!(
        "\n{signed}\n{}",
        HEXLOWER.encode(digest(&SHA256, body).as_ref())
    ));
    Some((lines, signed))
}

fn signing_key(signing: &Signing<'_>, day: &str) -> hmac::Key {
    let mut first = Zeroizing::new(Vec::with_capacity(4 + signing.credentials.secret.len()));
    first.extend_from_slice(b"AWS4");
    first.extend_from_slice(signing.credentials.secret.as_bytes());
    let parts = [day, signing.region, signing.service, "aws4_request"];
    parts
        .iter()
        .fold(hmac::Key::new(HMAC_SHA256, &first), |key, part| {
            hmac::Key::new(HMAC_SHA256, hmac::sign(&key, part.as_bytes()).as_ref())
        })
}

#[cfg(test)]
mod tests {
    use http::{HeaderValue, Method};
    use time::macros::datetime;

    use super::*;

    const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

    fn signature(request: &Request, body: &[u8], service: &str, token: Option<&str>) -> String {
        let credentials = Credentials::new("AKIDEXAMPLE", SECRET, token);
        let signing = Signing {
            credentials: &credentials,
            region: "us-east-1",
            service,
            time_us: datetime!(2015-08-30 12:36:00 UTC).unix_timestamp() * 1_000_000,
        };
        let added = sign(request, body, &signing).unwrap();
        added.last().unwrap().1.to_string()
    }

    #[test]
    fn the_published_examples_are_signed_as_published() {
        let mut list = Request::new(
            Method::GET,
            "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08"
                .parse()
                .unwrap(),
        );
        list.headers_mut().insert(
            "content-type",
            HeaderValue::from_static("application/x-www-form-urlencoded; charset=utf-8"),
        );
        assert_eq!(
            signature(&list, b"", "iam", None),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, \
             SignedHeaders=content-type;host;x-amz-date, \
             Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
        );
        let post = Request::new(Method::POST, "https://example.amazonaws.com/".parse().unwrap());
        assert!(
            signature(&post, b"", "service", None)
                .ends_with("Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b")
        );
    }

    #[test]
    fn whatever_is_said_is_signed() {
        let post = |url: &str| Request::new(Method::POST, url.parse().unwrap());
        let base = signature(&post("https://a.example/"), b"x", "s", None);
        assert_ne!(base, signature(&post("https://b.example/"), b"x", "s", None));
        assert_ne!(base, signature(&post("https://a.example:444/"), b"x", "s", None));
        assert_ne!(base, signature(&post("https://a.example/"), b"y", "s", None));
        assert_ne!(base, signature(&post("https://a.example/"), b"x", "t", None));
        let with_token = signature(&post("https://a.example/"), b"x", "s", Some("t"));
        assert!(
            with_token.contains("host;x-amz-date;x-amz-security-token"),
            "{with_token}"
        );
        assert!(!base.contains(SECRET));
    }
}
