//! A pod of an agent: three back ends, and `toolgate mcp` in front of them as the pod's environment has it.

use std::{
    io,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{AgentChat, AgentMemory, AgentOperator, Pipe};

const REVISION: &str = "2025-11-25";

/// The pod. What it starts has a data directory of its own each time.
#[derive(Debug)]
pub struct Pod {
    /// Memory and the code graph.
    pub memory: AgentMemory,
    /// Projects and tasks.
    pub operator: AgentOperator,
    /// Rooms.
    pub chat: AgentChat,
    folder: TempDir,
    started: AtomicUsize,
}

impl Pod {
    /// Starts the back ends.
    ///
    /// # Panics
    /// When there is no place for what it writes.
    pub async fn start() -> Self {
        Self {
            memory: AgentMemory::start().await,
            operator: AgentOperator::start().await,
            chat: AgentChat::start().await,
            folder: tempfile::tempdir().expect("a directory"),
            started: AtomicUsize::new(0),
        }
    }

    /// The variables that name all three back ends.
    #[must_use]
    pub fn variables(&self) -> [(&str, &str); 3] {
        [
            ("TATARA_MEMORY_URL", self.memory.url()),
            ("TATARA_OPERATOR_URL", self.operator.url()),
            ("TATARA_CHAT_URL", self.chat.url()),
        ]
    }

    /// A data directory that nobody used.
    pub fn data_dir(&self) -> String {
        let serial = self.started.fetch_add(1, Ordering::Relaxed);
        self.folder
            .path()
            .join(format!("data-{serial}"))
            .display()
            .to_string()
    }

    /// Where everything of it is kept.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Starts `toolgate mcp` with all three back ends, these arguments and these variables besides, and begins a
    /// conversation; gives the answer as well.
    ///
    /// # Errors
    /// When it does not begin.
    pub async fn begin(&self, arguments: &[&str], more: &[(&str, &str)]) -> io::Result<(Pipe, Value)> {
        let variables = [&self.variables()[..], more].concat();
        self.begin_with(arguments, &variables).await
    }

    /// The same with these variables and no others.
    ///
    /// # Errors
    /// When it does not begin.
    pub async fn begin_with(
        &self,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> io::Result<(Pipe, Value)> {
        let data = self.data_dir();
        let arguments = [&["--data-dir", data.as_str()], arguments].concat();
        let mut pipe = Pipe::start(&arguments, variables, self.folder.path())?;
        let begun = pipe.begin(REVISION).await?;
        Ok((pipe, begun))
    }
}

impl Pipe {
    /// The names of the tools in its list, in the list's order.
    ///
    /// # Errors
    /// As of [`Pipe::ask`].
    pub async fn tools(&mut self) -> io::Result<Vec<String>> {
        let listed = self.request("tools/list", json!({})).await?;
        names(&listed).ok_or_else(|| io::Error::other(format!("no list: {listed}")))
    }

    /// Calls a tool; gives the whole answer.
    ///
    /// # Errors
    /// As of [`Pipe::ask`].
    pub async fn call(&mut self, tool: &str, arguments: Value) -> io::Result<Value> {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))
            .await
    }
}

/// The names of an answer to `tools/list`.
#[must_use]
pub fn names(listed: &Value) -> Option<Vec<String>> {
    let tools = listed["result"]["tools"].as_array()?;
    let name = |tool: &Value| tool["name"].as_str().map(str::to_owned);
    tools.iter().map(name).collect()
}
