//! TLS against a real server: who is believed, and who is not.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, chown},
    path::Path,
    time::Duration,
};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use toolgate_test_postgres::{Cluster, Setup, available};

use crate::store::postgres::connect::Connector;

const NOBODY: u32 = 65_534;

/// A file that the server may read, whoever it runs as.
fn put(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    if rustix::process::geteuid().is_root() {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
}

/// An authority's certificate, and one of its servers' with its key.
fn certificates(host: &str) -> [String; 3] {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let authority = params.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(params, key);
    let key = KeyPair::generate().unwrap();
    let server = CertificateParams::new(vec![host.to_owned()]).unwrap();
    let server = server.signed_by(&key, &issuer).unwrap().pem();
    [authority, server, key.serialize_pem()]
}

/// Whether the session is within TLS, or why there is none.
async fn session(cluster: &Cluster, host: &str, more: &str) -> Result<bool, String> {
    let url = format!("postgres://postgres@{host}:{}/postgres?{more}", cluster.port());
    let connector = Connector::new(url.parse().unwrap(), TaskTracker::new(), Duration::from_secs(1))
        .map_err(|error| error.to_string())?;
    let line = connector.open(Instant::now() + Duration::from_secs(10)).await;
    let line = line.map_err(|error| error.to_string())?;
    let row = line
        .query_one("select ssl from pg_stat_ssl where pid = pg_backend_pid()", &[])
        .await;
    Ok(row.unwrap().get(0))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_believed_by_its_certificate_where_tls_is_asked_for() {
    const TEST: &str = "a_server_is_believed_by_its_certificate_where_tls_is_asked_for";
    if !available(TEST) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let [authority, certificate, key] = certificates("127.0.0.1");
    let [other, ..] = certificates("127.0.0.1");
    let path = |name: &str| dir.path().join(name);
    put(&path("server.pem"), &certificate);
    put(&path("server.key"), &key);
    put(&path("authority.pem"), &authority);
    put(&path("other.pem"), &other);
    put(&path("empty.pem"), "");
    let cluster = Setup::default()
        .setting("fsync=off")
        .setting("ssl=on")
        .setting(&format!("ssl_cert_file={}", path("server.pem").display()))
        .setting(&format!("ssl_key_file={}", path("server.key").display()))
        .start()
        .await
        .unwrap();
    let near = "127.0.0.1";
    let root = |name: &str| format!("sslmode=require&sslrootcert={}", path(name).display());

    assert_eq!(session(&cluster, near, &root("authority.pem")).await, Ok(true));
    let full = root("authority.pem").replace("require", "verify-full");
    assert_eq!(session(&cluster, near, &full).await, Ok(true));
    assert_eq!(session(&cluster, near, "sslmode=disable").await, Ok(false));
    // Nothing is said, and this machine is not asked who it is.
    assert_eq!(session(&cluster, near, "").await, Ok(true));

    for (host, more, told) in [
        (near, root("other.pem"), "certificate"),
        (near, "sslmode=require".to_owned(), "certificate"),
        (
            near,
            root("other.pem").replace("require", "prefer"),
            "certificate",
        ),
        ("localhost", root("authority.pem"), "certificate"),
        (near, root("empty.pem"), "there is no certificate in"),
        (near, root("nowhere.pem"), "nowhere.pem"),
    ] {
        let refused = session(&cluster, host, &more).await.expect_err(&more);
        assert!(refused.contains(told), "{host} {more}: {refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_tls_serves_those_who_do_not_ask_for_it() {
    const TEST: &str = "a_server_without_tls_serves_those_who_do_not_ask_for_it";
    if !available(TEST) {
        return;
    }
    let cluster = Cluster::shared().await;
    assert_eq!(session(cluster, "127.0.0.1", "sslmode=prefer").await, Ok(false));
    let refused = session(cluster, "127.0.0.1", "sslmode=require")
        .await
        .unwrap_err();
    assert!(refused.contains("TLS"), "{refused}");
}
