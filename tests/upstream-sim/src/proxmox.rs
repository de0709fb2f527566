//! A Proxmox VE cluster: `fakepve` behind a front.
//!
//! Guests, nodes, their states and the wording of errors are those of `fakepve` (AGPL-3.0), which runs as a process of
//! its own and is never linked. What it does not know the front answers itself: access lists and tokens, the privileges
//! that follow from them, metrics of nodes, nodes that are off. Tokens end at the front.

mod access;
mod fakepve;
mod nodes;

use std::{
    collections::BTreeSet,
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use serde_json::{Value, json};

pub use self::access::Token;
use self::{access::Access, fakepve::FakePve};
use crate::{Reply, Request, Seen, Server};

const BASE: &str = "/api2/json";

/// Where `fakepve` is, if it is there: `TOOLGATE_FAKEPVE` says it, or else it stands below `target/`, where `tests/run` and
/// the command put it.
#[must_use]
#[allow(
    clippy::disallowed_methods,
    reason = "where a test finds its ground is no setting of the product"
)]
pub fn program() -> Option<PathBuf> {
    let named = std::env::var_os("TOOLGATE_FAKEPVE").map(PathBuf::from);
    let program = named.unwrap_or_else(|| folder().join("bin/fakepve"));
    program.is_file().then_some(program)
}

/// Where `fakepve` is installed.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-tools/fakepve")
}

/// A running cluster. Dropping it stops it.
#[derive(Debug)]
pub struct Proxmox {
    server: Server,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    began: Instant,
    fakepve: FakePve,
    access: Mutex<Access>,
    offline: Mutex<BTreeSet<String>>,
}

impl Proxmox {
    /// Starts it with the `fakepve` program that stands there; it knows no token yet.
    ///
    /// # Errors
    /// When the program cannot be started or the address cannot be bound.
    pub async fn start(address: SocketAddr, program: &Path) -> io::Result<Self> {
        let fakepve = FakePve::start(program).await?;
        let roles = fakepve.get("/access/roles").await?;
        let state = Arc::new(State {
            began: Instant::now(),
            access: Mutex::new(Access::new(&roles.body)),
            offline: Mutex::default(),
            fakepve,
        });
        let answering = Arc::clone(&state);
        let server = Server::over_tls(address, move |request| {
            let state = Arc::clone(&answering);
            async move { state.answer(request).await }
        })
        .await?;
        Ok(Self { server, state })
    }

    /// Makes a token, or changes what it may do. `id` as `user@realm!name`.
    pub fn token(&self, id: &str, token: Token) {
        lock(&self.state.access).tokens.insert(id.to_owned(), token);
    }

    /// Makes a role of one's own.
    pub fn role(&self, name: &str, privileges: &[&str]) {
        lock(&self.state.access).role(name, privileges);
    }

    /// Takes a token away.
    pub fn revoke(&self, id: &str) {
        lock(&self.state.access).tokens.remove(id);
    }

    /// Switches a node off or on.
    pub fn node_is_on(&self, node: &str, on: bool) {
        let mut offline = lock(&self.state.offline);
        match on {
            true => offline.remove(node),
            false => offline.insert(node.to_owned()),
        };
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// SHA-256 of its certificate in hexadecimal.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        self.server.fingerprint().unwrap_or_default()
    }

    /// What it was asked.
    #[must_use]
    pub fn seen(&self) -> &Seen {
        self.server.seen()
    }
}

impl State {
    async fn answer(&self, request: Request) -> Reply {
        let Some(path) = request.path.strip_prefix(BASE) else {
            return failed(501, &format!("no such file '{}'", request.path));
        };
        if request.method != "GET" || !request.body.is_empty() {
            return failed(
                501,
                &format!("Method '{} {path}' not implemented", request.method),
            );
        }
        let Some(token) = lock(&self.access).known(request.header("authorization")) else {
            return failed(401, "authentication failure");
        };
        match &request.segments()[2..] {
            ["access", "permissions"] => data(&lock(&self.access).permissions(&token)),
            ["access", "acl"] => data(&lock(&self.access).acl(&token)),
            ["access", "users"] => data(&lock(&self.access).users()),
            ["access", "roles"] => data(&lock(&self.access).roles()),
            ["version"] | ["nodes"] => self.passed(&request).await,
            ["cluster", "resources"] => self.resources(&request, &token).await,
            ["nodes", node, rest @ ..] => self.node(&request, &token, node, rest).await,
            _ => failed(501, &format!("Method 'GET {path}' not implemented")),
        }
    }

    async fn resources(&self, request: &Request, token: &Token) -> Reply {
        if !lock(&self.access).may(token, "/vms", "VM.Audit") {
            return data(&json!([]));
        }
        let Some(mut rows) = self.rows(request).await else {
            return failed(599, "Too many redirections");
        };
        let offline = lock(&self.offline).clone();
        for row in &mut rows {
            let node = row["node"].as_str().unwrap_or_default();
            if offline.contains(node) {
                *row = json!({"id": row["id"], "vmid": row["vmid"], "type": row["type"], "node": node, "status": "unknown"});
            } else {
                nodes::stir(row, self.began.elapsed());
            }
        }
        data(&json!(rows))
    }

    async fn node(&self, request: &Request, token: &Token, node: &str, rest: &[&str]) -> Reply {
        let nodes = self
            .fakepve
            .get("/nodes")
            .await
            .ok()
            .and_then(|reply| data_of(&reply));
        let exists = |nodes: &Value| {
            nodes
                .as_array()
                .is_some_and(|nodes| nodes.iter().any(|each| each["node"] == node))
        };
        if !nodes.as_ref().is_some_and(exists) {
            return failed(596, "Connection error");
        }
        if lock(&self.offline).contains(node) {
            return failed(595, "Connection refused");
        }
        let needed = match rest {
            ["qemu" | "lxc", vmid, ..] => (format!("/vms/{vmid}"), "VM.Audit"),
            _ => (format!("/nodes/{node}"), "Sys.Audit"),
        };
        if !lock(&self.access).may(token, &needed.0, needed.1) {
            return failed(
                403,
                &format!("Permission check failed ({}, {})", needed.0, needed.1),
            );
        }
        match rest {
            ["status"] => data(&nodes::status(self.began.elapsed())),
            ["rrddata"] => match request.query("timeframe") {
                Some(frame) => data(&nodes::samples(frame)),
                None => Reply::json(
                    400,
                    &json!({"data": null, "message": "Parameter verification failed.\n",
                            "errors": {"timeframe": "property is missing and it is not optional"}}),
                ),
            },
            [_, _, "status", "current"] => match self.passed(request).await {
                reply if reply.status == 200 => {
                    let mut row = data_of(&reply).unwrap_or_default();
                    nodes::stir(&mut row, self.began.elapsed());
                    data(&row)
                }
                reply => reply,
            },
            _ => self.passed(request).await,
        }
    }

    async fn rows(&self, request: &Request) -> Option<Vec<Value>> {
        match data_of(&self.passed(request).await)? {
            Value::Array(rows) => Some(rows),
            _ => None,
        }
    }

    async fn passed(&self, request: &Request) -> Reply {
        let path = request.path.strip_prefix(BASE).unwrap_or_default();
        let path = match request.query.is_empty() {
            true => path.to_owned(),
            false => format!("{path}?{}", request.query),
        };
        let reply = self.fakepve.get(&path).await;
        reply.unwrap_or_else(|_| failed(595, "Connection refused"))
    }
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

fn data(value: &Value) -> Reply {
    Reply::json(200, &json!({"data": value}))
}

fn data_of(reply: &Reply) -> Option<Value> {
    let mut body: Value = serde_json::from_slice(&reply.body).ok()?;
    Some(body["data"].take())
}

// The text stands in the status line, and since 2025 in the body as well; the connection ends.
fn failed(status: u16, text: &str) -> Reply {
    let mut reply = Reply::json(status, &json!({"data": null, "message": format!("{text}\n")}));
    reply.reason = Some(text.to_owned());
    reply.with("connection", "close")
}
