//! What an admin is told of a TLS session that did not come about.

use std::io;

use tokio_rustls::rustls::{CertificateError, Error};

use super::verifier::{NotBelieved, Why};
use crate::upstream::reader::Fault;

/// Why the handshake with the target at this place failed.
pub(super) fn of_handshake(place: &str, error: &io::Error) -> Fault {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(error) => told(place, error),
        None => Fault::unreachable(format!(
            "{place} ended the connection during the TLS handshake; is this the port of its HTTPS?"
        )),
    }
}

/// Why there is no session with the target at this place.
pub(crate) fn told(place: &str, error: &Error) -> Fault {
    match error {
        Error::InvalidCertificate(CertificateError::Other(other)) => {
            match other.0.downcast_ref::<NotBelieved>() {
                Some(refused) => not_believed(place, refused),
                None => Fault::tls(format!("the certificate of {place} cannot be checked")),
            }
        }
        Error::InvalidCertificate(wrong) => Fault::tls(format!(
            "{place} could not prove that its certificate is its own: {wrong}"
        )),
        Error::InvalidMessage(_) => Fault::tls(format!(
            "{place} does not speak TLS; is this the port of its HTTPS?"
        )),
        Error::AlertReceived(alert) => Fault::tls(format!("{place} ended the TLS handshake: {alert:?}")),
        other => Fault::tls(format!("no TLS session with {place}: {other}")),
    }
}

fn not_believed(place: &str, refused: &NotBelieved) -> Fault {
    let shown = refused.shown;
    let why = match &refused.why {
        Why::NotPinned => {
            return Fault::tls(format!(
                "the certificate of {place} is none of the given fingerprints; its SHA-256 fingerprint is {shown}, compare it at the server and add it to fingerprints"
            ));
        }
        Why::Chain(Error::InvalidCertificate(wrong)) => reason(wrong),
        Why::Chain(other) => other.to_string(),
    };
    Fault::tls(format!(
        "the certificate of {place} is not accepted: {why}; its SHA-256 fingerprint is {shown}, compare it at the server, then give it as fingerprints"
    ))
}

fn reason(wrong: &CertificateError) -> String {
    match wrong {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired".into(),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "it is not valid yet; look at the clocks".into()
        }
        CertificateError::BadSignature => "it is not signed by the authority that it names".into(),
        CertificateError::UnknownIssuer => "its issuer is not trusted here".into(),
        CertificateError::NotValidForNameContext { presented, .. } if !presented.is_empty() => {
            let names: Vec<String> = presented.iter().take(5).map(|name| short(name)).collect();
            format!("it is for another name ({})", names.join(", "))
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "it is for another name".into()
        }
        other if other.to_string().contains("CaUsedAsEndEntity") => {
            "it is authority and server at once, so only its fingerprint can be pinned".into()
        }
        other => short(&other.to_string()),
    }
}

// What a certificate holds is the stranger's text.
fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(120).collect()
}
