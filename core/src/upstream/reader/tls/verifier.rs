//! Whether a certificate is believed: by its chain and name, or because it is one that an admin pinned.
//!
//! Signatures of the handshake are checked in both cases, so that a session is with whoever owns the certificate.

use std::{fmt, sync::Arc};

use tokio_rustls::rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
};

use crate::upstream::reader::{Fault, Fingerprint};

/// Believes certificates.
#[derive(Debug)]
pub(super) struct Verifier {
    belief: Belief,
    algorithms: WebPkiSupportedAlgorithms,
}

#[derive(Debug)]
enum Belief {
    Chain(Arc<WebPkiServerVerifier>),
    Pinned(Vec<[u8; 32]>),
}

/// A certificate that was not believed, and which.
#[derive(Debug)]
pub(super) struct NotBelieved {
    pub(super) shown: Fingerprint,
    pub(super) why: Why,
}

/// Why a certificate was not believed.
#[derive(Debug)]
pub(super) enum Why {
    Chain(Error),
    NotPinned,
}

impl Verifier {
    pub(super) fn by_chain(roots: Arc<RootCertStore>, provider: &Arc<CryptoProvider>) -> Result<Self, Fault> {
        let chain = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(provider))
            .build()
            .map_err(|error| Fault::tls(error.to_string()))?;
        Ok(Self::new(Belief::Chain(chain), provider))
    }

    pub(super) fn by_fingerprint(known: Vec<[u8; 32]>, provider: &CryptoProvider) -> Self {
        Self::new(Belief::Pinned(known), provider)
    }

    fn new(belief: Belief, provider: &CryptoProvider) -> Self {
        Self {
            belief,
            algorithms: provider.signature_verification_algorithms,
        }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let shown = Fingerprint::of(leaf);
        let why = match &self.belief {
            Belief::Chain(chain) => match chain.verify_server_cert(leaf, between, name, ocsp, now) {
                Ok(believed) => return Ok(believed),
                Err(error) => Why::Chain(error),
            },
            Belief::Pinned(known) if shown.is_one_of(known) => {
                return Ok(ServerCertVerified::assertion());
            }
            Belief::Pinned(_) => Why::NotPinned,
        };
        let told = Arc::new(NotBelieved { shown, why });
        Err(Error::InvalidCertificate(CertificateError::Other(OtherError(
            told,
        ))))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

impl fmt::Display for NotBelieved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the certificate {} is not believed", self.shown)
    }
}

impl std::error::Error for NotBelieved {}
