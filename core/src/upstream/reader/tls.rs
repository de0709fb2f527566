//! TLS to a target: whom to believe, and what to tell an admin when nobody can be believed.

mod refusal;
mod verifier;

use std::sync::{Arc, LazyLock};

use tokio::net::TcpStream;
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::{CryptoProvider, ring::default_provider},
        pki_types::{CertificateDer, ServerName, pem::PemObject},
    },
};
use url::Host;

pub(crate) use self::refusal::told;
use self::verifier::Verifier;
use super::{Base, Fault};

/// Those this machine trusts. Read once, when the first target needs them.
static MACHINE: LazyLock<Arc<RootCertStore>> = LazyLock::new(|| {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    Arc::new(roots)
});

/// Which certificates are accepted, beside or instead of those the machine trusts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust {
    /// A PEM bundle of authorities: only they are trusted then.
    pub authorities: Option<String>,
    /// SHA-256 of leaf certificates: any of them is accepted, and nothing else.
    pub fingerprints: Vec<[u8; 32]>,
}

impl Trust {
    /// Whether this can be used.
    ///
    /// # Errors
    /// What is wrong with it, for whoever wrote it.
    pub fn check(&self) -> Result<(), String> {
        match &self.authorities {
            Some(pem) => authorities(pem).map(drop),
            None => Ok(()),
        }
    }
}

/// Opens TLS sessions with one target.
pub(super) struct Tls {
    connector: TlsConnector,
    name: ServerName<'static>,
    place: String,
}

impl Tls {
    pub(super) fn new(base: &Base, trust: &Trust) -> Result<Self, Fault> {
        Ok(Self {
            connector: TlsConnector::from(Arc::new(client_config(trust)?)),
            name: name(base)?,
            place: base.place(),
        })
    }

    pub(super) async fn handshake(&self, stream: TcpStream) -> Result<TlsStream<TcpStream>, Fault> {
        self.connector
            .connect(self.name.clone(), stream)
            .await
            .map_err(|error| refusal::of_handshake(&self.place, &error))
    }
}

/// What a client of whoever hands out tokens for a target believes: the machine, and the target's own authorities beside
/// it. Pinned certificates are the target's alone.
pub(crate) fn issuer_config(trust: &Trust) -> Result<ClientConfig, Fault> {
    let mut roots = RootCertStore::clone(&MACHINE);
    if let Some(pem) = &trust.authorities {
        let own = authorities(pem).map_err(|what| Fault::tls(format!("caCertificate {what}")))?;
        roots.roots.extend(own.roots);
    }
    let provider = Arc::new(default_provider());
    let roots = match roots.is_empty() {
        true => machine()?,
        false => Arc::new(roots),
    };
    let verifier = Verifier::by_chain(roots, &provider)?;
    configured(provider, verifier)
}

/// What a client of this target believes: the machine, other authorities, or pinned certificates alone.
pub(crate) fn client_config(trust: &Trust) -> Result<ClientConfig, Fault> {
    let provider = Arc::new(default_provider());
    let verifier = match (trust.fingerprints.as_slice(), &trust.authorities) {
        ([], None) => Verifier::by_chain(machine()?, &provider)?,
        ([], Some(pem)) => {
            let roots = authorities(pem).map_err(|what| Fault::tls(format!("caCertificate {what}")))?;
            Verifier::by_chain(Arc::new(roots), &provider)?
        }
        (known, _) => Verifier::by_fingerprint(known.to_vec(), &provider),
    };
    configured(provider, verifier)
}

fn configured(provider: Arc<CryptoProvider>, verifier: Verifier) -> Result<ClientConfig, Fault> {
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Fault::tls(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn machine() -> Result<Arc<RootCertStore>, Fault> {
    match MACHINE.is_empty() {
        true => Err(Fault::tls(
            "this machine has no root certificates; install them, or give caCertificate or fingerprints",
        )),
        false => Ok(Arc::clone(&MACHINE)),
    }
}

fn authorities(pem: &str) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let certificate = certificate.map_err(|_| "is no PEM text that can be read".to_owned())?;
        roots
            .add(certificate)
            .map_err(|_| "holds a certificate that cannot be used as an authority".to_owned())?;
    }
    match roots.is_empty() {
        true => Err("holds no certificate; it must begin with -----BEGIN CERTIFICATE-----".into()),
        false => Ok(roots),
    }
}

fn name(base: &Base) -> Result<ServerName<'static>, Fault> {
    match base.parsed_host() {
        Some(Host::Ipv4(address)) => Ok(ServerName::IpAddress(std::net::IpAddr::from(address).into())),
        Some(Host::Ipv6(address)) => Ok(ServerName::IpAddress(std::net::IpAddr::from(address).into())),
        Some(Host::Domain(name)) => ServerName::try_from(name.to_owned())
            .map_err(|_| Fault::tls(format!("{name} is no name that a certificate can hold"))),
        None => Err(Fault::tls("the target has no host")),
    }
}

#[cfg(test)]
mod tests;
