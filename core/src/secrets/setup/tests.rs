use super::*;
use crate::{
    keys::Keyring,
    store::{Store, StoreConfig},
};

async fn set_up(config: &SecretsConfig) -> Result<Providers, String> {
    drop(tokio_rustls::rustls::crypto::ring::default_provider().install_default());
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(StoreConfig::sqlite(dir.path().join("toolgate.db")))
        .await
        .unwrap();
    let keys = Arc::new(Keyring::open(dir.path()).unwrap());
    Providers::set_up(Local::new(store, keys), config, &Clock::system()).map_err(|error| error.to_string())
}

fn aws(config: AwsConfig) -> SecretsConfig {
    SecretsConfig {
        aws: config,
        ..SecretsConfig::default()
    }
}

fn vault(config: VaultConfig) -> SecretsConfig {
    SecretsConfig {
        vault: config,
        ..SecretsConfig::default()
    }
}

#[tokio::test]
async fn without_settings_there_is_the_gateways_own_store_alone() {
    let providers = set_up(&SecretsConfig::default()).await.unwrap();
    assert!(providers.aws.is_none() && providers.vault.is_none());
}

#[cfg(not(feature = "aws"))]
#[tokio::test]
async fn settings_of_aws_are_refused_where_the_build_leaves_it_out() {
    let config = aws(AwsConfig {
        region: "eu-central-1".into(),
        ..AwsConfig::default()
    });
    let told = set_up(&config).await.unwrap_err();
    assert!(told.contains("this build has no provider aws"), "{told}");
}

#[cfg(not(feature = "vault"))]
#[tokio::test]
async fn settings_of_vault_are_refused_where_the_build_leaves_it_out() {
    let config = vault(VaultConfig {
        address: "https://vault.example".into(),
        ..VaultConfig::default()
    });
    let told = set_up(&config).await.unwrap_err();
    assert!(told.contains("this build has no provider vault"), "{told}");
}

#[cfg(any(feature = "aws", feature = "vault"))]
fn private_file(dir: &std::path::Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = dir.join("credential");
    std::fs::write(&path, "text").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path
}

#[cfg(feature = "aws")]
#[tokio::test]
async fn aws_wants_a_region_and_one_source_of_credentials() {
    let dir = tempfile::tempdir().unwrap();
    let file = private_file(dir.path());
    let whole = AwsConfig {
        region: "eu-central-1".into(),
        endpoint: "http://127.0.0.1:1".into(),
        credentials_file: Some(file.clone()),
        ..AwsConfig::default()
    };
    assert!(set_up(&aws(whole.clone())).await.unwrap().aws.is_some());
    let check = async |config: AwsConfig, key: &str| {
        let told = set_up(&aws(config)).await.unwrap_err();
        assert!(told.starts_with(key), "{told}");
    };
    check(
        AwsConfig {
            region: String::new(),
            ..whole.clone()
        },
        "aws.region: ",
    )
    .await;
    check(
        AwsConfig {
            credentials_file: None,
            ..whole.clone()
        },
        "aws.credentials_file: ",
    )
    .await;
    check(
        AwsConfig {
            credentials_url: "http://127.0.0.1:1".into(),
            ..whole.clone()
        },
        "aws.credentials_file: ",
    )
    .await;
    check(
        AwsConfig {
            endpoint: "http://aws.example".into(),
            ..whole.clone()
        },
        "aws.endpoint: ",
    )
    .await;
    let missing = Some(dir.path().join("nothing"));
    check(
        AwsConfig {
            credentials_file: missing,
            ..whole
        },
        "aws.credentials_file: ",
    )
    .await;
}

#[cfg(feature = "vault")]
#[tokio::test]
async fn vault_wants_an_address_and_one_way_to_sign_in() {
    let dir = tempfile::tempdir().unwrap();
    let file = private_file(dir.path());
    let whole = VaultConfig {
        address: "http://127.0.0.1:1".into(),
        token_file: Some(file.clone()),
        ..VaultConfig::default()
    };
    assert!(set_up(&vault(whole.clone())).await.unwrap().vault.is_some());
    let role = VaultConfig {
        token_file: None,
        role_id: "role".into(),
        secret_id_file: Some(file.clone()),
        ..whole.clone()
    };
    assert!(set_up(&vault(role.clone())).await.unwrap().vault.is_some());
    let check = async |config: VaultConfig, key: &str| {
        let told = set_up(&vault(config)).await.unwrap_err();
        assert!(told.starts_with(key), "{told}");
    };
    check(
        VaultConfig {
            address: String::new(),
            ..whole.clone()
        },
        "vault.address: ",
    )
    .await;
    check(
        VaultConfig {
            token_file: None,
            ..whole.clone()
        },
        "vault.token_file: ",
    )
    .await;
    check(
        VaultConfig {
            token_file: Some(file.clone()),
            ..role.clone()
        },
        "vault.token_file: ",
    )
    .await;
    check(
        VaultConfig {
            secret_id_file: None,
            ..role
        },
        "vault.token_file: ",
    )
    .await;
    check(
        VaultConfig {
            ca_cert: Some(file),
            ..whole.clone()
        },
        "vault.ca_cert: ",
    )
    .await;
    check(
        VaultConfig {
            mount: "a/../b".into(),
            ..whole
        },
        "vault.mount: ",
    )
    .await;
}
