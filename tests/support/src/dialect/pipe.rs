//! MCP over a pair of pipes: to the facade in this process, or to `toolgate mcp` as a child.

use std::{
    collections::HashMap,
    path::PathBuf,
    process::Stdio as Piped,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    process::{Child, Command},
    sync::oneshot,
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;
use toolgate_facade::{
    CoreService,
    mcp::{Stdio, stdio},
};

use super::{
    Revision, Told,
    mcp::{message, told},
    names,
};
use crate::{Caller, binary};

/// What stands at the other end.
#[derive(Clone, Default)]
pub(crate) enum Pipes {
    /// Nothing: this caller has no pipes.
    #[default]
    None,
    /// The facade over a core of this process.
    InProcess(CoreService),
    /// The program, on this data directory.
    Program(PathBuf),
}

type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<String>>>>;

/// An open pair of pipes.
pub(super) struct Pipe {
    revision: Revision,
    next: AtomicU64,
    waiting: Waiting,
    /// Nothing more will be heard.
    over: CancellationToken,
    to: tokio::sync::Mutex<Box<dyn AsyncWrite + Send + Unpin>>,
    // Ended when dropped.
    _tasks: JoinSet<()>,
    _child: Option<Child>,
}

impl std::fmt::Debug for Pipe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pipe({})", self.revision.as_str())
    }
}

impl Pipe {
    pub(super) async fn open(caller: &Caller, revision: Revision) -> Self {
        let mut tasks = JoinSet::new();
        let (to, from, child) = connect(caller, &mut tasks);
        let (waiting, over) = (Waiting::default(), CancellationToken::new());
        let ends = over.clone().drop_guard();
        let hears = Arc::clone(&waiting);
        tasks.spawn(async move {
            let _ends = ends;
            listen(from, hears).await;
        });
        let pipe = Self {
            revision,
            next: AtomicU64::new(1),
            waiting,
            over,
            to: tokio::sync::Mutex::new(to),
            _tasks: tasks,
            _child: child,
        };
        if revision != Revision::July2026 {
            let hello = json!({
                "protocolVersion": revision.as_str(),
                "capabilities": {},
                "clientInfo": {"name": "toolgate-tests", "version": "1"}
            });
            pipe.ask("initialize", &hello.to_string()).await;
            pipe.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
                .await;
        }
        pipe
    }

    pub(super) async fn call(&self, tool: &str, arguments: &str) -> Told {
        let name = Value::from(tool);
        let params = format!(r#"{{"name":{name},"arguments":{arguments}}}"#);
        match self.ask("tools/call", &params).await {
            Some(answer) => told(&answer),
            // A pipe of someone unknown is closed before anything is said.
            None => Told::refused("CREDENTIAL_INVALID", None),
        }
    }

    pub(super) async fn tools(&self) -> Vec<String> {
        let answer = self.ask("tools/list", "{}").await.unwrap_or_default();
        let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
        names(&answer["result"]["tools"], "/name")
    }

    pub(super) async fn cancel_last(&self) {
        let id = self.next.load(Ordering::Relaxed) - 1;
        let told = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": id, "reason": "nobody wants it any more"}});
        self.say(&told.to_string()).await;
    }

    async fn ask(&self, method: &str, params: &str) -> Option<String> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (tell, answer) = oneshot::channel();
        lock(&self.waiting).insert(id, tell);
        self.say(&message(self.revision, id, method, params)).await;
        tokio::select! {
            biased;
            answer = answer => answer.ok(),
            () = self.over.cancelled() => None,
        }
    }

    async fn say(&self, line: &str) {
        let mut to = self.to.lock().await;
        // A pipe that is closed answers nothing, which is seen.
        let _ = to.write_all(format!("{line}\n").as_bytes()).await;
        let _ = to.flush().await;
    }
}

type Ends = (
    Box<dyn AsyncWrite + Send + Unpin>,
    Box<dyn AsyncRead + Send + Unpin>,
    Option<Child>,
);

fn connect(caller: &Caller, tasks: &mut JoinSet<()>) -> Ends {
    match caller.pipes() {
        Pipes::None => panic!("this caller has no pipes"),
        Pipes::InProcess(core) => {
            let mut settings = Stdio::new(caller.token()).expect("a token");
            settings.profile = caller.profile().map(str::to_owned);
            let (ours, theirs) = tokio::io::duplex(64 * 1024);
            let (input, output) = tokio::io::split(theirs);
            let serving = stdio(core.clone(), settings, input, output, CancellationToken::new());
            tasks.spawn(async move {
                let _ = serving.await;
            });
            let (from, to) = tokio::io::split(ours);
            (Box::new(to), Box::new(from), None)
        }
        Pipes::Program(folder) => {
            let mut child = Command::new(binary())
                .arg("mcp")
                .arg("--data-dir")
                .arg(folder)
                .args(
                    caller
                        .profile()
                        .map(|profile| format!("--tool-profile={profile}")),
                )
                .env("TOOLGATE_TOKEN", caller.token())
                .stdin(Piped::piped())
                .stdout(Piped::piped())
                .stderr(Piped::null())
                .kill_on_drop(true)
                .spawn()
                .expect("the program starts");
            let to = child.stdin.take().expect("a pipe");
            let from = child.stdout.take().expect("a pipe");
            (Box::new(to), Box::new(from), Some(child))
        }
    }
}

async fn listen(from: Box<dyn AsyncRead + Send + Unpin>, waiting: Waiting) {
    let mut lines = BufReader::new(from).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let read: Value = serde_json::from_str(&line).expect("nothing but messages on standard output");
        let asked = {
            let mut waiting = lock(&waiting);
            // One that does not know its id answers the only one that waits.
            let id = read["id"].as_u64().or_else(|| match read["error"].is_object() {
                true => waiting.keys().min().copied(),
                false => None,
            });
            id.and_then(|id| waiting.remove(&id))
        };
        if let Some(tell) = asked {
            let _ = tell.send(line);
        }
    }
}

fn lock(waiting: &Waiting) -> std::sync::MutexGuard<'_, HashMap<u64, oneshot::Sender<String>>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}
