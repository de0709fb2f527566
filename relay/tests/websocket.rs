//! The whole relay over real WebSockets, plain and TLS, against the gateway's own room: enrols, runs a real command
//! under a real guard, comes back, and stops.

use std::time::Duration;

use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolgate_contract::{enrolment::EnrolmentToken, frame::Secret};
use toolgate_core::uplinks::secret_hash;
use toolgate_relay::{HostConfig, RelayError, RelayState, TrustRoots, run_host};

#[path = "harness/gateway.rs"]
mod gateway;
#[path = "harness/log.rs"]
mod log;

use gateway::{Gateway, Running};

#[tokio::test]
async fn a_relay_enrols_runs_a_real_command_and_stops() {
    let gateway = Gateway::start(false).await;
    let mut relay = gateway.run(Some(gateway.token()));
    relay.connected().await;
    let result = gateway.ask("uptime").await;
    let text = result["structuredContent"]["stdout"].as_str().expect("text");
    assert!(text.contains("load average"), "{text}");
    assert_eq!(result["content"][0]["text"], text);
    let table = gateway.ask("df -h").await;
    assert!(
        table["structuredContent"]["stdout"]
            .as_str()
            .expect("text")
            .contains("Mounted on"),
        "{table}"
    );
    assert!(relay.stopped().await.is_ok());
}

#[tokio::test]
async fn a_relay_logs_the_public_key_that_the_gateway_has_pinned() {
    let gateway = Gateway::start(false).await;
    let log = log::Log::keep();
    let mut relay = gateway.run(Some(gateway.token()));
    relay.connected().await;
    let pinned = gateway
        .store
        .relay
        .lock()
        .expect("lock")
        .as_ref()
        .map(|relay| relay.public_key.to_string());
    let pinned = pinned.expect("enrolled");
    for words in ["message=enrolled", "connected to the gateway"] {
        let line = log.line(words);
        assert!(line.contains(&pinned), "{line}");
    }
    gateway.uplinks.disconnect(gateway.target());
    relay
        .until(|state| matches!(state, RelayState::Waiting { why, .. } if why.contains("revoked")))
        .await;
    let line = log.line("someone must act");
    assert!(line.contains(&pinned), "{line}");
    assert!(relay.stopped().await.is_ok());
}

#[tokio::test]
async fn a_relay_asks_for_the_uplink_and_says_nothing_a_browser_would() {
    let gateway = Gateway::start(false).await;
    let mut relay = gateway.run(Some(gateway.token()));
    relay.connected().await;
    let seen = gateway.seen.lock().expect("lock").clone();
    assert!(seen.contains(&"path: /uplink".to_owned()), "{seen:?}");
    for header in ["origin", "cookie", "authorization", "sec-websocket-extensions"] {
        assert!(!seen.contains(&header.to_owned()), "{seen:?}");
    }
}

#[tokio::test]
async fn a_relay_comes_back_after_a_cut_and_after_a_restart_with_its_used_token() {
    let gateway = Gateway::start(false).await;
    let token = gateway.token();
    let mut relay = gateway.run(Some(token.clone()));
    relay.connected().await;
    let first = gateway.target();
    gateway.cut.send_modify(|cut| *cut += 1);
    relay
        .until(|state| matches!(state, RelayState::Waiting { .. }))
        .await;
    relay.connected().await;
    assert!(relay.stopped().await.is_ok());

    let mut relay = gateway.run(Some(token));
    relay.connected().await;
    assert_eq!(gateway.target(), first);
    assert!(relay.stopped().await.is_ok());
}

#[tokio::test]
async fn over_tls_both_ends_sign_the_same_connection() {
    let gateway = Gateway::start(true).await;
    let mut relay = gateway.run(Some(gateway.token()));
    relay.connected().await;
    assert!(gateway.ask("uptime").await["structuredContent"]["exit_code"] == 0);
}

#[tokio::test]
async fn a_certificate_nobody_vouches_for_is_refused() {
    let (gateway, other) = (Gateway::start(true).await, Gateway::start(true).await);
    let (mut config, state) = gateway.config(Some(gateway.token()));
    let foreign = gateway.dir.path().join("foreign.pem");
    std::fs::write(&foreign, other.ca.as_deref().expect("a certificate")).expect("writes");
    config.roots = TrustRoots::File(foreign);
    let stop = CancellationToken::new();
    let mut relay = Running {
        task: tokio::spawn(run_host(config, stop.clone())),
        state,
        stop,
    };
    relay
        .until(|state| matches!(state, RelayState::Waiting { why, .. } if why.contains("certificate")))
        .await;
    assert!(gateway.seen.lock().expect("lock").is_empty());
}

#[tokio::test]
async fn another_gateway_behind_the_same_address_is_not_believed() {
    let (gateway, other) = (Gateway::start(false).await, Gateway::start(false).await);
    let (mut config, state) = gateway.config(Some(gateway.token()));
    config.gateway_url = format!("http://127.0.0.1:{}", other.address.port());
    *other.store.token.lock().expect("lock") = Some(secret_hash(&Secret::new([7; 32])));
    let stop = CancellationToken::new();
    let mut relay = Running {
        task: tokio::spawn(run_host(config, stop.clone())),
        state,
        stop,
    };
    relay
        .until(|state| matches!(state, RelayState::Waiting { why, .. } if why.contains("pinned")))
        .await;
    assert!(
        other.store.token.lock().expect("lock").is_some(),
        "the secret never reached it"
    );
    assert!(relay.stopped().await.is_ok());
}

#[tokio::test]
async fn a_token_that_does_not_work_ends_the_relay_with_a_clear_word() {
    let gateway = Gateway::start(false).await;
    let token = EnrolmentToken {
        secret: Secret::new([8; 32]),
        ..gateway.token()
    };
    let relay = gateway.run(Some(token));
    let outcome = timeout(Duration::from_secs(5), relay.task)
        .await
        .expect("ends")
        .expect("ran");
    assert!(matches!(outcome, Err(RelayError::TokenRefused)), "{outcome:?}");
}

#[tokio::test]
async fn what_cannot_run_at_all_is_told_before_anything_is_dialled() {
    let gateway = Gateway::start(false).await;
    let refused = async |change: fn(&mut HostConfig)| {
        let (mut config, _) = gateway.config(None);
        change(&mut config);
        run_host(config, CancellationToken::new())
            .await
            .expect_err("refused")
            .to_string()
    };
    assert!(refused(|_| {}).await.contains("not enrolled"));
    assert!(
        refused(|config| config.gateway_url = "http://gate.example".to_owned())
            .await
            .contains("use https")
    );
    assert!(
        refused(|config| config.gateway_url = "gate".to_owned())
            .await
            .contains("gateway URL")
    );
    assert!(
        refused(|config| config.state_dir = "/proc/none".into())
            .await
            .contains("state directory")
    );
    if std::fs::metadata("/proc/self").is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) == 0) {
        assert!(
            refused(|config| config.allow_root = false)
                .await
                .contains("--allow-root")
        );
    }
    assert!(gateway.seen.lock().expect("lock").is_empty());
}
