//! Vault's KV engine, version 2, by its HTTP interface; OpenBao speaks the same.
//!
//! A tenant's secrets stand below a folder of its own, `FOLDER/<tenant>/`, so no tenant can name another's. The value is
//! the secret's whole object of keys. A refusal may mean that the gateway's token has ended, so it signs in again once.

mod answer;
mod login;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use futures::future::BoxFuture;
use http::{HeaderName, HeaderValue, Method};
use reqwest::{Request, Url};
use toolgate_contract::ids::TenantId;

pub use self::login::Auth;
use self::{
    answer::Told,
    login::{Login, Token},
};
use super::{
    Fault, SecretProvider, SecretRef, SecretValue, SetupError,
    remote::{Attempt, Attempts, Endpoint, Http},
};
use crate::clock::Clock;

/// How Vault is reached.
#[derive(Debug)]
pub struct VaultSettings {
    /// Its address, such as `https://vault.example:8200`.
    pub address: Endpoint,
    /// PEM bundle of certificate authorities to trust beside the machine's.
    pub ca_cert: Option<Vec<u8>>,
    /// Namespace, where there are some.
    pub namespace: Option<String>,
    /// Path under which the engine is mounted.
    pub mount: String,
    /// What stands before `<tenant>/<name>` in every path; may be empty.
    pub folder: String,
    /// How the gateway signs in.
    pub auth: Auth,
}

/// The provider.
#[derive(Debug)]
pub struct Vault {
    door: Door,
    login: Login,
    mount: String,
    folder: String,
    attempts: Attempts,
}

/// The way to the server.
#[derive(Debug, Clone)]
struct Door {
    http: Http,
    address: Endpoint,
    namespace: Option<HeaderValue>,
}

impl Vault {
    /// Sets it up; asks nobody yet.
    ///
    /// # Errors
    /// When a setting cannot be used.
    pub fn new(settings: VaultSettings, clock: Clock) -> Result<Self, SetupError> {
        if !is_path(&settings.mount) {
            return Err(setting(
                "vault.mount",
                "must be a path such as secret or teams/kv",
            ));
        }
        if !settings.folder.is_empty() && !is_path(&settings.folder) {
            return Err(setting(
                "vault.folder",
                "must be a path such as toolgate, or empty",
            ));
        }
        if let Auth::AppRole { mount, .. } = &settings.auth
            && !is_path(mount)
        {
            return Err(setting("vault.approle_mount", "must be a path such as approle"));
        }
        let namespace = settings
            .namespace
            .as_deref()
            .map(HeaderValue::from_str)
            .transpose()
            .map_err(|_| setting("vault.namespace", "must be a path such as team-a"))?;
        let with_tls = settings.address.url().scheme() == "https";
        let door = Door {
            http: Http::new("vault.ca_cert", settings.ca_cert.as_deref(), with_tls)?,
            address: settings.address,
            namespace,
        };
        Ok(Self {
            login: Login::new(settings.auth, clock),
            door,
            mount: settings.mount,
            folder: settings.folder,
            attempts: Attempts::default(),
        })
    }

    fn url(&self, tenant: &TenantId, name: &str, version: Option<u32>) -> Url {
        let segments = ["v1"]
            .into_iter()
            .chain(self.mount.split('/'))
            .chain(["data"])
            .chain(self.folder.split('/').filter(|part| !part.is_empty()))
            .chain([tenant.as_str()])
            .chain(name.split('/'));
        let mut url = self.door.address.below(segments);
        if let Some(version) = version {
            url.query_pairs_mut().append_pair("version", &version.to_string());
        }
        url
    }

    async fn attempt(&self, url: &Url) -> Attempt<SecretValue> {
        let token = match self.login.token(&self.door).await {
            Ok(token) => token,
            Err(fault) => return later_or_no(fault),
        };
        match self.ask(url, &token).await {
            Ok(Told::No(Fault::Denied)) => {}
            told => return settled(told),
        }
        // The token may have ended before its time: once more with a new one, where there can be one.
        match self.login.renewed(&self.door, &token).await {
            Ok(Some(token)) => settled(self.ask(url, &token).await),
            Ok(None) => Attempt::Done(Err(Fault::Denied)),
            Err(fault) => later_or_no(fault),
        }
    }

    async fn ask(&self, url: &Url, token: &Arc<Token>) -> Result<Told, Fault> {
        let mut request = self.door.request(Method::GET, url.clone());
        request
            .headers_mut()
            .insert(HeaderName::from_static("x-vault-token"), token.header());
        let answer = self.door.http.send(request).await?;
        Ok(answer::read(&answer))
    }
}

impl Door {
    fn request(&self, method: Method, url: Url) -> Request {
        let mut request = Request::new(method, url);
        let headers = request.headers_mut();
        headers.insert(
            HeaderName::from_static("x-vault-request"),
            HeaderValue::from_static("true"),
        );
        if let Some(namespace) = &self.namespace {
            headers.insert(HeaderName::from_static("x-vault-namespace"), namespace.clone());
        }
        request
    }
}

impl SecretProvider for Vault {
    fn fetch<'a>(
        &'a self,
        tenant: &'a TenantId,
        reference: &'a SecretRef,
    ) -> BoxFuture<'a, Result<SecretValue, Fault>> {
        Box::pin(async move {
            let (name, version) = reference.elsewhere().ok_or(Fault::NotConfigured)?;
            let url = self.url(tenant, name, version);
            self.attempts.run(|| self.attempt(&url)).await
        })
    }
}

fn settled(told: Result<Told, Fault>) -> Attempt<SecretValue> {
    match told {
        Ok(Told::Secret(value)) => Attempt::Done(Ok(value)),
        Ok(Told::No(fault)) => Attempt::Done(Err(fault)),
        Ok(Told::Later(fault)) => Attempt::Again(fault),
        Err(fault) => later_or_no(fault),
    }
}

// A sealed server is not unsealed within seconds.
fn later_or_no(fault: Fault) -> Attempt<SecretValue> {
    match fault.is_broken() || fault == Fault::Sealed {
        true => Attempt::Done(Err(fault)),
        false => Attempt::Again(fault),
    }
}

fn is_path(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    text.split('/')
        .all(|part| !part.is_empty() && part.chars().all(plain) && !part.chars().all(|c| c == '.'))
}

fn setting(key: &'static str, what: &str) -> SetupError {
    SetupError::Setting {
        key,
        what: what.to_owned(),
    }
}
