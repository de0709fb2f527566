//! The gateway's own token: out of a file that an agent keeps, or by signing in with a role.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http::{HeaderName, HeaderValue, Method};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

use super::{Door, answer};
use crate::{
    clock::Clock,
    secrets::{Fault, remote::SecretFile},
};

/// How the gateway signs in.
#[derive(Debug, Clone)]
pub enum Auth {
    /// A token out of a file, read at each use.
    Token(SecretFile),
    /// A role and its secret id.
    AppRole {
        /// Path under which the method is mounted, most often `approle`.
        mount: String,
        /// The role's id; not a secret.
        role_id: String,
        /// The file with the secret id.
        secret_id: SecretFile,
    },
}

/// A token.
pub(super) struct Token {
    text: Zeroizing<String>,
    /// Monotonic; none for a token without an end.
    ends: Option<Duration>,
}

/// Keeps the token that a sign-in gave until shortly before its end.
#[derive(Debug)]
pub(super) struct Login {
    auth: Auth,
    clock: Clock,
    kept: Mutex<Option<Arc<Token>>>,
    /// One sign-in at a time; whoever waits finds the token of the one before.
    turn: Semaphore,
}

#[derive(Serialize)]
struct AppRole<'a> {
    role_id: &'a str,
    secret_id: &'a str,
}

#[derive(Deserialize)]
struct SignedIn {
    auth: Granted,
}

#[derive(Deserialize)]
struct Granted {
    client_token: String,
    #[serde(default)]
    lease_duration: u64,
}

impl Token {
    fn new(text: Zeroizing<String>, ends: Option<Duration>) -> Result<Arc<Self>, Fault> {
        let token = Self { text, ends };
        HeaderValue::from_str(&token.text).map_err(|_| Fault::Denied)?;
        Ok(Arc::new(token))
    }

    pub(super) fn header(&self) -> HeaderValue {
        // Tried when the token was made.
        let mut value = HeaderValue::from_str(&self.text).unwrap_or_else(|_| HeaderValue::from_static(""));
        value.set_sensitive(true);
        value
    }
}

impl Login {
    pub(super) fn new(auth: Auth, clock: Clock) -> Self {
        Self {
            auth,
            clock,
            kept: Mutex::new(None),
            turn: Semaphore::new(1),
        }
    }

    /// The token to ask with.
    pub(super) async fn token(&self, door: &Door) -> Result<Arc<Token>, Fault> {
        match &self.auth {
            Auth::Token(file) => Token::new(file.read().await?, None),
            Auth::AppRole { .. } => match self.kept() {
                Some(kept) => Ok(kept),
                None => self.sign_in(door, None).await,
            },
        }
    }

    /// Another token in place of a refused one; `None` where there is no other.
    pub(super) async fn renewed(
        &self,
        door: &Door,
        refused: &Arc<Token>,
    ) -> Result<Option<Arc<Token>>, Fault> {
        match &self.auth {
            Auth::Token(file) => {
                let now = Token::new(file.read().await?, None)?;
                Ok((*now.text != *refused.text).then_some(now))
            }
            Auth::AppRole { .. } => self.sign_in(door, Some(refused)).await.map(Some),
        }
    }

    async fn sign_in(&self, door: &Door, instead_of: Option<&Arc<Token>>) -> Result<Arc<Token>, Fault> {
        let _turn = self.turn.acquire().await.map_err(|_| Fault::Unavailable)?;
        let kept = self.kept();
        let other = |kept: &Arc<Token>| instead_of.is_none_or(|refused| !Arc::ptr_eq(kept, refused));
        if let Some(kept) = kept.filter(other) {
            return Ok(kept);
        }
        let token = self.ask(door).await?;
        *self.lock() = Some(Arc::clone(&token));
        Ok(token)
    }

    async fn ask(&self, door: &Door) -> Result<Arc<Token>, Fault> {
        let Auth::AppRole {
            mount,
            role_id,
            secret_id,
        } = &self.auth
        else {
            return Err(Fault::Denied);
        };
        let secret_id = secret_id.read().await?;
        let role = AppRole {
            role_id,
            secret_id: &secret_id,
        };
        let body = serde_json::to_vec(&role).map_err(|_| Fault::Denied)?;
        let segments = ["v1", "auth"]
            .into_iter()
            .chain(mount.split('/'))
            .chain(["login"]);
        let mut request = door.request(Method::POST, door.address.below(segments));
        request.headers_mut().insert(
            HeaderName::from_static("content-type"),
            HeaderValue::from_static("application/json"),
        );
        *request.body_mut() = Some(body.into());
        let answer = door.http.send(request).await?;
        if !answer.status.is_success() {
            return Err(answer::refused(answer.status.as_u16()));
        }
        let granted: SignedIn = serde_json::from_slice(&answer.body).map_err(|_| Fault::Unavailable)?;
        let lease = Duration::from_secs(granted.auth.lease_duration);
        // Nine tenths of its time, so that no call is made with one that ends on the way.
        let ends = (!lease.is_zero()).then(|| self.clock.monotonic() + lease.min(LONGEST_LEASE) * 9 / 10);
        Token::new(Zeroizing::new(granted.auth.client_token), ends)
    }

    fn kept(&self) -> Option<Arc<Token>> {
        let now = self.clock.monotonic();
        self.lock()
            .clone()
            .filter(|token| token.ends.is_none_or(|end| now < end))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Token>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Longer leases are renewed all the same.
const LONGEST_LEASE: Duration = Duration::from_secs(24 * 3600);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(***)")
    }
}
