//! With a certificate the gateway speaks TLS itself, plain text gets nothing, and a relay binds its proof to the very
//! connection.

use std::{sync::Arc, time::Duration};

use rcgen::generate_simple_self_signed;
use tokio_util::sync::CancellationToken;
use toolgate_contract::enrolment::EnrolmentToken;
use toolgate_relay::{GuardProgram, HostConfig, TrustRoots, run_host};
use toolgate_test_support::{Caller, Gateway, World, binary, until};

#[tokio::test]
async fn tls_ends_in_the_gateway_itself() {
    let made = generate_simple_self_signed(["localhost".into(), "127.0.0.1".into()]).unwrap();
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let world = World::new()
        .tls(certificate.clone().into(), key.into())
        .start()
        .await;
    assert!(world.url().starts_with("https://"));

    let listed = world.admin().get("/api/mcp/tools").await;
    assert_eq!(listed.status, 200, "{}", listed.text);
    let plain = Caller::new(
        world.url().replacen("https", "http", 1),
        "",
        world.admin().token(),
    );
    let answer = plain
        .try_send(plain.request("GET".parse().unwrap(), "/api/mcp/tools"))
        .await;
    assert!(
        answer.is_none_or(|answer| answer.status >= 400),
        "plain text got an answer"
    );
    let blind = Caller::new(world.url(), "", world.admin().token());
    assert!(
        blind
            .try_send(blind.request("GET".parse().unwrap(), "/healthz"))
            .await
            .is_none()
    );

    let (_, token) = world.admin().add_host("web-1").await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let roots = folder.path().join("ca.pem");
    std::fs::write(&roots, certificate).unwrap();
    let stop = CancellationToken::new();
    let relay = tokio::spawn(run_host(
        HostConfig {
            gateway_url: world.url().to_owned(),
            enrolment_token: Some(EnrolmentToken::parse(&token).unwrap()),
            name: "web-1".into(),
            state_dir: folder.path().join("relay"),
            guard: GuardProgram {
                program: binary(),
                arguments: vec!["__guard".into()],
            },
            roots: TrustRoots::File(roots),
            allow_root: true,
            built_in: false,
            state: None,
        },
        stop.clone(),
    ));
    let admin = Arc::new(world.admin().clone());
    let outcome = until(Duration::from_secs(15), || async {
        admin.run("uptime").await.ok()
    })
    .await;
    assert!(
        outcome
            .expect("the relay comes over TLS")
            .text()
            .contains("load average")
    );
    stop.cancel();
    let _ = tokio::time::timeout(Duration::from_secs(5), relay).await;
}

#[tokio::test]
async fn over_tls_nothing_is_served_in_plain_text_but_uplinks() {
    let made = generate_simple_self_signed(["localhost".into(), "127.0.0.1".into()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    std::fs::write(&cert, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let (cert, key) = (cert.display().to_string(), key.display().to_string());
    let gateway = Gateway::start(&["--tls-cert", &cert, "--tls-key", &key])
        .await
        .unwrap();
    let admin = gateway.admin().trusting(made.cert.pem().as_bytes());

    let log = gateway.log();
    let plain = log.lines().find(|line| line.contains("tls=false"));
    let plain = plain.expect("the built-in relay has a door of its own");
    let bound = plain
        .split("bound=")
        .nth(1)
        .and_then(|rest| rest.split_whitespace().next());
    let inside = Caller::new(format!("http://{}", bound.unwrap()), "", admin.token());
    for path in ["/api/mcp/tools", "/healthz", "/metrics"] {
        assert_eq!(inside.get(path).await.status, 404, "{path}");
    }
    let outcome = until(Duration::from_secs(10), || async {
        admin.run("uptime").await.ok()
    });
    outcome.await.expect("the built-in relay comes by that door");
    let web = serde_json::json!({"type": "ssh", "name": "web-1", "config": {"hostname": "web-1"}});
    let added = admin.post("/api/mcp/adapter", web).await.json();
    let command = added["enrolment"]["command"].as_str().unwrap();
    assert!(command.ends_with(&format!(" --ca-cert {cert}")), "{command}");
}
