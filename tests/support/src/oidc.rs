//! A provider of OpenID Connect that is certified (`tests/servers/oidc_provider.mjs`), for people to sign in with.
//!
//! `tests/run` puts its package into `target/test-tools/oidc`. A test asks [`OidcProvider::here`], and is not run where it is
//! missing.

mod person;

use std::{io::Write, os::unix::fs::OpenOptionsExt, path::Path, process::Stdio, time::Duration};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};
use toolgate_core::config::OidcConfig;
use toolgate_test_postgres::not_run;

pub use self::person::{Person, Shown};
use crate::clients::test_tools;

/// Node.js takes its time on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
const SECRET: &str = "a secret of the client & of nobody else";

/// How it is set up.
#[derive(Debug, Clone, Copy)]
pub enum Client {
    /// Without a secret; the groups of a person stand in the ID token.
    Public,
    /// With a secret; the groups have to be asked for.
    Confidential,
}

/// A running provider: `ada` is in the group `ops`, `eve` in another one, of `bob` it tells none.
#[derive(Debug)]
pub struct OidcProvider {
    issuer: String,
    child: Child,
    secret: Option<TempDir>,
}

impl OidcProvider {
    /// Starts it; where its package is missing, says that `test` did not run.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn here(test: &str, client: Client) -> Option<Self> {
        let Some(packages) = test_tools("oidc") else {
            not_run(test, "no target/test-tools/oidc; tests/run puts it there");
            return None;
        };
        let (secret, in_id_token) = match client {
            Client::Public => (None, true),
            Client::Confidential => (Some(SECRET), false),
        };
        let told = json!({"packages": packages, "secret": secret, "inIdToken": in_id_token});
        let mut child = Command::new("node")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../servers/oidc_provider.mjs"))
            .arg(told.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("node runs");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let line = tokio::time::timeout(PATIENCE, lines.next_line()).await;
        let line = line
            .expect("it listens in time")
            .expect("a line")
            .expect("a line");
        let said: Value = serde_json::from_str(&line).expect("JSON");
        Some(Self {
            issuer: said["issuer"].as_str().expect("an issuer").to_owned(),
            child,
            secret: secret.map(|_| kept_secret()),
        })
    }

    /// Settings that let its people in.
    #[must_use]
    pub fn settings(&self) -> OidcConfig {
        OidcConfig {
            issuer: self.issuer.clone(),
            client_id: "gate".into(),
            client_secret_file: self.secret.as_ref().map(|dir| dir.path().join("secret")),
            name: "Example ID".into(),
            scopes: "groups".into(),
            role_claim: "groups".into(),
            roles: vec!["ops=admin".into(), "audit=auditor".into()],
            ..OidcConfig::default()
        }
    }

    /// Its name, to the byte.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Ends it.
    ///
    /// # Panics
    /// When it cannot be ended.
    pub async fn go_down(&mut self) {
        self.child.kill().await.expect("it ends");
    }
}

fn kept_secret() -> TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    let mut options = std::fs::OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600);
    let mut file = file.open(dir.path().join("secret")).expect("a file");
    writeln!(file, "{SECRET}").expect("written");
    dir
}
