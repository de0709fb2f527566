//! Why a gateway was not reached, in words for whoever starts a relay, and what that person can do.

use std::io;

use rustls::CertificateError;
use tokio_tungstenite::tungstenite;

use crate::{endpoint::Endpoint, link::LinkError};

/// No TCP connection.
pub(super) fn tcp(endpoint: &Endpoint, error: &io::Error) -> LinkError {
    let Endpoint { host, port, .. } = endpoint;
    match error.kind() {
        io::ErrorKind::ConnectionRefused => told(
            format!("nothing listens at {host}:{port}"),
            "see that the gateway is up, and that --gateway is the address it prints",
        ),
        // The standard library has no kind for it.
        _ if error.to_string().contains("lookup address") => told(
            format!("{host} is no name that this host can look up"),
            "check the name in --gateway",
        ),
        _ => told(
            format!("{host}:{port} cannot be reached: {error}"),
            "see that this host may dial out to the gateway",
        ),
    }
}

/// No TLS session.
pub(super) fn tls(endpoint: &Endpoint, error: &io::Error) -> LinkError {
    let cause = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let Some(cause) = cause else {
        return told(
            format!("TLS failed: {error}"),
            "see that the gateway itself ends TLS at this address",
        );
    };
    match cause {
        rustls::Error::InvalidCertificate(wrong) => certificate(endpoint, wrong),
        rustls::Error::InvalidMessage(_) => told(
            format!("{}:{} does not speak TLS", endpoint.host, endpoint.port),
            "give --gateway the address that the gateway prints",
        ),
        other => told(
            format!("TLS failed: {other}"),
            "see that the gateway itself ends TLS at this address",
        ),
    }
}

/// No WebSocket. An HTTP answer instead of an upgrade is told by its status, never by its body.
pub(super) fn upgrade(error: &tungstenite::Error) -> LinkError {
    let tungstenite::Error::Http(answer) = error else {
        return LinkError::Transport(error.to_string());
    };
    let next = match answer.status().as_u16() {
        403 => "the gateway does not serve this host name; add it to its allowed_hosts",
        404 => "see that --gateway is the address of a gateway, without a path of its own",
        _ => "the gateway, or a proxy before it, does not take WebSockets here",
    };
    told(format!("the gateway answered HTTP {}", answer.status()), next)
}

fn certificate(endpoint: &Endpoint, wrong: &CertificateError) -> LinkError {
    match wrong {
        CertificateError::UnknownIssuer => told(
            "the gateway's certificate is signed by nobody this host trusts".into(),
            "give that certificate, or the one of its authority, with --ca-cert FILE",
        ),
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => told(
            format!("the gateway's certificate is not for {}", endpoint.host),
            "give --gateway the name that stands in the certificate",
        ),
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => told(
            "the gateway's certificate is not valid at this time".into(),
            "renew it, and see that this host's clock is right",
        ),
        other if format!("{other:?}").contains("CaUsedAsEndEntity") => told(
            "the gateway's certificate is one of an authority (CA:TRUE), which serves nobody".into(),
            "give the gateway a certificate made with basicConstraints=CA:FALSE",
        ),
        other => told(
            format!("the gateway's certificate is not accepted: {other}"),
            "give the gateway another one",
        ),
    }
}

fn told(why: String, next: &'static str) -> LinkError {
    LinkError::Unreached { why, next }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(error: &LinkError, why: &str, next: &str) {
        let LinkError::Unreached { next: told, .. } = error else {
            panic!("{error:?}");
        };
        assert_eq!((error.to_string().as_str(), *told), (why, next));
    }

    fn gate() -> Endpoint {
        Endpoint::parse("https://gate.example:7600").expect("a gateway")
    }

    fn wrapped(wrong: CertificateError) -> io::Error {
        io::Error::new(
            io::ErrorKind::InvalidData,
            rustls::Error::InvalidCertificate(wrong),
        )
    }

    #[test]
    fn what_keeps_a_relay_from_its_gateway_comes_with_the_next_step() {
        check(
            &tcp(&gate(), &io::ErrorKind::ConnectionRefused.into()),
            "nothing listens at gate.example:7600",
            "see that the gateway is up, and that --gateway is the address it prints",
        );
        check(
            &tls(&gate(), &wrapped(CertificateError::UnknownIssuer)),
            "the gateway's certificate is signed by nobody this host trusts",
            "give that certificate, or the one of its authority, with --ca-cert FILE",
        );
        check(
            &tls(&gate(), &wrapped(CertificateError::NotValidForName)),
            "the gateway's certificate is not for gate.example",
            "give --gateway the name that stands in the certificate",
        );
        let forbidden = http::Response::builder()
            .status(403)
            .body(None)
            .expect("an answer");
        check(
            &upgrade(&tungstenite::Error::Http(Box::new(forbidden))),
            "the gateway answered HTTP 403 Forbidden",
            "the gateway does not serve this host name; add it to its allowed_hosts",
        );
    }
}
