//! TLS to the server: rustls on ring, roots of the machine or of one file.
//!
//! Where TLS is asked for, the certificate must be believed for the host's name. Where it is only preferred, it guards
//! against listeners and nothing is checked, unless a file of roots is given: whoever stands in the middle could as
//! well say that there is no TLS.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream as Session,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring::default_provider,
        pki_types::{CertificateDer, ServerName, pem::PemObject},
    },
};

use self::unchecked::Unchecked;
use crate::store::{DatabaseUrl, config::SslMode};

mod unchecked;

/// Opens TLS sessions the way a database's address asks for.
#[derive(Debug, Clone)]
pub(super) struct Tls(Option<Arc<ClientConfig>>);

/// One session to come.
#[derive(Debug)]
pub(super) struct Handshake {
    config: Option<Arc<ClientConfig>>,
    host: String,
}

/// A session, as the client library wants it.
#[derive(Debug)]
pub(super) struct Stream<S>(Session<S>);

impl Tls {
    /// The text of an error is the operator's.
    pub(super) fn of(url: &DatabaseUrl) -> Result<Self, String> {
        let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let config = match (url.tls(), url.root_cert()) {
            (SslMode::Disable, _) => return Ok(Self(None)),
            (SslMode::Prefer, None) => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(Unchecked::new()))
                .with_no_client_auth(),
            (SslMode::Require | SslMode::Prefer, Some(file)) => {
                let certificates = CertificateDer::pem_file_iter(file).map_err(|error| {
                    format!("cannot read the certificates of {}: {error}", file.display())
                })?;
                let roots = roots(certificates.flatten());
                if roots.is_empty() {
                    return Err(format!("there is no certificate in {}", file.display()));
                }
                builder.with_root_certificates(roots).with_no_client_auth()
            }
            (SslMode::Require, None) => {
                let roots = roots(rustls_native_certs::load_native_certs().certs);
                if roots.is_empty() {
                    return Err(
                        "this machine has no root certificates; name a file with `sslrootcert`".into(),
                    );
                }
                builder.with_root_certificates(roots).with_no_client_auth()
            }
        };
        Ok(Self(Some(Arc::new(config))))
    }
}

fn roots(certificates: impl IntoIterator<Item = CertificateDer<'static>>) -> RootCertStore {
    let mut store = RootCertStore::empty();
    // A bundle may hold a certificate that is not understood here; the others still count.
    store.add_parsable_certificates(certificates);
    store
}

impl<S> MakeTlsConnect<S> for Tls
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Stream<S>;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Handshake> {
        Ok(Handshake {
            config: self.0.clone(),
            host: host.to_owned(),
        })
    }
}

impl<S> TlsConnect<S> for Handshake
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Stream<S>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Stream<S>>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let config = self
                .config
                .ok_or_else(|| io::Error::other("TLS is switched off"))?;
            let name = ServerName::try_from(self.host).map_err(io::Error::other)?;
            TlsConnector::from(config).connect(name, stream).await.map(Stream)
        })
    }
}

impl<S> TlsStream for Stream<S>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests;
