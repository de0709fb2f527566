//! What Vault says, in our words.
//!
//! A version that was deleted or destroyed is 404 with metadata, one that never was is 404 without.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::secrets::{Fault, SecretValue, remote::Answer};

/// What an answer means.
#[derive(Debug)]
pub(super) enum Told {
    /// The secret: its whole object of keys, as Vault wrote it.
    Secret(SecretValue),
    /// A definite no.
    No(Fault),
    /// A fault that may pass.
    Later(Fault),
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    data: Option<Data<'a>>,
}

#[derive(Deserialize)]
struct Data<'a> {
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
}

pub(super) fn read(answer: &Answer) -> Told {
    match answer.status.as_u16() {
        200 => secret(&answer.body).map_or(Told::No(Fault::Unfit), Told::Secret),
        404 if has_metadata(&answer.body) => Told::No(Fault::Deleted),
        404 => Told::No(Fault::NotFound),
        401 | 403 => Told::No(Fault::Denied),
        // A replica that has not caught up with the token yet.
        412 => Told::Later(Fault::Unavailable),
        429 => Told::Later(Fault::Throttled),
        503 => Told::No(Fault::Sealed),
        500.. => Told::Later(Fault::Unavailable),
        _ => Told::No(Fault::Unfit),
    }
}

/// What a sign-in that failed means.
pub(super) fn refused(status: u16) -> Fault {
    match status {
        400..=404 => Fault::Denied,
        429 => Fault::Throttled,
        503 => Fault::Sealed,
        _ => Fault::Unavailable,
    }
}

fn secret(body: &[u8]) -> Option<SecretValue> {
    let body: Body<'_> = serde_json::from_slice(body).ok()?;
    let object = body.data?.data?.get();
    object
        .starts_with('{')
        .then(|| SecretValue::new(object.as_bytes()))
        .flatten()
}

fn has_metadata(body: &[u8]) -> bool {
    let body: Option<Body<'_>> = serde_json::from_slice(body).ok();
    body.and_then(|body| body.data)
        .and_then(|data| data.metadata)
        .is_some_and(|metadata| metadata.get().starts_with('{'))
}

#[cfg(test)]
mod tests {
    use http::StatusCode;
    use zeroize::Zeroizing;

    use super::*;

    fn told(status: u16, body: &str) -> Result<String, (Fault, bool)> {
        let answer = Answer {
            status: StatusCode::from_u16(status).unwrap(),
            body: Zeroizing::new(body.as_bytes().to_vec()),
        };
        match read(&answer) {
            Told::Secret(value) => Ok(String::from_utf8(value.reveal().to_vec()).unwrap()),
            Told::No(fault) => Err((fault, false)),
            Told::Later(fault) => Err((fault, true)),
        }
    }

    #[test]
    fn every_answer_has_its_meaning() {
        let check = |status, body: &str, fault, again| {
            assert_eq!(told(status, body), Err((fault, again)), "{status} {body}");
        };
        let metadata = r#"{"created_time":"2026-01-01T00:00:00Z","deletion_time":"2026-01-02T00:00:00Z","destroyed":false,"version":2}"#;
        check(
            404,
            &format!(r#"{{"data":{{"data":null,"metadata":{metadata}}}}}"#),
            Fault::Deleted,
            false,
        );
        check(404, r#"{"errors":[]}"#, Fault::NotFound, false);
        check(404, r#"{"data":null}"#, Fault::NotFound, false);
        check(404, "", Fault::NotFound, false);
        check(403, r#"{"errors":["permission denied"]}"#, Fault::Denied, false);
        check(400, "", Fault::Unfit, false);
        check(412, "", Fault::Unavailable, true);
        check(429, "", Fault::Throttled, true);
        check(500, "", Fault::Unavailable, true);
        check(502, "<html>", Fault::Unavailable, true);
        check(503, r#"{"errors":["Vault is sealed"]}"#, Fault::Sealed, false);
        for unfit in [
            "",
            "[]",
            "{}",
            r#"{"data":{"data":null}}"#,
            r#"{"data":{"data":"text"}}"#,
            r#"{"data":{}}"#,
        ] {
            check(200, unfit, Fault::Unfit, false);
        }
        let good =
            format!(r#"{{"lease_id":"","data":{{"data":{{"b":"2","a":1.0}},"metadata":{metadata}}}}}"#);
        assert_eq!(told(200, &good).unwrap(), r#"{"b":"2","a":1.0}"#);
    }
}
