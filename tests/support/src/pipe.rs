//! A client of MCP at the other end of the pipes of `toolgate mcp`.

use std::{io, path::Path, process::Stdio, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    time::timeout,
};

use crate::binary;

const PATIENCE: Duration = Duration::from_secs(30);

/// The client. Dropping it kills the server.
#[derive(Debug)]
pub struct Pipe {
    child: Child,
    says: Option<ChildStdin>,
    hears: Lines<BufReader<ChildStdout>>,
    tells: Lines<BufReader<ChildStderr>>,
    told: String,
    requests: u64,
}

/// How a server ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code.
    pub code: Option<i32>,
    /// The lines that nobody had heard yet.
    pub rest: Vec<String>,
    /// What it told people.
    pub stderr: String,
}

impl Pipe {
    /// Starts `toolgate mcp` with these arguments, and nothing in its environment but what is given.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(arguments: &[&str], environment: &[(&str, &str)], folder: &Path) -> io::Result<Self> {
        let mut child = Command::new(binary())
            .arg("mcp")
            .args(arguments)
            .env_clear()
            .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
            .envs(environment.iter().copied())
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let no_pipe = || io::Error::other("a child without pipes");
        Ok(Self {
            says: child.stdin.take(),
            hears: BufReader::new(child.stdout.take().ok_or_else(no_pipe)?).lines(),
            tells: BufReader::new(child.stderr.take().ok_or_else(no_pipe)?).lines(),
            told: String::new(),
            requests: 0,
            child,
        })
    }

    /// Says a line.
    ///
    /// # Errors
    /// When the server does not take it.
    pub async fn say(&mut self, message: &Value) -> io::Result<()> {
        let says = self.says.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        let line = format!("{message}\n");
        timeout(PATIENCE, says.write_all(line.as_bytes())).await?
    }

    /// Hears a line.
    ///
    /// # Errors
    /// When none comes, or one that is no JSON.
    pub async fn hear(&mut self) -> io::Result<Value> {
        let line = timeout(PATIENCE, self.hears.next_line()).await??;
        let line = line.ok_or(io::ErrorKind::UnexpectedEof)?;
        serde_json::from_str(&line).map_err(|error| io::Error::other(format!("{error}: {line}")))
    }

    /// Says a line and hears one.
    ///
    /// # Errors
    /// As of both.
    pub async fn ask(&mut self, message: &Value) -> io::Result<Value> {
        self.say(message).await?;
        self.hear().await
    }

    /// Asks for something under an id of its own; gives the whole answer.
    ///
    /// # Errors
    /// As of [`Pipe::ask`].
    pub async fn request(&mut self, method: &str, params: Value) -> io::Result<Value> {
        self.requests += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.requests, "method": method, "params": params});
        self.ask(&message).await
    }

    /// Asks for the beginning of a conversation in a revision; gives the answer.
    ///
    /// # Errors
    /// As of [`Pipe::ask`].
    pub async fn begin(&mut self, revision: &str) -> io::Result<Value> {
        let answer = self
            .ask(&json!({"jsonrpc": "2.0", "id": "begin", "method": "initialize", "params": {
                "protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "pipe", "version": "1"}}}))
            .await?;
        self.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await?;
        Ok(answer)
    }

    /// Waits for a line of what it tells people that holds this; gives the line.
    ///
    /// # Errors
    /// When there is none.
    pub async fn logged(&mut self, part: &str) -> io::Result<String> {
        let read = async {
            while let Some(line) = self.tells.next_line().await? {
                self.told.push_str(&line);
                self.told.push('\n');
                if line.contains(part) {
                    return Ok(line);
                }
            }
            Err(io::Error::other(format!("no {part:?} in {}", self.told)))
        };
        timeout(PATIENCE, read).await?
    }

    /// The process id.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Closes the input and waits for the end.
    ///
    /// # Errors
    /// When it does not end.
    pub async fn leave(mut self) -> io::Result<Ended> {
        drop(self.says.take());
        self.ended().await
    }

    /// Waits for the end with the input open.
    ///
    /// # Errors
    /// When it does not end.
    pub async fn ended(mut self) -> io::Result<Ended> {
        let (mut complaint, mut rest) = (self.told, Vec::new());
        let reading = async {
            while let Some(line) = self.hears.next_line().await? {
                rest.push(line);
            }
            while let Some(line) = self.tells.next_line().await? {
                complaint.push_str(&line);
                complaint.push('\n');
            }
            self.child.wait().await
        };
        let status = timeout(PATIENCE, reading).await??;
        Ok(Ended {
            code: status.code(),
            rest,
            stderr: complaint,
        })
    }
}
