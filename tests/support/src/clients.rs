//! The clients of MCP that people have, each as a program of its own that tells what it saw.
//!
//! The programs lie in `tests/clients`, what they import in `target/test-tools/mcp-*`, where `tests/run` puts it. A test
//! asks [`Clients::here`], and is not run where they are missing.

mod inspector;
mod places;
mod rust_sdk;
mod servers;

use std::{
    path::{Path, PathBuf},
    process::{Output, Stdio},
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;
use toolgate_test_postgres::not_run;

use self::places::Places;
pub(crate) use self::places::test_tools;
pub use self::{
    inspector::Inspected,
    rust_sdk::rust_sdk,
    servers::{Listening, Server},
};

/// How long a client may take for everything it does.
const PATIENCE: Duration = Duration::from_secs(60);

/// One of the clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// The Python SDK, version 2.
    PythonSdk2,
    /// The Python SDK, version 1.
    PythonSdk1,
    /// FastMCP.
    FastMcp,
    /// langchain-mcp-adapters.
    LangChain,
    /// The TypeScript SDK, version 1.
    TypeScriptSdk1,
    /// The TypeScript client, version 2.
    TypeScriptClient2,
    /// The Python SDK, version 1, asking the everything server for everything.
    PythonSdk1Everything,
    /// The Python SDK, version 2, listening to what the fixtures tell beside results.
    PythonSdk2Hears,
    /// The Python SDK, version 1, listening.
    PythonSdk1Hears,
    /// The TypeScript SDK, version 1, listening.
    TypeScriptSdk1Hears,
    /// The TypeScript client, version 2, listening.
    TypeScriptClient2Hears,
    /// An agent of the OpenAI SDK: its mode is `chat`, `stream` or `responses`, its target begins with the URL of a model.
    OpenAiAgent,
}

/// What a client is asked to do.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// How to negotiate: `legacy`, `auto` or a revision, as far as a client knows them.
    pub mode: &'a str,
    /// The tool to call, by its name on the wire.
    pub tool: &'a str,
    /// Its arguments as JSON.
    pub arguments: &'a str,
    /// Whom to ask: a URL, or the command of a server on standard input and output.
    pub target: &'a [&'a str],
    /// The credential.
    pub token: &'a str,
}

/// All of them, installed.
#[derive(Debug)]
pub struct Clients {
    places: Places,
    home: TempDir,
}

impl Clients {
    /// Those on this machine; where one is missing, says that `test` did not run.
    ///
    /// # Panics
    /// When there is no place for what they write.
    #[must_use]
    pub fn here(test: &str) -> Option<Self> {
        match Places::find() {
            Ok(places) => Some(Self {
                places,
                home: tempfile::tempdir().expect("a directory"),
            }),
            Err(why) => {
                not_run(test, &why);
                None
            }
        }
    }

    /// Lets a client list the tools, call one, and make two mistakes; gives what it told.
    ///
    /// # Errors
    /// What it complained of instead.
    pub async fn run(&self, client: Client, ask: Ask<'_>) -> Result<Value, String> {
        let (program, script) = self.program(client);
        let mut command = self.command(&program);
        command
            .arg(scripts().join(script))
            .args([ask.mode, ask.tool, ask.arguments])
            .args(ask.target)
            .env("TOOLGATE_TOKEN", ask.token)
            .env("MCP_PACKAGES", self.places.packages())
            .env("PYTHONDONTWRITEBYTECODE", "1");
        let output = finish(command).await?;
        let said = String::from_utf8_lossy(&output.stdout);
        let complaint = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(format!("{client:?} {}: {}: {complaint}", ask.mode, output.status));
        }
        serde_json::from_str(&said)
            .map_err(|error| format!("{client:?} {}: {error} in {said:?}: {complaint}", ask.mode))
    }

    /// The conformance suite with these arguments, in an empty folder.
    ///
    /// # Errors
    /// When it did not end.
    pub async fn conformance(&self, arguments: &[&str]) -> Result<Output, String> {
        let mut command = self.command(&self.places.node());
        command.arg(self.places.conformance()).args(arguments);
        finish(command).await
    }

    fn program(&self, client: Client) -> (PathBuf, &'static str) {
        match client {
            Client::PythonSdk2 => (self.places.python_2(), "python_sdk_2.py"),
            Client::PythonSdk1Everything => (self.places.python_1(), "python_sdk_1_everything.py"),
            Client::PythonSdk1 => (self.places.python_1(), "python_sdk_1.py"),
            Client::OpenAiAgent => (self.places.python_2(), "openai_agent.py"),
            Client::FastMcp => (self.places.python_2(), "fastmcp_client.py"),
            Client::LangChain => (self.places.python_1(), "langchain_adapters.py"),
            Client::TypeScriptSdk1 => (self.places.node(), "typescript_sdk_1.mjs"),
            Client::TypeScriptClient2 => (self.places.node(), "typescript_client_2.mjs"),
            Client::PythonSdk2Hears => (self.places.python_2(), "python_sdk_2_hears.py"),
            Client::PythonSdk1Hears => (self.places.python_1(), "python_sdk_1_hears.py"),
            Client::TypeScriptSdk1Hears => (self.places.node(), "typescript_sdk_1_hears.mjs"),
            Client::TypeScriptClient2Hears => (self.places.node(), "typescript_client_2_hears.mjs"),
        }
    }

    /// A program with nothing of this process in its environment, and a home of its own.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
            .env("HOME", self.home.path())
            .current_dir(self.home.path())
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }
}

async fn finish(mut command: Command) -> Result<Output, String> {
    tokio::time::timeout(PATIENCE, command.output())
        .await
        .map_err(|_| format!("{command:?} did not end within {PATIENCE:?}"))?
        .map_err(|error| format!("{command:?}: {error}"))
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../clients")
}
