//! Looks at the own certificate as clients will, so that an operator hears of it at the start and not from users.
//!
//! Only what every client minds: names and issuers are a matter of who dials and of whom they trust.

use std::{path::Path, sync::Arc, time::Duration};

use rustls::{
    CertificateError, Error, RootCertStore,
    client::{WebPkiServerVerifier, danger::ServerCertVerifier},
    crypto::ring,
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};
use toolgate_core::clock::Clock;

use crate::config::Config;

/// Warns of a certificate that clients will not accept.
pub(super) fn warn(config: &Config) {
    let Some(path) = config.tls.cert.as_deref() else {
        return;
    };
    let now = Duration::from_micros(u64::try_from(Clock::system().wall_us()).unwrap_or_default());
    if let Some(doubt) = doubt(path, UnixTime::since_unix_epoch(now)) {
        tracing::warn!(certificate = %path.display(), "clients will not accept the certificate: {doubt}");
    }
}

// Trusts the certificate itself, so that what is left are faults that no trust mends.
fn doubt(path: &Path, now: UnixTime) -> Option<&'static str> {
    let chain: Vec<CertificateDer<'_>> = CertificateDer::pem_file_iter(path).ok()?.flatten().collect();
    let (own, above) = chain.split_first()?;
    let mut roots = RootCertStore::empty();
    roots.add(own.clone()).ok()?;
    let verifier =
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::new(ring::default_provider()))
            .build()
            .ok()?;
    let anyone = ServerName::try_from("localhost").ok()?;
    match verifier.verify_server_cert(own, above, &anyone, &[], now) {
        Err(Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        )) => Some("it has expired"),
        Err(Error::InvalidCertificate(
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. },
        )) => Some("it is not valid yet by this machine's clock"),
        // rustls has no name of its own for this one.
        Err(error) if format!("{error:?}").contains("CaUsedAsEndEntity") => Some(
            "it says of itself that it is an authority (CA:TRUE); make one with `-addext \
             basicConstraints=critical,CA:FALSE`, or one that your authority signs",
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IN_2027: u64 = 1_800_000_000;

    fn check(file: &str, now_s: u64, expected: Option<&str>) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("src/serve/certificate")
            .join(file);
        let found = doubt(&path, UnixTime::since_unix_epoch(Duration::from_secs(now_s)));
        let fits = match (found, expected) {
            (None, None) => true,
            (Some(found), Some(expected)) => found.contains(expected),
            _ => false,
        };
        assert!(fits, "{file}: {found:?}");
    }

    #[test]
    fn a_certificate_that_no_client_accepts_is_doubted() {
        check("server.pem", IN_2027, None);
        check("authority.pem", IN_2027, Some("CA:FALSE"));
        check("server.pem", 1_000, Some("not valid yet"));
        check("server.pem", 6_000_000_000, Some("expired"));
    }

    #[test]
    fn a_file_that_holds_no_certificate_is_the_matter_of_others() {
        check("nothing.pem", IN_2027, None);
    }
}
