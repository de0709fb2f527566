//! From the operator's settings to providers. A provider that this build leaves out is told by name, never left out in
//! silence.

use std::{path::PathBuf, sync::Arc};

use super::{Local, Providers, SecretProvider};
use crate::{
    clock::Clock,
    config::{AwsConfig, SecretsConfig, VaultConfig},
};

/// Why a provider cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// This build leaves the provider out.
    #[error(
        "this build has no provider {0}; build toolgate with `--features {0}`, or leave its settings out"
    )]
    NotInBuild(&'static str),
    /// A setting is missing or cannot be used.
    #[error("{key}: {what}")]
    Setting {
        /// The setting.
        key: &'static str,
        /// What is wrong with it and what to do.
        what: String,
    },
    /// A credential file cannot be used.
    #[error("{key}: {path} {what}", path = .path.display())]
    File {
        /// The setting that names it.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it and what to do.
        what: String,
    },
}

type Provider = Arc<dyn SecretProvider>;

impl Providers {
    /// Those that the settings name, beside the gateway's own store. Asks nobody yet.
    ///
    /// # Errors
    /// When a setting cannot be used, or names a provider that this build leaves out.
    pub fn set_up(local: Local, config: &SecretsConfig, clock: &Clock) -> Result<Self, SetupError> {
        let aws = config.aws != AwsConfig::default();
        let vault = config.vault != VaultConfig::default();
        Ok(Self {
            local,
            aws: aws.then(|| aws_provider(&config.aws, clock)).transpose()?,
            vault: vault.then(|| vault_provider(&config.vault, clock)).transpose()?,
            process: None,
        })
    }
}

#[cfg(not(feature = "aws"))]
fn aws_provider(_: &AwsConfig, _: &Clock) -> Result<Provider, SetupError> {
    Err(SetupError::NotInBuild("aws"))
}

#[cfg(feature = "aws")]
fn aws_provider(config: &AwsConfig, clock: &Clock) -> Result<Provider, SetupError> {
    use super::{
        aws::{Aws, AwsSettings, CredentialSource},
        remote::{Endpoint, SecretFile},
    };
    let token = || {
        let file = config.credentials_token_file.clone();
        file.map(|path| SecretFile::new("aws.credentials_token_file", path))
            .transpose()
    };
    let credentials = match (&config.credentials_file, config.credentials_url.as_str()) {
        (Some(path), "") => CredentialSource::File(SecretFile::new("aws.credentials_file", path.clone())?),
        (None, url) if !url.is_empty() => CredentialSource::Container {
            url: Endpoint::of_credentials("aws.credentials_url", url)?,
            token: token()?,
        },
        _ => {
            return Err(SetupError::Setting {
                key: "aws.credentials_file",
                what: "give either this or `aws.credentials_url`, and not both".into(),
            });
        }
    };
    let endpoint = match config.endpoint.as_str() {
        "" => None,
        text => Some(Endpoint::new("aws.endpoint", text)?),
    };
    let settings = AwsSettings {
        region: config.region.clone(),
        endpoint,
        prefix: config.prefix.clone(),
        credentials,
    };
    Ok(Arc::new(Aws::new(settings, clock.clone())?))
}

#[cfg(not(feature = "vault"))]
fn vault_provider(_: &VaultConfig, _: &Clock) -> Result<Provider, SetupError> {
    Err(SetupError::NotInBuild("vault"))
}

#[cfg(feature = "vault")]
fn vault_provider(config: &VaultConfig, clock: &Clock) -> Result<Provider, SetupError> {
    use super::{
        remote::{Endpoint, SecretFile},
        vault::{Auth, Vault, VaultSettings},
    };
    let wrong = |key: &'static str, what: &str| SetupError::Setting {
        key,
        what: what.to_owned(),
    };
    let auth = match (
        &config.token_file,
        config.role_id.as_str(),
        &config.secret_id_file,
    ) {
        (Some(path), "", None) => Auth::Token(SecretFile::new("vault.token_file", path.clone())?),
        (None, role_id, Some(path)) if !role_id.is_empty() => Auth::AppRole {
            mount: config.approle_mount.clone(),
            role_id: role_id.to_owned(),
            secret_id: SecretFile::new("vault.secret_id_file", path.clone())?,
        },
        _ => {
            let what = "give either this, or `vault.role_id` and `vault.secret_id_file`";
            return Err(wrong("vault.token_file", what));
        }
    };
    let ca_cert = match &config.ca_cert {
        None => None,
        Some(path) => {
            let read = std::fs::read(path).map_err(|error| SetupError::File {
                key: "vault.ca_cert",
                path: path.clone(),
                what: format!("cannot be read: {error}"),
            });
            Some(read?)
        }
    };
    if config.address.is_empty() {
        return Err(wrong(
            "vault.address",
            "is needed, such as https://vault.example:8200",
        ));
    }
    let settings = VaultSettings {
        address: Endpoint::new("vault.address", &config.address)?,
        ca_cert,
        namespace: Some(config.namespace.clone()).filter(|namespace| !namespace.is_empty()),
        mount: config.mount.clone(),
        folder: config.folder.clone(),
        auth,
    };
    Ok(Arc::new(Vault::new(settings, clock.clone())?))
}

#[cfg(test)]
mod tests;
