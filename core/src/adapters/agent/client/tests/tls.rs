//! Whom the client believes: the authorities or certificates of its target, and nobody else.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio_rustls::rustls::{ServerConfig, pki_types::PrivateKeyDer};

use super::*;
use crate::upstream::reader::{Fingerprint, issuer_config};

/// A server's certificate, its print, and the PEM of who issued it.
fn shown() -> (ServerConfig, [u8; 32], String) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &authority).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    (config, Fingerprint::of(certificate.der()).0, authority.pem())
}

#[tokio::test]
async fn the_authority_or_the_certificate_of_the_target_is_believed_and_no_other() {
    let (config, print, pem) = shown();
    let peer = Peer::over_tls(config, |_| Reply::status(204));
    let ask = async |trust: Trust| {
        let mut destination = peer.destination("");
        destination.trust = trust;
        let client = Client::new(&destination)?;
        client.send(get("/x")).await.map(|answer| answer.status.as_u16())
    };
    let by = |authorities: Option<&str>, fingerprints: Vec<[u8; 32]>| Trust {
        authorities: authorities.map(str::to_owned),
        fingerprints,
    };
    assert_eq!(ask(by(Some(&pem), vec![])).await, Ok(204));
    assert_eq!(ask(by(None, vec![print])).await, Ok(204));
    let told = Fingerprint(print).to_string();
    for trust in [by(Some(&shown().2), vec![]), by(None, vec![[7; 32]])] {
        let fault = ask(trust).await.unwrap_err();
        assert_eq!(fault.error, UpstreamError::Tls, "{}", fault.detail);
        assert!(fault.detail.contains(&told), "{}", fault.detail);
    }
    // Nothing but the handshake reached the peer.
    assert_eq!(peer.asked().len(), 2);
}

#[tokio::test]
async fn who_hands_out_tokens_is_believed_by_the_authorities_of_the_target_and_not_by_its_pins() {
    let (config, print, pem) = shown();
    let peer = Peer::over_tls(config, |_| Reply::status(204));
    let destination = peer.destination("");
    let ask = async |authorities: Option<String>, fingerprints: Vec<[u8; 32]>| {
        let trust = Trust {
            authorities,
            fingerprints,
        };
        let client = Client::over(&destination.base, &destination.allow, || issuer_config(&trust))?;
        client.send(get("/x")).await.map(|answer| answer.status.as_u16())
    };
    assert_eq!(ask(Some(pem), vec![]).await, Ok(204));
    assert_eq!(
        ask(None, vec![print]).await.unwrap_err().error,
        UpstreamError::Tls
    );
}
