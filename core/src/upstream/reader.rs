//! The client of everything that is read over HTTP: it can only GET.
//!
//! There is no other verb, no request body and no way to send one. One reader serves one credential of one target and
//! keeps its connections warm. Where it may connect is decided at the moment of dialling.

mod answer;
mod base;
mod body;
mod connection;
mod dial;
mod exchange;
mod fault;
mod fingerprint;
mod guard;
mod network;
mod path;
#[cfg(test)]
pub(crate) mod peer;
mod pool;
mod redirect;
mod request;
mod resolve;
mod stage;
mod tls;

use std::{fmt, sync::Arc, time::Duration};

use http::HeaderMap;
use tokio::time::timeout;

pub use self::{
    answer::Answer,
    base::Base,
    fault::Fault,
    fingerprint::Fingerprint,
    network::{Network, PRIVATE},
    path::ReadPath,
    tls::Trust,
};
use self::{dial::Dialler, exchange::Hop, pool::Pool, request::Head, resolve::Resolve, stage::Progress};
pub(crate) use self::{
    guard::admit,
    tls::{client_config, issuer_config, told as told_of_tls},
};
use crate::journal::Contact;

/// An answer has this long, from the first look at the pool to the last byte of the body.
const DEADLINE: Duration = Duration::from_secs(10);
/// More redirects than this are a circle, or as good as one.
const MOST_REDIRECTS: usize = 3;

/// Where a target is and how far it is trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// Scheme, host, port and base path of everything that is read.
    pub base: Base,
    /// Which certificates are accepted.
    pub trust: Trust,
    /// Which addresses beside public ones may be dialled.
    pub allow: Allow,
}

/// Which addresses beside public ones may be dialled. Link-local and metadata addresses never may.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allow {
    /// Private networks, such as `10.0.0.5/32`.
    pub private: Vec<Network>,
    /// This machine.
    pub loopback: bool,
    /// Plain HTTP.
    pub http: bool,
}

/// Reads from one target with one credential. Clones share its connections.
#[derive(Clone)]
pub struct Reader(Arc<Inner>);

struct Inner {
    base: Base,
    head: Head,
    pool: Pool,
    deadline: Duration,
}

impl Reader {
    /// A reader that sends these headers, one of them the credential, with every request to this destination only.
    ///
    /// # Errors
    /// When certificates or fingerprints cannot be used, or the destination is plain HTTP and may not be.
    pub fn new(destination: Destination, headers: HeaderMap) -> Result<Self, Fault> {
        Self::over(destination, headers, resolve::system(), DEADLINE)
    }

    fn over(
        destination: Destination,
        headers: HeaderMap,
        names: Arc<dyn Resolve>,
        deadline: Duration,
    ) -> Result<Self, Fault> {
        let Destination { base, trust, allow } = destination;
        let head = Head::new(&base, headers)?;
        let dialler = Dialler::new(base.clone(), &trust, allow, names)?;
        Ok(Self(Arc::new(Inner {
            base,
            head,
            pool: Pool::new(dialler),
            deadline,
        })))
    }

    /// Reads one path, following at most three redirects within the base. An answer of any status is an answer.
    ///
    /// # Errors
    /// When there is no answer within 10 seconds, or none that may be taken.
    pub async fn get(&self, _: &Contact, path: &ReadPath) -> Result<Answer, Fault> {
        let progress = Progress::default();
        match timeout(self.0.deadline, self.0.follow(path, &progress)).await {
            Ok(answer) => answer,
            Err(_) => Err(progress.too_late(&self.0.base, self.0.deadline)),
        }
    }
}

impl Inner {
    async fn follow(&self, path: &ReadPath, progress: &Progress) -> Result<Answer, Fault> {
        let mut at = path.below(&self.base)?;
        let mut moved_to = None;
        for _ in 0..=MOST_REDIRECTS {
            match exchange::run(&self.pool, &self.head, &at, progress).await? {
                Hop::Answer(answer) => return Ok(Answer { moved_to, ..answer }),
                Hop::Elsewhere(location) => {
                    at = redirect::resolve(&self.base, &at, &location)?;
                    moved_to = Some(self.base.path_below(&at));
                }
            }
        }
        Err(redirect::too_many())
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reader({})", self.0.base)
    }
}

#[cfg(test)]
mod tests;
