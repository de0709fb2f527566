//! Against a stand-in that follows Vault's documented API: there is no server to be had by the package clients here.

mod peer;

use std::{os::unix::fs::PermissionsExt, path::Path};

use self::peer::Peer;
use super::*;
use crate::secrets::{
    remote::{SecretFile, stand_in::StandIn},
    tests::overheard::Overheard,
};

fn file(dir: &Path, name: &str, text: &str) -> SecretFile {
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    SecretFile::new("vault.token_file", path).unwrap()
}

fn vault(url: &str, auth: Auth) -> Vault {
    let settings = VaultSettings {
        address: Endpoint::new("vault.address", url).unwrap(),
        ca_cert: None,
        namespace: Some("team-a".into()),
        mount: "teams/kv".into(),
        folder: "toolgate".into(),
        auth,
    };
    Vault::new(settings, Clock::manual(0)).unwrap()
}

fn app_role(secret_id: SecretFile) -> Auth {
    Auth::AppRole {
        mount: "approle".into(),
        role_id: "the-role".into(),
        secret_id,
    }
}

async fn fetch(vault: &Vault, tenant: &TenantId, name: &str, version: Option<u32>) -> Result<String, Fault> {
    let reference = SecretRef::vault(name, version).unwrap();
    let value = vault.fetch(tenant, &reference).await?;
    Ok(String::from_utf8(value.reveal().to_vec()).unwrap())
}

#[tokio::test]
async fn a_secret_is_its_whole_object_of_keys_below_the_tenants_folder() {
    let dir = tempfile::tempdir().unwrap();
    let (tenant, other) = (TenantId::mint(), TenantId::mint());
    let peer = Peer::start().await;
    peer.put(&tenant, "prod/proxmox", r#"{"tokenId":"a","tokenSecret":"1"}"#);
    peer.put(&tenant, "prod/proxmox", r#"{"tokenId":"a","tokenSecret":"2"}"#);
    let vault = vault(&peer.url(), Auth::Token(file(dir.path(), "t", "root-token\n")));

    let newest = r#"{"tokenId":"a","tokenSecret":"2"}"#;
    assert_eq!(
        fetch(&vault, &tenant, "prod/proxmox", None).await.unwrap(),
        newest
    );
    let first = fetch(&vault, &tenant, "prod/proxmox", Some(1)).await.unwrap();
    assert_eq!(first, r#"{"tokenId":"a","tokenSecret":"1"}"#);
    assert_eq!(
        fetch(&vault, &other, "prod/proxmox", None).await,
        Err(Fault::NotFound)
    );
    assert_eq!(fetch(&vault, &tenant, "prod", None).await, Err(Fault::NotFound));
    peer.delete(&tenant, "prod/proxmox");
    assert_eq!(
        fetch(&vault, &tenant, "prod/proxmox", None).await,
        Err(Fault::Deleted)
    );

    for asked in peer.asked() {
        assert!(
            asked.path.starts_with("/v1/teams/kv/data/toolgate/"),
            "{}",
            asked.path
        );
        assert_eq!(asked.header("x-vault-namespace"), "team-a");
        assert_eq!(asked.header("x-vault-token"), "root-token");
    }
}

#[tokio::test]
async fn a_role_signs_in_once_and_again_when_its_token_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let tenant = TenantId::mint();
    let peer = Peer::start().await;
    peer.put(&tenant, "a", r#"{"token":"x"}"#);
    let vault = Arc::new(vault(
        &peer.url(),
        app_role(file(dir.path(), "s", "the-secret-id")),
    ));
    let fetches = (0..20).map(|_| fetch(&vault, &tenant, "a", None));
    let together = futures::future::join_all(fetches).await;
    assert!(together.iter().all(Result::is_ok));
    assert_eq!(peer.logins(), 1);

    peer.revoke_tokens();
    let fetches = (0..20).map(|_| fetch(&vault, &tenant, "a", None));
    let together = futures::future::join_all(fetches).await;
    assert!(together.iter().all(Result::is_ok), "{together:?}");
    assert_eq!(peer.logins(), 2);

    // A role that may not read is refused after one more sign-in, and no more.
    peer.forbid();
    let before = peer.asked().len();
    assert_eq!(fetch(&vault, &tenant, "a", None).await, Err(Fault::Denied));
    assert_eq!((peer.asked().len() - before, peer.logins()), (3, 3));
}

#[tokio::test]
async fn a_token_is_given_up_before_its_lease_ends() {
    let dir = tempfile::tempdir().unwrap();
    let tenant = TenantId::mint();
    let peer = Peer::start().await;
    peer.put(&tenant, "a", r#"{"token":"x"}"#);
    let mut vault = vault(&peer.url(), app_role(file(dir.path(), "s", "the-secret-id")));
    let clock = Clock::manual(0);
    vault.login = Login::new(app_role(file(dir.path(), "s", "the-secret-id")), clock.clone());
    fetch(&vault, &tenant, "a", None).await.unwrap();
    clock.advance(std::time::Duration::from_secs(3_239));
    fetch(&vault, &tenant, "a", None).await.unwrap();
    assert_eq!(peer.logins(), 1);
    clock.advance(std::time::Duration::from_secs(1));
    fetch(&vault, &tenant, "a", None).await.unwrap();
    assert_eq!(peer.logins(), 2);
}

#[tokio::test]
async fn a_token_file_that_was_renewed_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let tenant = TenantId::mint();
    let peer = Peer::start().await;
    peer.put(&tenant, "a", r#"{"token":"x"}"#);
    let vault = vault(&peer.url(), Auth::Token(file(dir.path(), "t", "old-token")));
    assert_eq!(fetch(&vault, &tenant, "a", None).await, Err(Fault::Denied));
    file(dir.path(), "t", "root-token");
    assert!(fetch(&vault, &tenant, "a", None).await.is_ok());
}

#[tokio::test]
async fn a_wrong_role_is_refused_and_not_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    let peer = Peer::start().await;
    let vault = vault(&peer.url(), app_role(file(dir.path(), "s", "another")));
    assert_eq!(
        fetch(&vault, &TenantId::mint(), "a", None).await,
        Err(Fault::Denied)
    );
    assert_eq!(peer.asked().len(), 1);
}

#[tokio::test]
async fn a_sealed_server_is_told_at_once_and_quotas_and_silence_within_the_budget() {
    let dir = tempfile::tempdir().unwrap();
    let check = async |reply: Option<(u16, &'static str)>, expected: Fault, once: bool| {
        let peer = StandIn::start(move |_| reply.map(|(status, text)| (status, text.to_owned()))).await;
        let mut vault = vault(&peer.url, Auth::Token(file(dir.path(), "t", "token")));
        vault.attempts = Attempts::shortened(10);
        let began = std::time::Instant::now();
        assert_eq!(fetch(&vault, &TenantId::mint(), "a", None).await, Err(expected));
        assert!(began.elapsed().as_millis() <= 700, "{:?}", began.elapsed());
        assert_eq!(peer.asked().len() == 1, once);
    };
    check(
        Some((503, r#"{"errors":["Vault is sealed"]}"#)),
        Fault::Sealed,
        true,
    )
    .await;
    check(Some((429, "")), Fault::Throttled, false).await;
    check(Some((500, "")), Fault::Unavailable, false).await;
    check(None, Fault::Timeout, false).await;
}

#[tokio::test]
async fn nothing_that_is_shown_holds_a_token_or_a_secret() {
    let dir = tempfile::tempdir().unwrap();
    let tenant = TenantId::mint();
    let peer = Peer::start().await;
    peer.put(&tenant, "a", r#"{"token":"c4n4ry-value"}"#);
    let overheard = Overheard::listen();
    let vault = vault(&peer.url(), app_role(file(dir.path(), "s", "the-secret-id")));
    fetch(&vault, &tenant, "a", None).await.unwrap();
    peer.revoke_tokens();
    fetch(&vault, &tenant, "very-private", None).await.unwrap_err();
    std::fs::remove_file(dir.path().join("s")).unwrap();
    peer.revoke_tokens();
    fetch(&vault, &tenant, "a", None).await.unwrap_err();
    let secrets = [
        "the-secret-id",
        "issued-by-the-stand-in-1",
        "issued-by-the-stand-in-2",
        "c4n4ry-value",
        "very-private",
    ];
    overheard.holds_none_of(&secrets);
    let shown = format!("{vault:?}");
    for secret in secrets {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
}

#[test]
fn paths_are_plain() {
    for good in ["secret", "teams/kv", "kv-2_a.b"] {
        assert!(is_path(good), "{good}");
    }
    for bad in ["", "/", "a/", "/a", "a//b", "..", "a/../b", "a b", "a?b", "a%2f"] {
        assert!(!is_path(bad), "{bad}");
    }
}
