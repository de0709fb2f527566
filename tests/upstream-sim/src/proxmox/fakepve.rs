//! The process of `fakepve` and the way to ask it.

use std::{
    io,
    path::Path,
    process::Stdio,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use reqwest::Client;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::TcpListener,
    process::{Child, Command},
    time::timeout,
};

use crate::Reply;

const PASSWORD: &str = "only-behind-the-front";

/// A running one. Dropping it ends the process.
#[derive(Debug)]
pub(super) struct FakePve {
    url: String,
    client: Client,
    ticket: Mutex<String>,
    _process: Child,
    _dir: TempDir,
}

impl FakePve {
    pub(super) async fn start(program: &Path) -> io::Result<Self> {
        let dir = tempfile::tempdir()?;
        let guests = dir.path().join("guests.json");
        tokio::fs::write(&guests, json!({"guests": guests_of_the_cluster()}).to_string()).await?;
        // The program takes a port, it does not choose one: a free one is looked for and given up again.
        let port = TcpListener::bind("127.0.0.1:0").await?.local_addr()?.port();
        let mut process = Command::new(program)
            .arg(&guests)
            .args(["--host", "127.0.0.1", "--port", &port.to_string()])
            .args(["--user", "root@pam", "--password", PASSWORD])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let told = process
            .stdout
            .take()
            .ok_or_else(|| io::Error::other("no output"))?;
        let mut told = BufReader::new(told).lines();
        let listens = timeout(Duration::from_secs(20), told.next_line()).await;
        if !matches!(listens, Ok(Ok(Some(_)))) {
            return Err(io::Error::other("fakepve did not start"));
        }
        // One that is installed already is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .tls_danger_accept_invalid_certs(true)
            .no_proxy()
            .build();
        let this = Self {
            url: format!("https://127.0.0.1:{port}/api2/json"),
            client: client.map_err(io::Error::other)?,
            ticket: Mutex::default(),
            _process: process,
            _dir: dir,
        };
        this.sign_in().await?;
        Ok(this)
    }

    /// Reads one path; the status line and body are its own.
    pub(super) async fn get(&self, path: &str) -> io::Result<Reply> {
        let reply = self.once(path).await?;
        if reply.status != 401 {
            return Ok(reply);
        }
        // Tickets last two hours.
        self.sign_in().await?;
        self.once(path).await
    }

    async fn once(&self, path: &str) -> io::Result<Reply> {
        let cookie = format!(
            "PVEAuthCookie={}",
            self.ticket.lock().unwrap_or_else(PoisonError::into_inner)
        );
        let asked = self
            .client
            .get(format!("{}{path}", self.url))
            .header("cookie", cookie);
        let answer = asked.send().await.map_err(io::Error::other)?;
        let reason = answer.extensions().get::<hyper::ext::ReasonPhrase>();
        let reason = reason.map(|reason| String::from_utf8_lossy(reason.as_bytes()).into_owned());
        let status = answer.status().as_u16();
        let body = answer.bytes().await.map_err(io::Error::other)?;
        let mut reply = Reply::bytes(status, body).with("content-type", "application/json;charset=UTF-8");
        reply.reason = reason;
        Ok(match status < 400 {
            true => reply,
            false => reply.with("connection", "close"),
        })
    }

    async fn sign_in(&self) -> io::Result<()> {
        let body = format!("username=root%40pam&password={PASSWORD}");
        let asked = self
            .client
            .post(format!("{}/access/ticket", self.url))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body);
        let answer = asked.send().await.map_err(io::Error::other)?;
        let body = answer.bytes().await.map_err(io::Error::other)?;
        let body: Value = serde_json::from_slice(&body)?;
        let ticket = body["data"]["ticket"]
            .as_str()
            .ok_or_else(|| io::Error::other("no ticket"))?;
        ticket.clone_into(&mut self.ticket.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }
}

fn guests_of_the_cluster() -> Vec<Value> {
    let vm = |vmid: u32, name: &str, node: &str, status: &str, memory: u32| json!({"vmid": vmid, "name": name, "node": node, "status": status, "config": {"cores": 2, "memory": memory}});
    let mut guests = vec![
        vm(100, "web-1", "pve1", "running", 4096),
        vm(101, "web-2", "pve2", "running", 4096),
        vm(102, "db-1", "pve1", "running", 16_384),
        vm(103, "db-replica", "pve3", "running", 16_384),
        vm(110, "build-1", "pve2", "running", 8192),
        vm(111, "build-2", "pve3", "stopped", 8192),
        json!({"vmid": 900, "name": "debian-13", "node": "pve1", "template": true}),
    ];
    let container = |(vmid, name, node): (u32, &str, &str)| json!({"type": "lxc", "vmid": vmid, "name": name, "node": node, "status": "running"});
    guests.extend(
        [
            (200, "dns-1", "pve1"),
            (201, "dns-2", "pve2"),
            (202, "mail", "pve3"),
        ]
        .map(container),
    );
    guests
}
