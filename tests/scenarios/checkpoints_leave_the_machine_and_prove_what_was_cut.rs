//! Checkpoints go to somebody else as they are signed. Whoever holds the gateway's machine may cut the record and throw
//! its checkpoints away; what left before, with a key that was pinned, shows what is missing.

use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rusqlite::Connection;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use toolgate_core::anchor::{PublicKeys, TrustRoot, survey};
use toolgate_test_support::{Gateway, Role, run, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn checkpoints_leave_the_machine_and_prove_what_was_cut() {
    let receiver = Receiver::start().await;
    let mut gateway = Gateway::start(&[
        "--relay-built-in=false",
        "--checkpoint-interval=1",
        "--checkpoint-webhook",
        &receiver.url,
    ])
    .await
    .unwrap();
    let pinned = trust_root(&gateway).await;
    for number in 0..6 {
        let name = format!("token-{number}");
        gateway.admin().make_token(&name, Role::Agent).await.unwrap();
    }
    let (tenant, last) = head(&gateway.data_dir());
    let left = until(Duration::from_secs(30), || async {
        receiver.newest(&tenant).filter(|newest| *newest >= last)
    });
    left.await
        .expect("the newest row is under a checkpoint elsewhere");
    gateway.terminate().await;

    cut(&gateway.data_dir(), &tenant, 3);
    assert_eq!(
        verify(&gateway).await,
        (5, "truncated".into()),
        "by its own checkpoints"
    );
    throw_checkpoints_away(&gateway.data_dir());
    assert_eq!(
        verify(&gateway).await,
        (5, "bad_signature".into()),
        "by the mark beside the key that signed them"
    );
    fs::remove_file(gateway.data_dir().join("keys/checkpoint-last")).unwrap();
    assert_eq!(
        verify(&gateway).await,
        (0, "intact".into()),
        "the machine knows nothing"
    );

    // The receiver needs nothing but its lines and the pin.
    let folder = gateway.folder().join("elsewhere");
    fs::create_dir(&folder).unwrap();
    let lines = receiver.lines();
    fs::write(folder.join("2026-01-01.ndjson"), lines.join("\n") + "\n").unwrap();
    let keys: Vec<&str> = lines
        .iter()
        .map(String::as_str)
        .filter(|line| line.starts_with("{\"type\":\"key\""))
        .collect();
    let keys = PublicKeys::parse(&keys.join("\n"))
        .unwrap()
        .pinned_to(&pinned)
        .unwrap();
    let survey = survey(&folder, &keys).unwrap();
    assert!(survey.newest[&tenant].seq >= last);
    assert_eq!(head(&gateway.data_dir()).1, 3);
}

async fn trust_root(gateway: &Gateway) -> TrustRoot {
    let data_dir = gateway.data_dir().display().to_string();
    let arguments = ["--json", "keys", "show", "--data-dir", &data_dir];
    let output = run(&arguments, &[], gateway.folder()).await.unwrap();
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    told["trustRoot"].as_str().unwrap().parse().unwrap()
}

/// Exit code, and the first verdict that is not intact.
async fn verify(gateway: &Gateway) -> (i32, String) {
    let data_dir = gateway.data_dir().display().to_string();
    let arguments = ["--json", "audit", "verify", "--data-dir", &data_dir];
    let output = run(&arguments, &[], gateway.folder()).await.unwrap();
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    (
        output.status.code().unwrap(),
        told["verdict"].as_str().unwrap().to_owned(),
    )
}

/// The tenant, and the place of its last row.
fn head(data_dir: &Path) -> (String, i64) {
    let store = Connection::open(data_dir.join("toolgate.db")).unwrap();
    store
        .query_row(
            "select tenant_id, seq from audit_head where tenant_id <> 'system'",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap()
}

/// Cuts the tail off and sets the head back, so that the chain fits.
fn cut(data_dir: &Path, tenant: &str, last: i64) {
    let store = Connection::open(data_dir.join("toolgate.db")).unwrap();
    store
        .execute_batch(&format!(
            "drop trigger audit_event_is_never_deleted;
             delete from audit_event where tenant_id = '{tenant}' and seq > {last};
             update audit_head set seq = {last},
                 hash = (select hash from audit_event where tenant_id = '{tenant}' and seq = {last})
             where tenant_id = '{tenant}'"
        ))
        .unwrap();
}

fn throw_checkpoints_away(data_dir: &Path) {
    for entry in fs::read_dir(data_dir.join("checkpoints")).unwrap().flatten() {
        if entry.file_name().to_string_lossy().starts_with("20") {
            fs::remove_file(entry.path()).unwrap();
        }
    }
}

/// Whoever keeps checkpoints elsewhere. Is away at first: the first post is answered with 503.
struct Receiver {
    url: String,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Receiver {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/checkpoints", listener.local_addr().unwrap());
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        tokio::spawn(async move {
            let mut is_away = true;
            while let Ok((stream, _)) = listener.accept().await {
                let away = std::mem::take(&mut is_away);
                tokio::spawn(serve(stream, away, Arc::clone(&kept)));
            }
        });
        Self { url, lines }
    }

    /// What was taken, each line once.
    fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Place of the newest checkpoint of a tenant.
    fn newest(&self, tenant: &str) -> Option<i64> {
        let lines = self.lines();
        let read = lines
            .iter()
            .rev()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut ours = read.filter(|line| line["type"] == "checkpoint" && line["tenantId"] == tenant);
        ours.next()?["seq"].as_i64()
    }
}

async fn serve(mut stream: TcpStream, away: bool, kept: Arc<Mutex<Vec<String>>>) {
    while let Some(body) = post(&mut stream).await {
        if away {
            let busy = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            drop(stream.write_all(busy).await);
            return;
        }
        {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            for line in body.lines().map(str::to_owned) {
                if !kept.contains(&line) {
                    kept.push(line);
                }
            }
        }
        if stream
            .write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
            .await
            .is_err()
        {
            return;
        }
    }
}

/// The body of one request.
async fn post(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let mut chunk = [0; 8192];
        let read = stream.read(&mut chunk).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.parse::<usize>().ok())?
        })?;
        if body.len() >= length {
            return Some(body.to_owned());
        }
    }
}
