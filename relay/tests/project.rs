//! A project over real sockets, under the real guard.

#[path = "harness/gateway.rs"]
mod gateway;
#[path = "harness/log.rs"]
mod log;

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use gateway::{Gateway, Running};
use serde_json::Value;
use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use toolgate_core::uplinks::UplinkError;
use toolgate_relay::{
    BadServer, GuardProgram, LocalServer, ProjectConfig, RelayError, RelayState, run_project,
};

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/stdio.py");
const GUARD: &str = env!("CARGO_BIN_EXE_toolgate-guard");

fn run(gateway: &Gateway, program: &str, arguments: &[&str]) -> Running {
    let (host, _) = gateway.config(None);
    let (state, watched) = watch::channel(RelayState::Connecting);
    let config = ProjectConfig {
        gateway_url: host.gateway_url,
        enrolment_token: Some(gateway.token()),
        name: "tools".to_owned(),
        server: LocalServer::Command {
            program: program.into(),
            arguments: arguments.iter().map(Into::into).collect(),
        },
        state_dir: gateway.dir.path().join("project"),
        guard: GuardProgram {
            program: GUARD.into(),
            arguments: vec!["__guard".into()],
        },
        roots: host.roots,
        allow_root: true,
        state: Some(state),
    };
    let stop = CancellationToken::new();
    Running {
        task: tokio::spawn(run_project(config, stop.clone())),
        state: watched,
        stop,
    }
}

async fn call(gateway: &Gateway, params: &str) -> Result<bytes::Bytes, UplinkError> {
    let params = bytes::Bytes::copy_from_slice(params.as_bytes());
    let wait = Duration::from_secs(10);
    gateway
        .uplinks
        .request(&gateway.tenant, gateway.target(), "tools/call", params, wait)
        .await
}

/// Calls until the server is there.
async fn answered(gateway: &Gateway, params: &str) -> bytes::Bytes {
    let began = Instant::now();
    loop {
        match call(gateway, params).await {
            Ok(result) => return result,
            Err(error) => assert!(began.elapsed() < Duration::from_secs(20), "{error:?}"),
        }
        sleep(Duration::from_millis(20)).await;
    }
}

fn pids(result: &[u8]) -> Vec<u64> {
    let result: Value = serde_json::from_slice(result).expect("json");
    let pids = result["pids"].as_array().expect("pids").iter();
    pids.map(|pid| pid.as_u64().expect("a number")).collect()
}

async fn gone(pids: &[u64], within: Duration) {
    let began = Instant::now();
    let is_left = |pid: &u64| Path::new(&format!("/proc/{pid}")).exists();
    while pids.iter().any(is_left) {
        let left: Vec<_> = pids.iter().filter(|pid| is_left(pid)).collect();
        assert!(began.elapsed() < within, "left behind: {left:?}");
        sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_call_goes_through_tls_to_the_server_and_back_to_the_byte() {
    let gateway = Gateway::start(true).await;
    let mut relay = run(&gateway, "python3", &[SERVER, "sessions"]);
    relay.connected().await;
    let params = r#"{ "name":"echo", "n": 9007199254740993, "u":"\u00fc" }"#;
    assert_eq!(answered(&gateway, params).await, params);
    relay.stop.cancel();
    relay.task.await.expect("ran").expect("no error");
}

#[tokio::test]
async fn nothing_of_a_server_outlives_its_relay() {
    let gateway = Gateway::start(false).await;
    let mut relay = run(&gateway, "python3", &[SERVER, "sessions"]);
    relay.connected().await;
    let pids = pids(&answered(&gateway, r#"{"name":"breed"}"#).await);
    relay.stop.cancel();
    relay.task.await.expect("ran").expect("no error");
    gone(&pids, Duration::from_secs(1)).await;
}

#[tokio::test]
async fn a_server_that_is_killed_takes_what_it_started_along_and_comes_back() {
    let gateway = Gateway::start(false).await;
    let mut relay = run(&gateway, "python3", &[SERVER, "stateless"]);
    relay.connected().await;
    let pids = pids(&answered(&gateway, r#"{"name":"breed"}"#).await);
    let began = Instant::now();
    call(&gateway, r#"{"name":"die"}"#).await.expect_err("no answer");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    gone(&pids, Duration::from_secs(3)).await;
    answered(&gateway, r#"{"name":"echo"}"#).await;
    relay.stop.cancel();
    relay.task.await.expect("ran").expect("no error");
}

#[tokio::test]
async fn a_program_that_is_not_there_ends_the_relay_and_spends_no_token() {
    let gateway = Gateway::start(false).await;
    for program in ["nosuchserver", "/no/such/program", "/etc/passwd"] {
        let relay = run(&gateway, program, &[]);
        let error = ended(relay).await.expect_err("it cannot run");
        let RelayError::Server(BadServer::Program { program: named, .. }) = &error else {
            panic!("{error:?}");
        };
        assert_eq!(named, program);
        let said = error.to_string();
        assert!(
            said.starts_with(&format!("{program} cannot be started: ")),
            "{said}"
        );
    }
    assert!(gateway.seen.lock().expect("lock").is_empty(), "it did not dial");
    assert!(
        gateway.store.token.lock().expect("lock").is_some(),
        "the token is good"
    );
}

#[tokio::test]
async fn a_program_that_is_there_and_cannot_be_run_is_an_error_of_the_relay() {
    let gateway = Gateway::start(false).await;
    let program = gateway.dir.path().join("server");
    fs::write(&program, "#!/no/such/interpreter\n").expect("writes");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("chmod");
    let log = log::Log::keep();
    let mut relay = run(&gateway, program.to_str().expect("a text"), &[]);
    relay.connected().await;
    let error = call(&gateway, "{}").await.expect_err("no answer");
    assert!(matches!(error, UplinkError::Refused(_)), "{error:?}");
    let line = log.line("the server cannot be started");
    assert!(
        line.starts_with("ERROR") && line.contains("No such file"),
        "{line}"
    );
    relay.stopped().await.expect("no error");
}

#[tokio::test]
async fn a_refused_token_is_said_at_once_and_starts_no_server() {
    let gateway = Gateway::start(false).await;
    let file = gateway.dir.path().join("started");
    let began = Instant::now();
    let relay = run(
        &gateway,
        "/bin/sh",
        &["-c", &format!("touch {}; cat", file.display())],
    );
    // Whoever was first has used it.
    gateway.store.token.lock().expect("lock").take();
    let error = ended(relay).await.expect_err("refused");
    assert!(matches!(error, RelayError::TokenRefused), "{error:?}");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert!(!file.exists(), "the server was started");
}

async fn ended(relay: Running) -> Result<(), RelayError> {
    let ended = timeout(Duration::from_secs(10), relay.task).await;
    ended.expect("in time").expect("ran")
}

/// The guard alone, as it is when its relay is killed: its server's input just ends.
fn guarded(program: &str, arguments: &[&str]) -> std::process::Child {
    Command::new(GUARD)
        .args(["__guard", "serve", "1000", "keep", "--", program])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts")
}

#[tokio::test]
async fn a_relay_that_is_killed_leaves_nothing_either() {
    let mut guard = guarded("python3", &[SERVER, "sessions"]);
    let mut input = guard.stdin.take().expect("piped");
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"breed"}}"#;
    writeln!(input, "{call}").expect("writes");
    let mut line = String::new();
    BufReader::new(guard.stdout.take().expect("piped"))
        .read_line(&mut line)
        .expect("reads");
    let answer: Value = serde_json::from_str(&line).expect("json");
    let pids = pids(answer["result"].to_string().as_bytes());
    drop(input);
    assert_eq!(
        guard.wait().expect("ends").code(),
        Some(0),
        "the server ended by itself"
    );
    gone(&pids, Duration::from_secs(1)).await;
}

#[tokio::test]
async fn a_server_that_will_not_leave_is_killed_after_its_moment() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("pid");
    let script = format!(
        "trap '' TERM HUP INT; echo $$ > {}; echo up; while true; do sleep 1; done",
        file.display()
    );
    let mut guard = guarded("/bin/sh", &["-c", &script]);
    let mut line = String::new();
    BufReader::new(guard.stdout.take().expect("piped"))
        .read_line(&mut line)
        .expect("reads");
    let pid: u64 = fs::read_to_string(&file)
        .expect("written")
        .trim()
        .parse()
        .expect("a number");
    let began = Instant::now();
    drop(guard.stdin.take());
    guard.wait().expect("ends");
    assert!(began.elapsed() >= Duration::from_millis(900), "it had its moment");
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    gone(&[pid], Duration::from_secs(1)).await;
}
