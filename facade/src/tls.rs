//! Reads the operator's certificate and key.

use std::{path::Path, sync::Arc};

use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

use crate::FacadeError;

/// Reads a certificate chain and its private key from PEM files.
///
/// # Errors
/// [`FacadeError::Tls`], naming the file and what is wrong with it.
pub fn load(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, FacadeError> {
    let chain = read_chain(certificate)?;
    let private = PrivateKeyDer::from_pem_slice(&read(key)?)
        .map_err(|error| fault(key, format!("no private key in PEM form can be read ({error})")))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| fault(certificate, error.to_string()))?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|error| {
            fault(
                key,
                format!("does not go with {} ({error})", certificate.display()),
            )
        })?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn read_chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, FacadeError> {
    let chain = CertificateDer::pem_slice_iter(&read(path)?)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| fault(path, format!("cannot be read as PEM ({error})")))?;
    if chain.is_empty() {
        return Err(fault(
            path,
            "holds no certificate; a PEM file with the server's chain is wanted".into(),
        ));
    }
    Ok(chain)
}

fn read(path: &Path) -> Result<Vec<u8>, FacadeError> {
    std::fs::read(path).map_err(|error| fault(path, format!("cannot be read ({error})")))
}

fn fault(path: &Path, message: String) -> FacadeError {
    FacadeError::Tls {
        path: path.into(),
        message,
    }
}
