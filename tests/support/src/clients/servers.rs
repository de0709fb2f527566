//! Servers of MCP as people have them, to stand beside a relay.

use std::{path::Path, process::Stdio, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Child,
};

use super::Clients;

/// How long a server may take to listen.
const PATIENCE: Duration = Duration::from_secs(20);

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    /// What the makers of MCP show everything with, as published.
    Everything,
    /// Their server for files below one folder, as published.
    Filesystem,
    /// Ours, in FastMCP: `tests/servers/fastmcp_server.py`.
    FastMcp,
}

/// A server that listens. Dropping it ends it.
#[derive(Debug)]
pub struct Listening {
    url: String,
    child: Child,
}

impl Listening {
    /// Where it is spoken to.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Ends it as a power cut would.
    pub async fn kill9(&mut self) {
        let _ = self.child.kill().await;
    }
}

impl Clients {
    /// The command of a server on standard input and output; `folder` is what it may see.
    #[must_use]
    pub fn server(&self, server: Server, folder: &Path) -> Vec<String> {
        let script = match server {
            Server::Everything => self.places.server("server-everything"),
            Server::Filesystem => self.places.server("server-filesystem"),
            Server::FastMcp => super::scripts().join("../servers/fastmcp_server.py"),
        };
        let program = match server {
            Server::FastMcp => self.places.python_2(),
            Server::Everything | Server::Filesystem => self.places.node(),
        };
        let mut command = vec![program.display().to_string(), script.display().to_string()];
        if server == Server::Filesystem {
            command.push(folder.display().to_string());
        }
        command
    }

    /// One of `tests/servers` with these arguments, which prints the port it listens on.
    ///
    /// # Errors
    /// When it does not come up.
    pub async fn listening(&self, script: &str, arguments: &[&str]) -> Result<Listening, String> {
        let mut child = self
            .command(&self.places.python_2())
            .arg(super::scripts().join("../servers").join(script))
            .args(arguments)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())?;
        let stdout = child.stdout.take().ok_or("no standard output")?;
        let mut lines = BufReader::new(stdout).lines();
        let line = tokio::time::timeout(PATIENCE, lines.next_line())
            .await
            .map_err(|_| "the server did not say its port")?;
        let port: u16 = line
            .ok()
            .flatten()
            .and_then(|line| line.trim().parse().ok())
            .ok_or("the server said no port")?;
        Ok(Listening {
            url: format!("http://127.0.0.1:{port}/mcp"),
            child,
        })
    }
}
