//! The HTTP client: no redirect, no proxy, no body over the limit, no error text.

use std::time::Duration;

use http::StatusCode;
use reqwest::{Certificate, Client, Request, redirect};
use zeroize::Zeroizing;

use crate::secrets::{Fault, SetupError};

const CONNECT: Duration = Duration::from_secs(1);
const IDLE: Duration = Duration::from_secs(30);
/// Of an answer: the longest secret, escaped, and what stands around it.
const LONGEST: usize = 512 * 1024;

/// The client of one provider. Clones share its connections.
#[derive(Clone)]
pub(in crate::secrets) struct Http(Client);

/// An answer, read whole.
pub(in crate::secrets) struct Answer {
    pub(in crate::secrets) status: StatusCode,
    /// Wiped when it is dropped.
    pub(in crate::secrets) body: Zeroizing<Vec<u8>>,
}

impl Http {
    /// A client that trusts the machine's certificates, and those in `more`, a PEM bundle.
    pub(in crate::secrets) fn new(
        key: &'static str,
        more: Option<&[u8]>,
        with_tls: bool,
    ) -> Result<Self, SetupError> {
        let wrong = |what: &str| SetupError::Setting {
            key,
            what: what.to_owned(),
        };
        let roots = match more {
            None => Vec::new(),
            Some(pem) => {
                let roots =
                    Certificate::from_pem_bundle(pem).map_err(|_| wrong("holds no PEM certificates"))?;
                if roots.is_empty() {
                    return Err(wrong("holds no PEM certificates"));
                }
                roots
            }
        };
        let builder = Client::builder()
            .connect_timeout(CONNECT)
            .pool_idle_timeout(IDLE)
            .redirect(redirect::Policy::none())
            .no_proxy()
            .tcp_nodelay(true)
            .user_agent(concat!("toolgate/", env!("CARGO_PKG_VERSION")));
        // Without TLS the machine's certificates are not needed; a small container may have none.
        let builder = match with_tls {
            true => builder.tls_certs_merge(roots),
            false => builder.tls_certs_only([]),
        };
        let client = builder
            .build()
            .map_err(|_| wrong("no HTTP client can be made; are there certificates on this machine?"))?;
        Ok(Self(client))
    }

    /// Sends a request and reads its answer. The fault is all that is told of an error.
    pub(in crate::secrets) async fn send(&self, request: Request) -> Result<Answer, Fault> {
        let mut response = self.0.execute(request).await.map_err(|error| fault(&error))?;
        let announced = response
            .content_length()
            .map_or(LONGEST, |n| usize::try_from(n).unwrap_or(LONGEST));
        if response.content_length().is_some_and(|n| n > LONGEST as u64) {
            return Err(Fault::Unfit);
        }
        // Of its final size from the start: growing would leave copies behind.
        let mut body = Zeroizing::new(Vec::with_capacity(announced.min(LONGEST)));
        while let Some(chunk) = response.chunk().await.map_err(|error| fault(&error))? {
            if body.len() + chunk.len() > body.capacity() {
                return Err(Fault::Unfit);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Answer {
            status: response.status(),
            body,
        })
    }
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Http")
    }
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Answer({}, ***)", self.status)
    }
}

fn fault(error: &reqwest::Error) -> Fault {
    match error.is_timeout() {
        true => Fault::Timeout,
        false => Fault::Unavailable,
    }
}
