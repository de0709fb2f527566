//! AWS Secrets Manager, by its HTTP interface: one operation, `GetSecretValue` of the stage `AWSCURRENT`.
//!
//! A tenant's secrets stand below a folder of its own, `PREFIX<tenant>/`, so no tenant can name another's. Scheduled for
//! deletion, gone and forbidden are broken configurations and not tried again; throttling and faults of the service are,
//! within the budget. The gateway's own credentials come from a file or from the endpoint that a container platform
//! gives; instance metadata, web identities and profiles with roles are not there.

mod answer;
mod credentials;
mod sigv4;
#[cfg(test)]
mod tests;

use futures::future::BoxFuture;
use http::{HeaderName, HeaderValue, Method};
use reqwest::{Request, Url};
use toolgate_contract::ids::TenantId;

pub use self::credentials::CredentialSource;
use self::{
    answer::Told,
    credentials::{Credentials, Wallet},
    sigv4::Signing,
};
use super::{
    Fault, SecretProvider, SecretRef, SecretValue, SetupError,
    remote::{Attempt, Attempts, Endpoint, Http},
};
use crate::clock::Clock;

const SERVICE: &str = "secretsmanager";
const OPERATION: &str = "secretsmanager.GetSecretValue";

/// How AWS is reached.
#[derive(Debug)]
pub struct AwsSettings {
    /// Region, such as `eu-central-1`.
    pub region: String,
    /// Another address than the region's own; for VPC endpoints and simulators.
    pub endpoint: Option<Endpoint>,
    /// What stands before `<tenant>/<name>` in every secret's name, such as `toolgate/`.
    pub prefix: String,
    /// Where the gateway's own credentials come from.
    pub credentials: CredentialSource,
}

/// The provider.
#[derive(Debug)]
pub struct Aws {
    http: Http,
    url: Url,
    region: String,
    prefix: String,
    wallet: Wallet,
    clock: Clock,
    attempts: Attempts,
}

impl Aws {
    /// Sets it up; asks nobody yet.
    ///
    /// # Errors
    /// When a setting cannot be used.
    pub fn new(settings: AwsSettings, clock: Clock) -> Result<Self, SetupError> {
        let region = settings.region;
        if region.is_empty() || !region.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            return Err(setting(
                "aws.region",
                "is no region; one is needed, such as eu-central-1",
            ));
        }
        let plain =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '=' | '+' | '@' | '/');
        if !settings.prefix.chars().all(plain) {
            return Err(setting(
                "aws.prefix",
                "must consist of letters, digits and -_.=+@/",
            ));
        }
        let endpoint = match settings.endpoint {
            Some(endpoint) => endpoint,
            None => Endpoint::new(
                "aws.region",
                &format!("https://{SERVICE}.{region}.{}", domain(&region)),
            )?,
        };
        let with_tls = endpoint.url().scheme() == "https";
        Ok(Self {
            http: Http::new("aws.endpoint", None, with_tls)?,
            url: endpoint.below([""]),
            region,
            prefix: settings.prefix,
            wallet: Wallet::new(settings.credentials, clock.clone())?,
            clock,
            attempts: Attempts::default(),
        })
    }

    async fn attempt(&self, body: &[u8]) -> Attempt<SecretValue> {
        let credentials = match self.wallet.credentials().await {
            Ok(credentials) => credentials,
            Err(fault) if fault.is_broken() => return Attempt::Done(Err(fault)),
            Err(fault) => return Attempt::Again(fault),
        };
        let Some(request) = self.request(body, &credentials) else {
            return Attempt::Done(Err(Fault::Unfit));
        };
        let answer = match self.http.send(request).await {
            Ok(answer) => answer,
            Err(Fault::Unfit) => return Attempt::Done(Err(Fault::Unfit)),
            Err(fault) => return Attempt::Again(fault),
        };
        match answer::read(&answer) {
            Told::Secret(value) => Attempt::Done(Ok(value)),
            Told::No(fault) => Attempt::Done(Err(fault)),
            Told::Later(fault) => Attempt::Again(fault),
            // What was handed out may have ended early; fresh ones are worth one more attempt.
            Told::CredentialsExpired if self.wallet.drop_expired(&credentials) => {
                Attempt::Again(Fault::Denied)
            }
            Told::CredentialsExpired => Attempt::Done(Err(Fault::Denied)),
        }
    }

    fn request(&self, body: &[u8], credentials: &Credentials) -> Option<Request> {
        let mut request = Request::new(Method::POST, self.url.clone());
        let headers = request.headers_mut();
        headers.insert(
            "content-type",
            HeaderValue::from_static("application/x-amz-json-1.1"),
        );
        headers.insert("x-amz-target", HeaderValue::from_static(OPERATION));
        let signing = Signing {
            credentials,
            region: &self.region,
            service: SERVICE,
            time_us: self.clock.wall_us(),
        };
        for (name, value) in sigv4::sign(&request, body, &signing)? {
            let mut value = HeaderValue::from_str(&value).ok()?;
            value.set_sensitive(true);
            request.headers_mut().insert(HeaderName::from_static(name), value);
        }
        *request.body_mut() = Some(body.to_vec().into());
        Some(request)
    }
}

impl SecretProvider for Aws {
    fn fetch<'a>(
        &'a self,
        tenant: &'a TenantId,
        reference: &'a SecretRef,
    ) -> BoxFuture<'a, Result<SecretValue, Fault>> {
        Box::pin(async move {
            let (name, _) = reference.elsewhere().ok_or(Fault::NotConfigured)?;
            let asked = serde_json::json!({
                "SecretId": format!("{}{tenant}/{name}", self.prefix),
                "VersionStage": "AWSCURRENT",
            });
            let body = asked.to_string();
            self.attempts.run(|| self.attempt(body.as_bytes())).await
        })
    }
}

fn domain(region: &str) -> &'static str {
    match region.starts_with("cn-") {
        true => "amazonaws.com.cn",
        false => "amazonaws.com",
    }
}

fn setting(key: &'static str, what: &str) -> SetupError {
    SetupError::Setting {
        key,
        what: what.to_owned(),
    }
}
