//! TLS to the gateway: rustls on ring, roots of the host or of one file.

use std::{io, path::Path, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring::default_provider,
    pki_types::{CertificateDer, pem::PemObject},
};

use crate::config::TrustRoots;

/// Where distributions keep the roots.
const PLATFORM: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
];

/// A client configuration that believes `roots` and nobody else.
pub(crate) fn client(roots: &TrustRoots) -> io::Result<Arc<ClientConfig>> {
    let store = match roots {
        TrustRoots::File(path) => read(path)?,
        TrustRoots::Platform => PLATFORM
            .iter()
            .find_map(|path| read(Path::new(path)).ok())
            .ok_or_else(|| io::Error::other("this host has no root certificates; name a CA file"))?,
    };
    let mut config = believing(store)?;
    // The exporter of a TLS 1.2 session without it does not name the session.
    config.require_ems = true;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// A client configuration that believes nobody, for clients that speak without TLS: no certificates are looked for.
pub(crate) fn nobody() -> io::Result<ClientConfig> {
    believing(RootCertStore::empty())
}

fn believing(roots: RootCertStore) -> io::Result<ClientConfig> {
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

fn read(path: &Path) -> io::Result<RootCertStore> {
    let mut store = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(path).map_err(io::Error::other)?;
    // A bundle may hold a certificate that is not understood here; the others still count.
    store.add_parsable_certificates(certificates.flatten());
    if store.is_empty() {
        return Err(io::Error::other(format!("no certificate in {}", path.display())));
    }
    Ok(store)
}
