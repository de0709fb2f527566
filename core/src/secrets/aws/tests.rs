//! Against moto, which checks signatures and policies as AWS does, and against a peer that answers as told.

mod moto;

use std::{
    os::unix::fs::PermissionsExt,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use self::moto::Moto;
use super::*;
use crate::secrets::{
    remote::{SecretFile, stand_in::StandIn},
    tests::overheard::Overheard,
};

fn file(dir: &Path, id: &str, secret: &str) -> SecretFile {
    let path = dir.join("aws-credentials");
    std::fs::write(
        &path,
        format!("[default]\naws_access_key_id={id}\naws_secret_access_key={secret}\n"),
    )
    .unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    SecretFile::new("aws.credentials_file", path).unwrap()
}

fn aws(url: &str, credentials: CredentialSource) -> Aws {
    let settings = AwsSettings {
        region: "eu-central-1".into(),
        endpoint: Some(Endpoint::new("aws.endpoint", url).unwrap()),
        prefix: "toolgate/".into(),
        credentials,
    };
    Aws::new(settings, Clock::system()).unwrap()
}

async fn fetch(aws: &Aws, tenant: &TenantId, name: &str) -> Result<String, Fault> {
    let reference = SecretRef::aws(name).unwrap();
    let value = aws.fetch(tenant, &reference).await?;
    Ok(String::from_utf8(value.reveal().to_vec()).unwrap())
}

#[tokio::test]
async fn moto_gives_the_current_version_below_the_tenants_folder_and_nothing_else() {
    let Some(moto) = Moto::start("moto_gives_the_current_version").await else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let (tenant, other) = (TenantId::mint(), TenantId::mint());
    let aws = aws(
        &moto.url,
        CredentialSource::File(file(dir.path(), "AKIATEST", "secret")),
    );
    let id = format!("toolgate/{tenant}/prod/proxmox");
    let json = |value: serde_json::Value| value.to_string();

    let created = json(serde_json::json!({"Name": id, "SecretString": "{\"tokenId\":\"a\"}"}));
    moto.secrets_manager("CreateSecret", &created).await;
    assert_eq!(
        fetch(&aws, &tenant, "prod/proxmox").await.unwrap(),
        "{\"tokenId\":\"a\"}"
    );
    let put = json(serde_json::json!({"SecretId": id, "SecretString": "second \"version\" \u{e4}"}));
    moto.secrets_manager("PutSecretValue", &put).await;
    assert_eq!(
        fetch(&aws, &tenant, "prod/proxmox").await.unwrap(),
        "second \"version\" \u{e4}"
    );
    let pending = json(serde_json::json!({
        "SecretId": id, "SecretString": "not yet", "VersionStages": ["AWSPENDING"]
    }));
    moto.secrets_manager("PutSecretValue", &pending).await;
    assert_eq!(
        fetch(&aws, &tenant, "prod/proxmox").await.unwrap(),
        "second \"version\" \u{e4}"
    );

    assert_eq!(
        fetch(&aws, &other, "prod/proxmox").await,
        Err(Fault::NotFound),
        "another tenant"
    );
    assert_eq!(fetch(&aws, &tenant, "prod").await, Err(Fault::NotFound));
    let deleted = json(serde_json::json!({"SecretId": id, "RecoveryWindowInDays": 7}));
    moto.secrets_manager("DeleteSecret", &deleted).await;
    assert_eq!(fetch(&aws, &tenant, "prod/proxmox").await, Err(Fault::Deleted));

    let binary =
        json(serde_json::json!({"Name": format!("toolgate/{tenant}/binary"), "SecretBinary": "YmluYXJ5"}));
    moto.secrets_manager("CreateSecret", &binary).await;
    assert_eq!(fetch(&aws, &tenant, "binary").await.unwrap(), "binary");
}

#[tokio::test]
async fn moto_accepts_our_signature_and_refuses_a_wrong_key_and_a_missing_right() {
    let Some(moto) = Moto::start("moto_accepts_our_signature").await else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let tenant = TenantId::mint();
    let created = serde_json::json!({"Name": format!("toolgate/{tenant}/a"), "SecretString": "value"});
    moto.secrets_manager("CreateSecret", &created.to_string()).await;
    let reader = moto.user("reader", "secretsmanager:GetSecretValue").await;
    let lister = moto.user("lister", "secretsmanager:ListSecrets").await;
    moto.check_signatures().await;

    let asked = |id: &str, secret: &str| aws(&moto.url, CredentialSource::File(file(dir.path(), id, secret)));
    assert_eq!(
        fetch(&asked(&reader.0, &reader.1), &tenant, "a").await.unwrap(),
        "value"
    );
    assert_eq!(
        fetch(&asked(&reader.0, "another"), &tenant, "a").await,
        Err(Fault::Denied)
    );
    assert_eq!(
        fetch(&asked("AKIANOBODY", &reader.1), &tenant, "a").await,
        Err(Fault::Denied)
    );
    assert_eq!(
        fetch(&asked(&lister.0, &lister.1), &tenant, "a").await,
        Err(Fault::Denied)
    );
}

#[tokio::test]
async fn throttling_and_faults_of_the_service_are_tried_again_and_refusals_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let tenant = TenantId::mint();
    let tries = AtomicUsize::new(0);
    let peer = StandIn::start(move |_| {
        Some(match tries.fetch_add(1, Ordering::SeqCst) {
            0 => (400, r#"{"__type":"ThrottlingException"}"#.into()),
            1 => (500, r#"{"__type":"InternalServiceError"}"#.into()),
            2 => (200, r#"{"SecretString":"at last"}"#.into()),
            _ => (
                400,
                r#"{"__type":"AccessDeniedException","Message":"user x may not"}"#.into(),
            ),
        })
    })
    .await;
    let aws = aws(&peer.url, CredentialSource::File(file(dir.path(), "AKIA", "s")));
    assert_eq!(fetch(&aws, &tenant, "a").await.unwrap(), "at last");
    assert_eq!(peer.asked().len(), 3);
    assert_eq!(fetch(&aws, &tenant, "a").await, Err(Fault::Denied));
    assert_eq!(peer.asked().len(), 4);
    let asked = &peer.asked()[0];
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/"));
    assert_eq!(asked.header("x-amz-target"), "secretsmanager.GetSecretValue");
    let body: serde_json::Value = serde_json::from_str(&asked.body).unwrap();
    assert_eq!(body["SecretId"], format!("toolgate/{tenant}/a"));
    assert_eq!(body["VersionStage"], "AWSCURRENT");
}

#[tokio::test]
async fn a_service_that_is_silent_or_fails_for_good_is_given_up_within_the_budget() {
    let dir = tempfile::tempdir().unwrap();
    let check = async |reply: Option<(u16, &'static str)>, expected: Fault| {
        let peer = StandIn::start(move |_| reply.map(|(status, text)| (status, text.to_owned()))).await;
        let mut aws = aws(&peer.url, CredentialSource::File(file(dir.path(), "AKIA", "s")));
        aws.attempts = Attempts::shortened(10);
        let began = std::time::Instant::now();
        assert_eq!(fetch(&aws, &TenantId::mint(), "a").await, Err(expected));
        assert!(began.elapsed().as_millis() <= 700, "{:?}", began.elapsed());
        assert!(peer.asked().len() > 1);
    };
    check(None, Fault::Timeout).await;
    check(Some((503, "")), Fault::Unavailable).await;
    check(Some((429, "")), Fault::Throttled).await;
}

#[tokio::test]
async fn credentials_of_the_container_are_kept_until_shortly_before_their_end() {
    let dir = tempfile::tempdir().unwrap();
    let platform_token = dir.path().join("platform-token");
    std::fs::write(&platform_token, "platform").unwrap();
    std::fs::set_permissions(&platform_token, std::fs::Permissions::from_mode(0o600)).unwrap();
    let clock = Clock::manual(crate::rfc3339::parse("2026-01-01T00:00:00Z").unwrap());
    let handed = AtomicUsize::new(0);
    let peer = StandIn::start(move |asked| {
        if asked.method == "GET" {
            let n = handed.fetch_add(1, Ordering::SeqCst);
            let text = format!(
                r#"{{"AccessKeyId":"ASIA{n}","SecretAccessKey":"s","Token":"session-{n}","Expiration":"2026-01-01T0{}:00:00Z"}}"#,
                n + 1
            );
            return Some((200, text));
        }
        // The second set ends before its time.
        let expired = asked.header("x-amz-security-token") == "session-1";
        Some(match expired {
            true => (400, r#"{"__type":"ExpiredTokenException"}"#.into()),
            false => (200, r#"{"SecretString":"value"}"#.into()),
        })
    })
    .await;
    let source = CredentialSource::Container {
        url: Endpoint::of_credentials("k", &format!("{}/v2/credentials", peer.url)).unwrap(),
        token: Some(SecretFile::new("k", platform_token).unwrap()),
    };
    let mut aws = aws(&peer.url, source.clone());
    aws.clock = clock.clone();
    aws.wallet = Wallet::new(source, clock.clone()).unwrap();
    let tenant = TenantId::mint();
    let handed_out = || {
        let asked = peer.asked();
        let gets: Vec<_> = asked.iter().filter(|asked| asked.method == "GET").collect();
        assert!(
            gets.iter()
                .all(|asked| asked.header("authorization") == "platform")
        );
        gets.len()
    };

    fetch(&aws, &tenant, "a").await.unwrap();
    clock.advance(std::time::Duration::from_secs(54 * 60));
    fetch(&aws, &tenant, "a").await.unwrap();
    assert_eq!(handed_out(), 1);
    clock.advance(std::time::Duration::from_secs(61));
    fetch(&aws, &tenant, "a").await.unwrap();
    assert_eq!(
        handed_out(),
        3,
        "the second set was refused as expired, the third serves"
    );
    let last = peer.asked().pop().unwrap();
    assert_eq!(last.header("x-amz-security-token"), "session-2");
    assert!(last.header("authorization").contains("x-amz-security-token"));
}

#[tokio::test]
async fn nothing_that_is_shown_holds_a_key_or_a_secret() {
    let dir = tempfile::tempdir().unwrap();
    let tries = AtomicUsize::new(0);
    let peer = StandIn::start(move |_| {
        Some(match tries.fetch_add(1, Ordering::SeqCst) {
            0 => (200, r#"{"SecretString":"c4n4ry-value"}"#.into()),
            _ => (
                400,
                r#"{"__type":"AccessDeniedException","Message":"no very-private for you"}"#.into(),
            ),
        })
    })
    .await;
    let overheard = Overheard::listen();
    let aws = aws(
        &peer.url,
        CredentialSource::File(file(dir.path(), "AKIA", "c4n4ry-own-key")),
    );
    fetch(&aws, &TenantId::mint(), "very-private").await.unwrap();
    fetch(&aws, &TenantId::mint(), "very-private").await.unwrap_err();
    std::fs::remove_file(dir.path().join("aws-credentials")).unwrap();
    fetch(&aws, &TenantId::mint(), "very-private").await.unwrap_err();
    let secrets = ["c4n4ry-own-key", "c4n4ry-value", "very-private"];
    overheard.holds_none_of(&secrets);
    let shown = format!("{aws:?}");
    for secret in secrets {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
}

#[test]
fn settings_that_cannot_be_used_are_named() {
    drop(tokio_rustls::rustls::crypto::ring::default_provider().install_default());
    let dir = tempfile::tempdir().unwrap();
    let check = |region: &str, prefix: &str, key: Option<&str>| {
        let settings = AwsSettings {
            region: region.into(),
            endpoint: Some(Endpoint::new("k", "http://127.0.0.1:1").unwrap()),
            prefix: prefix.into(),
            credentials: CredentialSource::File(file(dir.path(), "AKIA", "s")),
        };
        let told = Aws::new(settings, Clock::system())
            .err()
            .map(|error| error.to_string());
        assert_eq!(
            told.as_deref().and_then(|text| text.split(':').next()),
            key,
            "{told:?}"
        );
    };
    check("eu-central-1", "toolgate/", None);
    check("eu-central-1", "", None);
    check("", "", Some("aws.region"));
    check("evil.example/", "", Some("aws.region"));
    check("eu-central-1", "a b", Some("aws.prefix"));
}
