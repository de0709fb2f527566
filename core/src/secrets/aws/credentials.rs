//! The gateway's own credentials for AWS: out of a file in the format of the shared credentials file, or from the
//! endpoint that a container platform gives its containers.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use http::{HeaderValue, Method};
use reqwest::Request;
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::{
    clock::Clock,
    rfc3339,
    secrets::{
        Fault, SetupError,
        remote::{Endpoint, Http, SecretFile},
    },
};

/// New ones are asked for this long before the old ones end.
const BEFORE_END: Duration = Duration::from_secs(300);

/// Where the gateway's own credentials come from.
#[derive(Debug, Clone)]
pub enum CredentialSource {
    /// A file with `aws_access_key_id`, `aws_secret_access_key` and perhaps `aws_session_token`, read at each use.
    File(SecretFile),
    /// An endpoint of the container platform, with the file that holds the token it wants, if it wants one.
    Container {
        /// The endpoint.
        url: Endpoint,
        /// The token's file.
        token: Option<SecretFile>,
    },
}

/// One set of credentials.
pub(super) struct Credentials {
    pub(super) id: String,
    pub(super) secret: Zeroizing<String>,
    pub(super) token: Option<Zeroizing<String>>,
    ends_us: Option<i64>,
}

/// Keeps what was handed out until shortly before its end.
#[derive(Debug)]
pub(super) struct Wallet {
    source: CredentialSource,
    http: Http,
    clock: Clock,
    kept: Mutex<Option<Arc<Credentials>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct HandedOut {
    access_key_id: String,
    secret_access_key: String,
    token: Option<String>,
    expiration: Option<String>,
}

impl Credentials {
    pub(super) fn new(id: &str, secret: &str, token: Option<&str>) -> Self {
        Self {
            id: id.to_owned(),
            secret: Zeroizing::new(secret.to_owned()),
            token: token.map(|token| Zeroizing::new(token.to_owned())),
            ends_us: None,
        }
    }
}

impl Wallet {
    pub(super) fn new(source: CredentialSource, clock: Clock) -> Result<Self, SetupError> {
        let with_tls =
            matches!(&source, CredentialSource::Container { url, .. } if url.url().scheme() == "https");
        Ok(Self {
            source,
            http: Http::new("aws.credentials_url", None, with_tls)?,
            clock,
            kept: Mutex::new(None),
        })
    }

    pub(super) async fn credentials(&self) -> Result<Arc<Credentials>, Fault> {
        match &self.source {
            CredentialSource::File(file) => parse(&file.read().await?).map(Arc::new).ok_or(Fault::Denied),
            CredentialSource::Container { url, token } => {
                if let Some(kept) = self.kept() {
                    return Ok(kept);
                }
                let fresh = Arc::new(self.handed_out(url, token.as_ref()).await?);
                *self.lock() = Some(Arc::clone(&fresh));
                Ok(fresh)
            }
        }
    }

    /// Forgets what AWS says has ended. True when there may be others now.
    pub(super) fn drop_expired(&self, used: &Arc<Credentials>) -> bool {
        let mut kept = self.lock();
        let same = kept.as_ref().is_some_and(|kept| Arc::ptr_eq(kept, used));
        if same {
            *kept = None;
        }
        same
    }

    fn kept(&self) -> Option<Arc<Credentials>> {
        let soon = self.clock.wall_us() + i64::try_from(BEFORE_END.as_micros()).unwrap_or(0);
        self.lock()
            .clone()
            .filter(|kept| kept.ends_us.is_none_or(|end| soon < end))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<Credentials>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn handed_out(&self, url: &Endpoint, token: Option<&SecretFile>) -> Result<Credentials, Fault> {
        let mut request = Request::new(Method::GET, url.url().clone());
        if let Some(token) = token {
            let token = token.read().await?;
            let mut value = HeaderValue::from_str(&token).map_err(|_| Fault::Denied)?;
            value.set_sensitive(true);
            request.headers_mut().insert("authorization", value);
        }
        let answer = self.http.send(request).await?;
        if !answer.status.is_success() {
            let refused = answer.status.is_client_error() && answer.status.as_u16() != 429;
            return Err(if refused {
                Fault::Denied
            } else {
                Fault::Unavailable
            });
        }
        let given: HandedOut = serde_json::from_slice(&answer.body).map_err(|_| Fault::Denied)?;
        let ends_us = given
            .expiration
            .as_deref()
            .map(|text| rfc3339::parse(text).map_err(|_| Fault::Denied))
            .transpose()?;
        Ok(Credentials {
            id: given.access_key_id,
            secret: Zeroizing::new(given.secret_access_key),
            token: given.token.map(Zeroizing::new),
            ends_us,
        })
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(***)")
    }
}

// The first section counts; profiles that take roles are not there.
fn parse(text: &str) -> Option<Credentials> {
    let mut sections = 0;
    let (mut id, mut secret, mut token) = (None, None, None);
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            sections += 1;
            if sections > 1 {
                break;
            }
            continue;
        }
        let Some((name, value)) = line.split_once('=') else {
            continue;
        };
        match name.trim() {
            "aws_access_key_id" => id = Some(value.trim()),
            "aws_secret_access_key" => secret = Some(value.trim()),
            "aws_session_token" => token = Some(value.trim()),
            _ => {}
        }
    }
    Some(Credentials::new(id?, secret?, token))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_section_of_a_credentials_file_counts() {
        let text = "# ours\n[default]\naws_access_key_id = AKID\naws_secret_access_key=a=b\n\n[other]\naws_session_token = no\n";
        let read = parse(text).unwrap();
        assert_eq!((read.id.as_str(), read.secret.as_str()), ("AKID", "a=b"));
        assert!(read.token.is_none());
        let with_token = "aws_access_key_id=A\naws_secret_access_key=B\naws_session_token=C";
        assert_eq!(parse(with_token).unwrap().token.unwrap().as_str(), "C");
        for bad in ["", "[default]", "aws_access_key_id=A", "aws_secret_access_key=B"] {
            assert!(parse(bad).is_none(), "{bad}");
        }
    }
}
