//! Whom a reader believes, against peers with certificates of all kinds.

use http::HeaderMap;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::rustls::{ServerConfig, pki_types::PrivateKeyDer, version::TLS12};

use super::*;
use crate::upstream::{
    UpstreamError,
    reader::{
        Fingerprint, ReadPath, Reader,
        peer::{Peer, Reply, contact},
    },
};

const HERE: &str = "127.0.0.1";

struct Shown {
    der: Vec<u8>,
    config: ServerConfig,
}

impl Shown {
    fn print(&self) -> Fingerprint {
        Fingerprint::of(&self.der)
    }
}

fn config(certificate: &rcgen::Certificate, key: &KeyPair) -> Shown {
    let versions = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = versions
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    Shown {
        der: certificate.der().to_vec(),
        config,
    }
}

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    named("one authority")
}

fn named(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn issued(by: &CertifiedIssuer<'static, KeyPair>, name: &str, change: fn(&mut CertificateParams)) -> Shown {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    change(&mut params);
    config(&params.signed_by(&key, by).unwrap(), &key)
}

async fn read(shown: ServerConfig, trust: Trust) -> Result<u16, Fault> {
    let peer = Peer::over_tls(shown, |_| Reply::status(204));
    let mut destination = peer.destination("");
    destination.trust = trust;
    let reader = Reader::new(destination, HeaderMap::new())?;
    let answer = reader.get(&contact(), &ReadPath::of(["x"])).await?;
    assert_eq!(peer.connections(), 1);
    Ok(answer.status.as_u16())
}

fn by_authority(pem: &str) -> Trust {
    Trust {
        authorities: Some(pem.to_owned()),
        fingerprints: vec![],
    }
}

fn by_print(prints: &[Fingerprint]) -> Trust {
    Trust {
        authorities: None,
        fingerprints: prints.iter().map(|print| print.0).collect(),
    }
}

#[tokio::test]
async fn a_certificate_of_the_given_authority_for_this_host_is_accepted() {
    let authority = authority();
    let shown = issued(&authority, HERE, |_| {});
    assert_eq!(read(shown.config, by_authority(&authority.pem())).await, Ok(204));
    let (one, two) = (named("another"), named("a third"));
    let both = format!("{}\n{}", one.pem(), two.pem());
    let shown = issued(&two, HERE, |_| {});
    assert_eq!(read(shown.config, by_authority(&both)).await, Ok(204));
}

#[tokio::test]
async fn what_is_not_accepted_is_told_with_its_fingerprint() {
    let (authority, other, like) = (authority(), named("another"), self::authority());
    let pem = authority.pem();
    let told = async |shown: Shown, trust: Trust, why: &str| {
        let print = shown.print().to_string();
        let fault = read(shown.config, trust).await.unwrap_err();
        assert_eq!(fault.error, UpstreamError::Tls);
        assert!(
            fault.detail.contains(why) && fault.detail.contains(&print),
            "{why}: {fault:?}"
        );
    };
    told(
        issued(&other, HERE, |_| {}),
        by_authority(&pem),
        "issuer is not trusted",
    )
    .await;
    told(
        issued(&authority, HERE, |_| {}),
        Trust::default(),
        "issuer is not trusted",
    )
    .await;
    told(issued(&like, HERE, |_| {}), by_authority(&pem), "not signed by").await;
    told(
        issued(&authority, "git.example", |_| {}),
        by_authority(&pem),
        "another name",
    )
    .await;
    let expired = |params: &mut CertificateParams| params.not_after = date_time_ymd(2020, 1, 1);
    told(issued(&authority, HERE, expired), by_authority(&pem), "expired").await;
    let early = |params: &mut CertificateParams| params.not_before = date_time_ymd(2999, 1, 1);
    told(
        issued(&authority, HERE, early),
        by_authority(&pem),
        "not valid yet",
    )
    .await;
    told(
        issued(&authority, HERE, |_| {}),
        by_print(&[Fingerprint([1; 32]), Fingerprint([2; 32])]),
        "none of the given fingerprints",
    )
    .await;
}

#[tokio::test]
async fn a_pinned_certificate_is_accepted_whatever_it_says_and_nothing_else_is() {
    let expired = |params: &mut CertificateParams| params.not_after = date_time_ymd(2020, 1, 1);
    let authority = authority();
    let shown = issued(&authority, "git.example", expired);
    let prints = [Fingerprint([1; 32]), shown.print()];
    assert_eq!(read(shown.config, by_print(&prints)).await, Ok(204));
    // The authority given as well makes no other certificate of its own good.
    let trust = Trust {
        authorities: Some(authority.pem()),
        ..by_print(&prints)
    };
    let good = issued(&authority, HERE, |_| {});
    assert_eq!(
        read(good.config, trust).await.unwrap_err().error,
        UpstreamError::Tls
    );
}

#[tokio::test]
async fn a_certificate_without_its_key_is_not_believed_even_when_pinned() {
    let authority = authority();
    let shown = issued(&authority, HERE, |_| {});
    let stolen = shown.der.clone();
    for only_12 in [false, true] {
        let versions = ServerConfig::builder_with_provider(Arc::new(default_provider()));
        let versions = match only_12 {
            true => versions.with_protocol_versions(&[&TLS12]).unwrap(),
            false => versions.with_safe_default_protocol_versions().unwrap(),
        };
        let config = versions
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(Thief(stolen.clone())));
        let fault = read(config, by_print(&[Fingerprint::of(&stolen)]))
            .await
            .unwrap_err();
        assert_eq!(fault.error, UpstreamError::Tls, "{fault:?}");
    }
}

/// Shows a certificate that is not its own and signs with another key.
#[derive(Debug)]
struct Thief(Vec<u8>);

impl tokio_rustls::rustls::server::ResolvesServerCert for Thief {
    fn resolve(
        &self,
        _: tokio_rustls::rustls::server::ClientHello<'_>,
    ) -> Option<Arc<tokio_rustls::rustls::sign::CertifiedKey>> {
        let key = PrivateKeyDer::try_from(KeyPair::generate().unwrap().serialize_der()).unwrap();
        let key = tokio_rustls::rustls::crypto::ring::sign::any_supported_type(&key).unwrap();
        let chain = vec![CertificateDer::from(self.0.clone())];
        Some(Arc::new(tokio_rustls::rustls::sign::CertifiedKey::new(
            chain, key,
        )))
    }
}

#[tokio::test]
async fn a_certificate_that_is_its_own_authority_is_accepted_or_its_pinning_is_advised() {
    let made = |is_ca: IsCa| {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![HERE.to_owned()]).unwrap();
        params.is_ca = is_ca;
        let certificate = params.self_signed(&key).unwrap();
        (certificate.pem(), config(&certificate, &key))
    };
    let (pem, shown) = made(IsCa::NoCa);
    assert_eq!(read(shown.config, by_authority(&pem)).await, Ok(204));
    let (pem, shown) = made(IsCa::Ca(BasicConstraints::Unconstrained));
    let fault = read(shown.config, by_authority(&pem)).await.unwrap_err();
    assert!(fault.detail.contains("authority and server at once"), "{fault:?}");
}

#[tokio::test]
async fn a_port_that_speaks_no_tls_is_told() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 1_024]).await;
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        let _ = stream.read(&mut [0; 1_024]).await;
    });
    let mut destination = Peer::answering(|_| Reply::status(204)).destination("");
    destination.base = Base::parse(&format!("https://{address}")).unwrap();
    destination.trust = by_print(&[Fingerprint([1; 32])]);
    let reader = Reader::new(destination, HeaderMap::new()).unwrap();
    let fault = reader.get(&contact(), &ReadPath::of(["x"])).await.unwrap_err();
    assert_eq!(fault.error, UpstreamError::Tls, "{fault:?}");
    assert!(
        fault.detail.contains("is this the port of its HTTPS?"),
        "{fault:?}"
    );
}

#[test]
fn an_authority_that_cannot_be_read_is_told() {
    let check = |pem: &str, fits: bool| assert_eq!(by_authority(pem).check().is_ok(), fits, "{pem}");
    check(&authority().pem(), true);
    check("", false);
    check("x", false);
    check(
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        false,
    );
    check(
        "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n",
        false,
    );
    check(&authority().pem()[..200], false);
}
