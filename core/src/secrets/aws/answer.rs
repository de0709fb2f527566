//! What Secrets Manager says, in our words. Its messages hold names of secrets and are read by nobody.

use data_encoding::BASE64;
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::secrets::{Fault, LONGEST, SecretValue, remote::Answer};

/// What an answer means.
#[derive(Debug)]
pub(super) enum Told {
    /// The secret.
    Secret(SecretValue),
    /// A definite no.
    No(Fault),
    /// A fault that may pass.
    Later(Fault),
    /// The gateway's own credentials have ended.
    CredentialsExpired,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Secret {
    secret_string: Option<String>,
    secret_binary: Option<String>,
}

#[derive(Deserialize)]
struct Refusal {
    #[serde(rename = "__type", alias = "code", default)]
    kind: String,
}

pub(super) fn read(answer: &Answer) -> Told {
    if answer.status.is_success() {
        return secret(&answer.body).map_or(Told::No(Fault::Unfit), Told::Secret);
    }
    let kind = serde_json::from_slice::<Refusal>(&answer.body).map(|refusal| refusal.kind);
    // With or without a name space before it, with or without an address behind it.
    let kind = kind.unwrap_or_default();
    let kind = kind.rsplit('#').next().unwrap_or_default();
    let kind = kind.split(':').next().unwrap_or_default();
    match (kind, answer.status.as_u16()) {
        ("ResourceNotFoundException", _) => Told::No(Fault::NotFound),
        // Told of a secret that is scheduled for deletion.
        ("InvalidRequestException", _) => Told::No(Fault::Deleted),
        ("InvalidParameterException", _) => Told::No(Fault::Unfit),
        ("ExpiredTokenException" | "ExpiredToken", _) => Told::CredentialsExpired,
        ("ThrottlingException" | "Throttling" | "TooManyRequestsException" | "RequestLimitExceeded", _)
        | (_, 429) => Told::Later(Fault::Throttled),
        (
            "InternalServiceError"
            | "InternalServiceErrorException"
            | "InternalFailure"
            | "ServiceUnavailable",
            _,
        )
        | (_, 500..) => Told::Later(Fault::Unavailable),
        // Forbidden, a signature that does not fit, a key that AWS does not know, a key of KMS that is out of reach.
        _ => Told::No(Fault::Denied),
    }
}

fn secret(body: &[u8]) -> Option<SecretValue> {
    let secret: Secret = serde_json::from_slice(body).ok()?;
    let (string, binary) = (
        secret.secret_string.map(Zeroizing::new),
        secret.secret_binary.map(Zeroizing::new),
    );
    match (string, binary) {
        (Some(text), None) => SecretValue::new(text.as_bytes()),
        (None, Some(text)) => {
            let length = BASE64.decode_len(text.len()).ok().filter(|n| *n <= LONGEST + 2)?;
            let mut bytes = Zeroizing::new(vec![0; length]);
            let length = BASE64.decode_mut(text.as_bytes(), &mut bytes).ok()?;
            SecretValue::new(&bytes[..length])
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;

    fn told(status: u16, body: &str) -> Result<Vec<u8>, (Option<Fault>, bool)> {
        let answer = Answer {
            status: StatusCode::from_u16(status).unwrap(),
            body: Zeroizing::new(body.as_bytes().to_vec()),
        };
        match read(&answer) {
            Told::Secret(value) => Ok(value.reveal().to_vec()),
            Told::No(fault) => Err((Some(fault), false)),
            Told::Later(fault) => Err((Some(fault), true)),
            Told::CredentialsExpired => Err((None, true)),
        }
    }

    #[test]
    fn every_answer_has_its_meaning() {
        let check = |status, body: &str, fault, again| {
            assert_eq!(told(status, body), Err((fault, again)), "{status} {body}");
        };
        let refusal =
            |kind: &str| format!(r#"{{"__type":"{kind}","Message":"Secret toolgate/x is private"}}"#);
        check(
            400,
            &refusal("ResourceNotFoundException"),
            Some(Fault::NotFound),
            false,
        );
        check(
            400,
            &refusal("com.amazonaws.secretsmanager#ResourceNotFoundException"),
            Some(Fault::NotFound),
            false,
        );
        check(
            400,
            &refusal("InvalidRequestException"),
            Some(Fault::Deleted),
            false,
        );
        check(400, &refusal("AccessDeniedException"), Some(Fault::Denied), false);
        check(400, &refusal("DecryptionFailure"), Some(Fault::Denied), false);
        check(
            403,
            &refusal("InvalidSignatureException"),
            Some(Fault::Denied),
            false,
        );
        check(400, &refusal("ThrottlingException"), Some(Fault::Throttled), true);
        check(429, "", Some(Fault::Throttled), true);
        check(
            500,
            &refusal("InternalServiceError"),
            Some(Fault::Unavailable),
            true,
        );
        check(503, "<html>", Some(Fault::Unavailable), true);
        check(400, &refusal("ExpiredTokenException"), None, true);
        check(404, "not json", Some(Fault::Denied), false);
        for unfit in [
            "",
            "{}",
            "[]",
            r#"{"SecretString":5}"#,
            r#"{"SecretString":""}"#,
            r#"{"SecretBinary":"?"}"#,
        ] {
            check(200, unfit, Some(Fault::Unfit), false);
        }
        check(
            200,
            r#"{"SecretString":"a","SecretBinary":"YQ=="}"#,
            Some(Fault::Unfit),
            false,
        );
        assert_eq!(
            told(200, r#"{"SecretString":"{\"token\":\"\u00e4\"}"}"#).unwrap(),
            "{\"token\":\"ä\"}".as_bytes()
        );
        assert_eq!(told(200, r#"{"SecretBinary":"AAH/"}"#).unwrap(), [0, 1, 255]);
    }
}
