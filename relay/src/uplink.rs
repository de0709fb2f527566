//! Stays connected to the gateway, until it is told to stop, whatever is offered over the connection.
//!
//! Dials, proves who it is, hands the connection to a session, and dials again. Knows nothing of what is answered.

use std::{fmt, io, path::PathBuf, sync::Arc, time::Duration};

use rustls::ClientConfig;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;
use toolgate_contract::{
    enrolment::EnrolmentToken,
    frame::{GoAwayReason, Offer, PublicKey},
};

use crate::{
    backoff::Backoff,
    config::TrustRoots,
    dial::dial,
    endpoint::{BadUrl, Endpoint},
    handshake::{Claim, HandshakeError, shake},
    identity::{Enrolled, HoldError, Keeper, Key},
    link::{Link, LinkError},
    project::BadServer,
    service::Service,
    session::{End, serve},
    tls,
};

/// What the relay is doing, for whoever watches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RelayState {
    /// It dials, or proves itself.
    Connecting,
    /// It serves as this relay.
    Connected {
        /// The relay's id.
        relay: String,
    },
    /// It will dial again.
    Waiting {
        /// Why it is not connected.
        why: String,
        /// When.
        retry_in: Duration,
    },
    /// It has ended.
    Stopped,
}

/// Why a relay cannot run at all. Everything that may pass by itself is retried instead.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// The URL names no gateway.
    #[error("gateway URL: {0}")]
    Url(#[from] BadUrl),
    /// Started as root.
    #[error("a relay should not run as root; use a user of its own, or say --allow-root")]
    Root,
    /// The state directory is of no use.
    #[error("state directory: {0}")]
    State(#[source] io::Error),
    /// Another relay runs on the state directory; two would look like a copied key.
    #[error(
        "{dir} is in use by process {pid}; stop that relay first, or give this one a directory of its own"
    )]
    InUse {
        /// The directory.
        dir: String,
        /// Who holds it; `unknown` where it does not say.
        pid: String,
    },
    /// The server that is to be brought cannot be.
    #[error(transparent)]
    Server(#[from] BadServer),
    /// No certificates to believe.
    #[error("TLS: {0}")]
    Tls(#[source] io::Error),
    /// Neither enrolled nor given a token.
    #[error(
        "this relay is not enrolled; give it the token that was shown when its target or project was added"
    )]
    NotEnrolled,
    /// The token does not work, and will not.
    #[error("the enrolment token is unknown, used or expired; ask for a new one")]
    TokenRefused,
    /// The token is for a project of another name; it is not spent.
    #[error(
        "the gateway knows this relay or the project of this token by another name; start it with that --name, or in a directory of its own"
    )]
    OtherName,
}

/// What any relay is told.
#[derive(Debug)]
pub(crate) struct UplinkConfig {
    pub(crate) gateway_url: String,
    pub(crate) enrolment_token: Option<EnrolmentToken>,
    pub(crate) name: String,
    pub(crate) state_dir: PathBuf,
    pub(crate) roots: TrustRoots,
    /// Root is accepted.
    pub(crate) allow_root: bool,
    pub(crate) state: Option<watch::Sender<RelayState>>,
}

/// One relay: its identity, and what it offers.
pub(crate) struct Relay<S> {
    config: UplinkConfig,
    endpoint: Endpoint,
    tls: Option<Arc<ClientConfig>>,
    keeper: Keeper,
    known: Option<(Key, Enrolled)>,
    /// The key that was proven, or was to be, at the last try: people compare it with what the gateway shows.
    key: Option<PublicKey>,
    /// When the gateway let this relay in, if it did at the last try.
    served_since: Option<Instant>,
    service: Arc<S>,
}

impl<S: Service> Relay<S> {
    /// Checks what it is told, and takes the state directory.
    pub(crate) fn new(config: UplinkConfig, service: Arc<S>) -> Result<Self, RelayError> {
        let endpoint = Endpoint::parse(&config.gateway_url)?;
        if rustix::process::geteuid().is_root() && !config.allow_root {
            return Err(RelayError::Root);
        }
        let tls = endpoint
            .tls
            .then(|| tls::client(&config.roots))
            .transpose()
            .map_err(RelayError::Tls)?;
        let keeper = Keeper::open(&config.state_dir).map_err(|error| match error {
            HoldError::Io(error) => RelayError::State(error),
            HoldError::InUse { pid } => RelayError::InUse {
                dir: config.state_dir.display().to_string(),
                pid,
            },
        })?;
        let known = keeper
            .enrolled(config.enrolment_token.as_ref())
            .map_err(RelayError::State)?;
        if known.is_none() && config.enrolment_token.is_none() {
            return Err(RelayError::NotEnrolled);
        }
        Ok(Self {
            config,
            endpoint,
            tls,
            keeper,
            known,
            key: None,
            served_since: None,
            service,
        })
    }

    /// Runs until `shutdown`, or until nothing but a person can help.
    pub(crate) async fn run(&mut self, shutdown: &CancellationToken) -> Result<(), RelayError> {
        let mut backoff = Backoff::new();
        while !shutdown.is_cancelled() {
            self.show(RelayState::Connecting);
            self.served_since = None;
            let why = tokio::select! {
                why = self.connection(shutdown) => why?,
                // A session ends by itself, and an enrolment under way is not thrown away; neither may take long.
                () = until_late(shutdown) => return Ok(()),
            };
            let Some(why) = why else { return Ok(()) };
            let wait = pause(&why, &mut backoff, self.served_since.map(|since| since.elapsed()));
            self.tell(&why, wait);
            tokio::select! {
                () = sleep(wait) => {}
                () = shutdown.cancelled() => return Ok(()),
            }
        }
        Ok(())
    }

    /// One connection from dial to end; `None` when this relay stops.
    async fn connection(&mut self, shutdown: &CancellationToken) -> Result<Option<Parted>, RelayError> {
        let dialled = tokio::select! {
            dialled = dial(&self.endpoint, self.tls.clone()) => dialled,
            () = shutdown.cancelled() => return Ok(None),
        };
        let link = match dialled {
            Ok(link) => link,
            Err(error) => return Ok(Some(Parted::Link(error))),
        };
        self.converse(link, shutdown).await
    }

    async fn converse(
        &mut self,
        mut link: Link,
        shutdown: &CancellationToken,
    ) -> Result<Option<Parted>, RelayError> {
        let session = match self.prove(&mut link).await? {
            Ok(session) => session,
            Err(error) => return Ok(Some(Parted::Handshake(error))),
        };
        let relay = self
            .known
            .as_ref()
            .map(|(_, enrolled)| enrolled.relay.clone())
            .unwrap_or_default();
        tracing::info!(
            relay,
            key = self.key(),
            gateway = self.endpoint.host,
            "connected to the gateway"
        );
        self.served_since = Some(Instant::now());
        self.show(RelayState::Connected { relay });
        Ok(
            match serve(link, session, Arc::clone(&self.service), shutdown).await {
                End::Stopped => None,
                End::GoAway(reason) => Some(Parted::GoAway(reason)),
                End::Broken(error) => Some(Parted::Link(error)),
                End::Silent => Some(Parted::Silent),
            },
        )
    }

    async fn prove(
        &mut self,
        link: &mut Link,
    ) -> Result<Result<toolgate_contract::frame::Session, HandshakeError>, RelayError> {
        if let Some((key, enrolled)) = &self.known {
            self.key = Some(key.public());
            let claim = Claim {
                tenant: &enrolled.tenant,
                relay: Some(&enrolled.relay),
                key,
                pins: &enrolled.gateway_keys,
                enrolment: None,
                offer: S::OFFER,
                name: &self.config.name,
            };
            return Ok(shake(link, &claim).await.map(|(session, _)| session));
        }
        let token = self
            .config
            .enrolment_token
            .clone()
            .ok_or(RelayError::NotEnrolled)?;
        self.enrol(link, &token).await
    }

    async fn enrol(
        &mut self,
        link: &mut Link,
        token: &EnrolmentToken,
    ) -> Result<Result<toolgate_contract::frame::Session, HandshakeError>, RelayError> {
        let (key, new) = Keeper::new_key().map_err(RelayError::State)?;
        self.key = Some(key.public());
        let claim = Claim {
            tenant: token.tenant.as_str(),
            relay: None,
            key: &key,
            pins: &[token.gateway_key],
            enrolment: Some(&token.secret),
            offer: S::OFFER,
            name: &self.config.name,
        };
        let (session, ready) = match shake(link, &claim).await {
            Ok(done) => done,
            Err(error) => {
                return match final_refusal(&error) {
                    Some(refusal) => {
                        tracing::error!(reason = %refusal, key = self.key(), "not enrolled: someone must act");
                        Err(refusal)
                    }
                    None => Ok(Err(error)),
                };
            }
        };
        let enrolled = self
            .keeper
            .keep(&new, token, &ready.relay)
            .map_err(RelayError::State)?;
        tracing::info!(relay = enrolled.relay, key = self.key(), "enrolled");
        self.known = Some((key, enrolled));
        Ok(Ok(session))
    }

    fn tell(&self, why: &Parted, wait: Duration) {
        let retry_in_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        if why.is_refusal() {
            let key = self.key();
            tracing::error!(reason = %why, next = why.next(S::OFFER), key, retry_in_ms, "not connected: someone must act");
        } else {
            tracing::warn!(reason = %why, next = why.next(S::OFFER), retry_in_ms, "not connected");
        }
        self.show(RelayState::Waiting {
            why: why.to_string(),
            retry_in: wait,
        });
    }

    /// The public key, as the gateway shows it.
    fn key(&self) -> Option<String> {
        self.key.map(|key| key.to_string())
    }

    pub(crate) fn show(&self, state: RelayState) {
        if let Some(watched) = &self.config.state {
            watched.send_replace(state);
        }
    }
}

/// What ends a relay that enrols: the same token will be refused again.
fn final_refusal(error: &HandshakeError) -> Option<RelayError> {
    match error {
        HandshakeError::Refused(GoAwayReason::TokenRefused) => Some(RelayError::TokenRefused),
        HandshakeError::Refused(GoAwayReason::OtherName) => Some(RelayError::OtherName),
        _ => None,
    }
}

/// How long to wait, chosen at random so that a fleet does not come back all at once.
fn pause(why: &Parted, backoff: &mut Backoff, served: Option<Duration>) -> Duration {
    let mut random = rand::rng();
    if why.is_refusal() {
        backoff.refused(&mut random)
    } else {
        backoff.next(served, &mut random)
    }
}

/// A moment after `shutdown`: a session has had the time to say goodbye.
async fn until_late(shutdown: &CancellationToken) {
    shutdown.cancelled().await;
    sleep(Duration::from_secs(3)).await;
}

/// Why relay and gateway parted.
#[derive(Debug)]
enum Parted {
    Link(LinkError),
    Handshake(HandshakeError),
    GoAway(GoAwayReason),
    Silent,
}

impl Parted {
    /// True when dialling again will not help until a person has acted.
    fn is_refusal(&self) -> bool {
        match self {
            Self::Handshake(HandshakeError::Refused(reason)) | Self::GoAway(reason) => matches!(
                reason,
                GoAwayReason::Revoked
                    | GoAwayReason::ReEnrol
                    | GoAwayReason::TokenRefused
                    | GoAwayReason::ProofRefused
                    | GoAwayReason::CloneSuspected
                    | GoAwayReason::OtherName
            ),
            Self::Handshake(HandshakeError::WrongGateway | HandshakeError::Intercepted) => true,
            Self::Handshake(_) | Self::Link(_) | Self::Silent => false,
        }
    }
}

impl Parted {
    /// What a person can do, where it is not to wait.
    fn next(&self, offer: Offer) -> Option<&'static str> {
        match self {
            Self::Link(LinkError::Unreached { next, .. })
            | Self::Handshake(HandshakeError::Link(LinkError::Unreached { next, .. })) => Some(next),
            Self::Handshake(HandshakeError::Refused(GoAwayReason::OtherName))
            | Self::GoAway(GoAwayReason::OtherName) => {
                Some("start it with that --name, or in a directory of its own")
            }
            _ if self.is_refusal() => Some(match offer {
                Offer::Host => {
                    "`toolgate target enrol NAME` on the gateway prints a command that enrols this host anew"
                }
                Offer::Project => {
                    "`toolgate fleet enrol NAME` on the gateway prints a token that enrols this project anew"
                }
            }),
            _ => None,
        }
    }
}

impl fmt::Display for Parted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Handshake(HandshakeError::Refused(reason)) | Self::GoAway(reason) => {
                f.write_str(say(*reason))
            }
            Self::Handshake(error) => error.fmt(f),
            Self::Link(error) => error.fmt(f),
            Self::Silent => f.write_str("the gateway was silent for 45 seconds"),
        }
    }
}

fn say(reason: GoAwayReason) -> &'static str {
    match reason {
        GoAwayReason::OtherName => {
            "the gateway knows this relay, or the project of its token, by another name than --name says"
        }
        GoAwayReason::Superseded => {
            "a newer connection with this relay's key took over; is its key in use twice?"
        }
        GoAwayReason::Revoked => "this relay was revoked by an admin",
        GoAwayReason::ReEnrol => "the gateway does not know this relay; enrol it anew with a new token",
        GoAwayReason::TokenRefused => "the enrolment token is unknown, used or expired",
        GoAwayReason::ProofRefused => "the gateway did not accept this relay's signature",
        GoAwayReason::CloneSuspected => "two holders of this relay's key took turns; an admin must look",
        GoAwayReason::ShuttingDown => "the gateway is stopping",
        GoAwayReason::Overloaded => "the gateway is overloaded",
        GoAwayReason::Unavailable => "the gateway cannot reach its store",
        GoAwayReason::TimedOut => "the gateway did not hear from this relay in time",
        GoAwayReason::Protocol => "the gateway could not read a frame of this relay",
        GoAwayReason::Unknown => "the gateway ended the connection",
    }
}

#[cfg(test)]
mod tests;
