//! Gate INV-6. Gateway and host stand in two networks. Nothing on the host listens, so that nobody could dial it; the
//! relays of the host and of a project on it dial out, over TLS, and everything works.

use std::{process::Stdio, time::Duration};

use tokio::process::{Child, Command};
use toolgate_test_support::{binary, not_run, until};

const TEST: &str = "only_the_relay_dials";

/// Two networks and a wire between them.
const WIRE: &str = "
set -e
ip netns add $1-gate; ip netns add $1-host
ip link add $1g netns $1-gate type veth peer name $1h netns $1-host
ip -n $1-gate addr add 10.255.77.1/30 dev $1g; ip -n $1-host addr add 10.255.77.2/30 dev $1h
ip -n $1-gate link set lo up; ip -n $1-host link set lo up
ip -n $1-gate link set $1g up; ip -n $1-host link set $1h up
";

#[tokio::test]
async fn only_the_relay_dials() {
    let name = format!("tg{}", std::process::id() % 100_000);
    let wire = Command::new("bash")
        .args(["-c", WIRE, "wire", &name])
        .output()
        .await;
    let _gone = Cut(name.clone());
    match wire {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            return not_run(
                TEST,
                &format!(
                    "no network namespaces: {}",
                    String::from_utf8_lossy(&output.stderr).trim()
                ),
            );
        }
        Err(error) => return not_run(TEST, &format!("no network namespaces: {error}")),
    }
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    let binary = binary().display().to_string();
    let gate = format!("{name}-gate");
    let host = format!("{name}-host");
    let made = rcgen::generate_simple_self_signed(["10.255.77.1".into()]).unwrap();
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    std::fs::write(&cert, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let (cert, key) = (cert.display().to_string(), key.display().to_string());

    let _gateway = inside(
        &gate,
        &[
            &binary,
            "up",
            "--data-dir",
            &data,
            "--http",
            "10.255.77.1:7600",
            "--grpc",
            "127.0.0.1:7601",
            "--relay-built-in=false",
            "--tls-cert",
            &cert,
            "--tls-key",
            &key,
        ],
    );
    let token_file = folder.path().join("data/admin-token");
    let token = until(Duration::from_secs(20), || async {
        std::fs::read_to_string(&token_file).ok()
    })
    .await
    .unwrap();
    let environment = [
        ("TOOLGATE_URL", "https://10.255.77.1:7600"),
        ("TOOLGATE_TOKEN", token.trim()),
        ("TOOLGATE_CA_CERT", cert.as_str()),
    ];
    let client = |arguments: &[&str]| {
        let mut all = vec!["netns", "exec", &gate, "env"];
        let variables: Vec<String> = environment
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        all.extend(variables.iter().map(String::as_str));
        all.push(&binary);
        all.extend(arguments);
        let mut command = in_a_clean_environment();
        command.args(all);
        command
    };
    let added = until(Duration::from_secs(10), || async {
        let output = client(&["--json", "target", "add", "ssh", "far"])
            .output()
            .await
            .ok()?;
        output.status.success().then_some(output)
    });
    let added: serde_json::Value = serde_json::from_slice(&added.await.unwrap().stdout).unwrap();
    let enrolment = added["enrolment"]["token"].as_str().unwrap().to_owned();
    let state = folder.path().join("relay").display().to_string();
    let _relay = inside(
        &host,
        &[
            &binary,
            "relay",
            "host",
            "--gateway",
            "https://10.255.77.1:7600",
            "--token",
            &enrolment,
            "--data-dir",
            &state,
            "--allow-root",
            "--ca-cert",
            &cert,
        ],
    );

    let answered = until(Duration::from_secs(20), || async {
        let output = client(&["call", "ssh.run_whitelisted_command", "--arg", "command=uptime"])
            .output()
            .await
            .ok()?;
        output
            .status
            .success()
            .then_some(String::from_utf8_lossy(&output.stdout).into_owned())
    });
    assert!(
        answered
            .await
            .expect("the far host answers")
            .contains("load average")
    );

    let added = client(&["fleet", "add", "shop", "--access", "read_write", "--json"]);
    let added = { added }.output().await.unwrap();
    let told = String::from_utf8_lossy(&added.stderr).into_owned();
    let added: serde_json::Value = serde_json::from_slice(&added.stdout).expect(&told);
    let state = folder.path().join("project").display().to_string();
    let server = concat!(env!("CARGO_MANIFEST_DIR"), "/servers/one_tool.py");
    let enrolment = added["token"].as_str().unwrap().to_owned();
    let gateway = "https://10.255.77.1:7600";
    let _project = inside(
        &host,
        &[
            &binary,
            "relay",
            "project",
            "--gateway",
            gateway,
            "--token",
            &enrolment,
            "--name",
            "shop",
            "--data-dir",
            &state,
            "--allow-root",
            "--ca-cert",
            &cert,
            "--",
            "python3",
            server,
            "the shop",
        ],
    );
    let answered = until(Duration::from_secs(20), || async {
        let output = client(&["call", "who_are_you", "--arg", "project=shop"])
            .output()
            .await
            .ok()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        output.status.success().then_some(said)
    });
    assert!(
        answered
            .await
            .expect("the far project answers")
            .contains("the shop")
    );

    let mut look = Command::new("ip");
    look.args(["netns", "exec", &host, "cat", "/proc/net/tcp", "/proc/net/tcp6"]);
    let sockets = String::from_utf8_lossy(&look.output().await.unwrap().stdout).into_owned();
    // proc(5): the state stands in field 3, and 0A is LISTEN.
    let listens = |line: &str| line.split_whitespace().nth(3) == Some("0A");
    assert!(
        !sockets.lines().any(listens),
        "the host listens, so that someone could dial it: {sockets}"
    );
}

/// The test run's own variables begin like the product's settings, and the binary refuses a setting it does not know.
#[allow(clippy::disallowed_methods, reason = "the path by which ip itself is found")]
fn in_a_clean_environment() -> Command {
    let mut command = Command::new("ip");
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

fn inside(network: &str, arguments: &[&str]) -> Child {
    let mut command = in_a_clean_environment();
    command.args(["netns", "exec", network]).args(arguments);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    command.spawn().expect("ip starts")
}

/// Takes the networks away again.
struct Cut(String);

impl Drop for Cut {
    fn drop(&mut self) {
        for end in ["gate", "host"] {
            let _ = std::process::Command::new("ip")
                .args(["netns", "del", &format!("{}-{end}", self.0)])
                .output();
        }
    }
}
