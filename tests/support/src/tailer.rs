//! `toolgate transcript tail` beside an agent.

use std::{
    io,
    path::Path,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
    time::timeout,
};

use crate::binary;

const PATIENCE: Duration = Duration::from_secs(20);

/// A running tailer. Dropping it kills it.
#[derive(Debug)]
pub struct Tailer {
    child: Child,
    metrics: String,
    records: Arc<Mutex<Vec<Value>>>,
    heard: tokio::task::JoinHandle<()>,
}

impl Tailer {
    /// Starts it in a folder, with its log as JSON and its metrics on a port of the system's choice.
    ///
    /// # Errors
    /// When it does not say within 20 seconds that it follows.
    pub async fn start(folder: &Path, arguments: &[&str]) -> io::Result<Self> {
        Self::start_with(folder, arguments, &[]).await
    }

    /// The same with something in its environment.
    ///
    /// # Errors
    /// As [`Tailer::start`].
    pub async fn start_with(
        folder: &Path,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> io::Result<Self> {
        // The client of its metrics wants one, although it speaks without TLS; another one serves as well.
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut child = Command::new(binary())
            .args(["transcript", "tail", "--json", "--log-format", "json"])
            .args(["--metrics-addr", "127.0.0.1:0"])
            .args(arguments)
            .env_clear()
            .envs(environment.iter().copied())
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let no_pipe = || io::Error::other("a child without pipes");
        let mut log = BufReader::new(child.stderr.take().ok_or_else(no_pipe)?).lines();
        let records: Arc<Mutex<Vec<Value>>> = Arc::default();
        let theirs = Arc::clone(&records);
        // Reads to the end of the process, so that nothing it logs blocks it.
        let heard = tokio::spawn(async move {
            while let Ok(Some(line)) = log.next_line().await {
                let record = serde_json::from_str(&line).unwrap_or(Value::String(line));
                theirs.lock().unwrap_or_else(PoisonError::into_inner).push(record);
            }
        });
        let stdout = child.stdout.take().ok_or_else(no_pipe)?;
        let mut printed = BufReader::new(stdout).lines();
        let mut told = String::new();
        // One JSON value, however many lines it is printed on.
        let said = loop {
            let line = timeout(PATIENCE, printed.next_line()).await??;
            told += &line.ok_or_else(|| io::Error::other(format!("it ended: {told}")))?;
            if let Ok(said) = serde_json::from_str::<Value>(&told) {
                break said;
            }
        };
        let metrics = said["metrics"].as_str().unwrap_or_default().to_owned();
        Ok(Self {
            child,
            metrics,
            records,
            heard,
        })
    }

    /// What it logged up to now.
    #[must_use]
    pub fn records(&self) -> Vec<Value> {
        self.records
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// What it logged of this `action`.
    #[must_use]
    pub fn records_of(&self, action: &str) -> Vec<Value> {
        let mut records = self.records();
        records.retain(|record| record["action"] == action);
        records
    }

    /// Asks the records for something without copying them.
    pub fn ask<T>(&self, question: impl FnOnce(&[Value]) -> T) -> T {
        question(&self.records.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Its metrics, as Prometheus reads them.
    ///
    /// # Errors
    /// When they are not answered.
    pub async fn metrics(&self) -> Result<String, reqwest::Error> {
        reqwest::get(&self.metrics)
            .await?
            .error_for_status()?
            .text()
            .await
    }

    /// Another page of the same address.
    ///
    /// # Errors
    /// When nothing is answered.
    pub async fn page(&self, path: &str) -> Result<(u16, String), reqwest::Error> {
        let answer = reqwest::get(self.metrics.replace("/metrics", path)).await?;
        Ok((answer.status().as_u16(), answer.text().await?))
    }

    /// Sends SIGTERM and waits for the end and for the last line of its log; gives the exit code.
    pub async fn terminate(&mut self) -> Option<i32> {
        let pid = self.child.id()?.to_string();
        let _ = Command::new("kill").args(["-TERM", &pid]).status().await;
        let ended = timeout(PATIENCE, self.child.wait()).await.ok()?.ok()?;
        let _ = timeout(PATIENCE, &mut self.heard).await;
        ended.code()
    }
}
