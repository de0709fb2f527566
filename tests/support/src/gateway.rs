//! The real binary as a child process.

use std::{
    io,
    path::{Path, PathBuf},
    process::{Output, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

use crate::{Caller, Postgres, Store, dialect::Pipes, until};

/// The `toolgate` binary beside this test's own executable.
///
/// # Panics
/// When it is not there, saying how to make it.
#[must_use]
pub fn binary() -> PathBuf {
    let own = std::env::current_exe().expect("an executable has a path");
    // Tests stand in target/<profile>/deps, other programs beside the binary.
    let mut folder = own.parent().expect("an executable stands in a folder");
    if folder.ends_with("deps") {
        folder = folder.parent().expect("deps stands in a folder");
    }
    let binary = folder.join("toolgate");
    assert!(
        binary.is_file(),
        "{} is not built; run tests/run, or cargo build --workspace --bins first",
        binary.display()
    );
    binary
}

/// Runs the binary to its end with nothing in its environment but what is given.
///
/// # Errors
/// When it cannot be started or does not end within a minute.
pub async fn run(arguments: &[&str], environment: &[(&str, &str)], folder: &Path) -> io::Result<Output> {
    let mut command = Command::new(binary());
    command
        .args(arguments)
        .env_clear()
        .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
        .envs(environment.iter().copied())
        .current_dir(folder)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    tokio::time::timeout(Duration::from_secs(60), command.output())
        .await
        .map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "the binary did not end within a minute"))?
}

/// A running gateway with a data directory that outlives it.
#[derive(Debug)]
pub struct Gateway {
    dir: TempDir,
    extra: Vec<String>,
    postgres: Option<Arc<Postgres>>,
    child: Option<Child>,
    url: String,
    grpc: String,
    printed: Arc<Mutex<Vec<String>>>,
}

impl Gateway {
    /// Starts `toolgate up` on an empty data directory with further arguments.
    ///
    /// # Errors
    /// When it does not come up within 20 seconds; the text holds what it printed.
    pub async fn start(extra: &[&str]) -> Result<Self, String> {
        let mut gateway = Self::new(extra)?;
        gateway.up().await?;
        Ok(gateway)
    }

    /// The same with its record on a server.
    ///
    /// # Errors
    /// As [`Gateway::start`].
    pub async fn start_on(postgres: Arc<Postgres>, extra: &[&str]) -> Result<Self, String> {
        let mut gateway = Self::new(extra)?;
        gateway.postgres = Some(postgres);
        gateway.up().await?;
        Ok(gateway)
    }

    /// Starts `toolgate up` on a data directory that something else filled, which is moved to its own place.
    ///
    /// # Errors
    /// As [`Gateway::start`], and when it cannot be moved.
    pub async fn start_over(data: &Path, extra: &[&str]) -> Result<Self, String> {
        let mut gateway = Self::new(extra)?;
        std::fs::rename(data, gateway.data_dir()).map_err(|error| error.to_string())?;
        gateway.up().await?;
        Ok(gateway)
    }

    fn new(extra: &[&str]) -> Result<Self, String> {
        Ok(Self {
            dir: tempfile::tempdir().map_err(|error| error.to_string())?,
            extra: extra.iter().map(|&argument| argument.to_owned()).collect(),
            postgres: None,
            child: None,
            url: String::new(),
            grpc: String::new(),
            printed: Arc::default(),
        })
    }

    /// Like [`Gateway::start`], with a standard error of the test's choice instead of a log.
    ///
    /// # Errors
    /// As [`Gateway::start`].
    pub async fn start_with_stderr(stderr: Stdio, extra: &[&str]) -> Result<Self, String> {
        let mut gateway = Self::new(extra)?;
        gateway.up_with_stderr(stderr).await?;
        Ok(gateway)
    }

    /// Starts it again on the same data directory.
    ///
    /// # Errors
    /// As [`Gateway::start`].
    pub async fn up(&mut self) -> Result<(), String> {
        let log = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.dir.path().join("gateway.log"))
            .map_err(|error| error.to_string())?;
        self.up_with_stderr(Stdio::from(log)).await
    }

    async fn up_with_stderr(&mut self, stderr: Stdio) -> Result<(), String> {
        let data = self.data_dir().to_path_buf();
        let mut child = Command::new(binary())
            .arg("up")
            .arg("--data-dir")
            .arg(&data)
            .args(["--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0"])
            .args(&self.extra)
            .env_clear()
            .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
            .envs(
                self.postgres
                    .iter()
                    .map(|postgres| ("TOOLGATE_DATABASE_URL", postgres.url())),
            )
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| error.to_string())?;
        let stdout = child.stdout.take().ok_or("no standard output")?;
        self.child = Some(child);
        self.printed = Arc::default();
        let printed = Arc::clone(&self.printed);
        let mut lines = BufReader::new(stdout).lines();
        // Reads to the end of the process, so that nothing it prints blocks it.
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                printed.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            }
        });
        let addresses = until(Duration::from_secs(20), || async { self.addresses() }).await;
        let told = || {
            format!(
                "the gateway did not come up: {:?}\n{}",
                self.printed(),
                self.log()
            )
        };
        (self.url, self.grpc) = addresses.ok_or_else(told)?;
        Ok(())
    }

    /// Ends it as a power cut would.
    pub async fn kill9(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill().await;
        }
    }

    /// Asks it to stop and waits for it; gives its exit code.
    pub async fn terminate(&mut self) -> Option<i32> {
        self.ask_to_stop().await;
        self.ended().await
    }

    /// Asks it to stop and does not wait.
    pub async fn ask_to_stop(&self) {
        if let Some(pid) = self.pid() {
            let _ = Command::new("kill")
                .args(["-TERM", &pid.to_string()])
                .status()
                .await;
        }
    }

    /// Waits for its end; gives its exit code.
    pub async fn ended(&mut self) -> Option<i32> {
        let mut child = self.child.take()?;
        let ended = tokio::time::timeout(Duration::from_secs(25), child.wait()).await;
        ended.ok()?.ok()?.code()
    }

    /// The process id.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref()?.id()
    }

    /// The base URL of REST, SSE and uplinks.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The URL of gRPC.
    #[must_use]
    pub fn grpc(&self) -> &str {
        &self.grpc
    }

    /// The admin's token, as written at the first start.
    #[must_use]
    pub fn token(&self) -> String {
        let text = std::fs::read_to_string(self.data_dir().join("admin-token")).unwrap_or_default();
        text.trim().to_owned()
    }

    /// The admin.
    #[must_use]
    pub fn admin(&self) -> Caller {
        Caller::new(&self.url, &self.grpc, self.token()).piped(Pipes::Program(self.data_dir()))
    }

    /// The data directory.
    #[must_use]
    pub fn data_dir(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// What stands in its store.
    #[must_use]
    pub fn store(&self) -> Store {
        match &self.postgres {
            Some(postgres) => Store::Postgres(Arc::clone(postgres)),
            None => Store::Sqlite(self.data_dir().join("toolgate.db")),
        }
    }

    /// A folder beside the data directory for the test's own files.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.dir.path()
    }

    /// What it has printed so far.
    #[must_use]
    pub fn printed(&self) -> Vec<String> {
        self.printed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The `curl` command among it.
    #[must_use]
    pub fn curl(&self) -> Option<String> {
        self.printed().into_iter().find(|line| line.starts_with("curl "))
    }

    /// What it logged, all starts together.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("gateway.log")).unwrap_or_default()
    }

    /// The addresses of REST and gRPC, each after its word in what it prints.
    fn addresses(&self) -> Option<(String, String)> {
        let all = self.printed().join(" ");
        let words: Vec<&str> = all.split_whitespace().collect();
        let after = |name: &str| {
            let at = words.iter().position(|word| *word == name)?;
            let url = words.get(at + 1).filter(|word| word.starts_with("http"))?;
            Some(url.trim_end_matches('/').to_owned())
        };
        Some((after("REST")?, after("gRPC")?))
    }
}
