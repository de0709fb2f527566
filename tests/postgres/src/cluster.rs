//! A running server.

mod processes;

use std::{
    fs::{self, File},
    net::TcpListener,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use rustix::process::Signal;
use tokio::sync::OnceCell;

use self::processes::{Who, signal};
use crate::{Database, SmallDisk, database, ground::Ground};

/// How long a server may take to come up, recovery after a crash included.
const START: Duration = Duration::from_secs(60);
/// How long killed processes may take to be gone.
const GONE: Duration = Duration::from_secs(10);

/// What is settled for all servers of tests. Durability is not weakened here.
const SETTINGS: [&str; 10] = [
    "listen_addresses=127.0.0.1",
    // A socket's lock file would keep a killed server from coming back.
    "unix_socket_directories=",
    "max_connections=200",
    "shared_buffers=64MB",
    // Leaves nothing in /dev/shm when it is killed.
    "dynamic_shared_memory_type=mmap",
    "logging_collector=off",
    "log_line_prefix=%m [%p] %q%u@%d ",
    "log_parameter_max_length_on_error=0",
    "jit=off",
    "max_wal_size=256MB",
];

/// A PostgreSQL server. Dropping it ends it and removes its data.
#[derive(Debug)]
pub struct Cluster {
    folder: PathBuf,
    port: u16,
    settings: Vec<String>,
    child: Mutex<Option<Child>>,
    shared: bool,
    /// Unmounted after the server has ended.
    wal_disk: Option<SmallDisk>,
}

/// What a server of a test's own is like, where it differs.
#[derive(Debug, Default)]
pub struct Setup {
    settings: Vec<String>,
    wal_disk: Option<SmallDisk>,
}

impl Setup {
    /// A setting, as `name=value`.
    #[must_use]
    pub fn setting(mut self, setting: &str) -> Self {
        self.settings.push(setting.to_owned());
        self
    }

    /// The write-ahead log on a disk of its own.
    #[must_use]
    pub fn wal_on(mut self, disk: SmallDisk) -> Self {
        self.wal_disk = Some(disk);
        self
    }

    /// Starts it.
    ///
    /// # Errors
    /// When there is no PostgreSQL on this machine, or it does not come up; the text holds its log.
    pub async fn start(self) -> Result<Cluster, String> {
        let mut settings = vec!["fsync=on".to_owned()];
        settings.extend(self.settings);
        Cluster::make(settings, self.wal_disk, false).await
    }
}

impl Cluster {
    /// The one server of this process, started at first use: `fsync` is off, nobody hurts it.
    ///
    /// # Panics
    /// Where there is no PostgreSQL: ask [`crate::available`] first.
    pub async fn shared() -> &'static Self {
        static SHARED: OnceCell<Cluster> = OnceCell::const_new();
        let start = || Self::make(vec!["fsync=off".to_owned()], None, true);
        let shared = SHARED.get_or_try_init(start).await;
        shared.unwrap_or_else(|why| panic!("no shared PostgreSQL: {why}"))
    }

    /// Like [`Cluster::shared`], another one, with `fsync` on: for whoever refuses to work on less.
    ///
    /// # Panics
    /// Where there is no PostgreSQL: ask [`crate::available`] first.
    pub async fn shared_durable() -> &'static Self {
        static SHARED: OnceCell<Cluster> = OnceCell::const_new();
        let start = || Self::make(vec!["fsync=on".to_owned()], None, true);
        let shared = SHARED.get_or_try_init(start).await;
        shared.unwrap_or_else(|why| panic!("no shared PostgreSQL: {why}"))
    }

    /// A server of the test's own, as durable as in production.
    ///
    /// # Panics
    /// Where there is no PostgreSQL: ask [`crate::available`] first.
    pub async fn own() -> Self {
        let own = Setup::default().start().await;
        own.unwrap_or_else(|why| panic!("no PostgreSQL: {why}"))
    }

    async fn make(settings: Vec<String>, wal_disk: Option<SmallDisk>, shared: bool) -> Result<Self, String> {
        let ground = Ground::get()?;
        let folder = ground.new_folder("cluster")?;
        ground.copy_into(&folder)?;
        if let Some(disk) = &wal_disk {
            move_wal(&folder, disk)?;
        }
        let mut cluster = Self {
            folder,
            port: 0,
            settings,
            child: Mutex::new(None),
            shared,
            wal_disk,
        };
        // Between the choice of a port and its use someone else may take it.
        let mut told = String::new();
        for _ in 0..5 {
            cluster.port = free_port().ok_or("no free port")?;
            match cluster.start().await {
                Ok(()) => return Ok(cluster),
                Err(why) => told = why,
            }
            if !told.contains("could not bind") {
                break;
            }
        }
        Err(told)
    }

    /// Starts it, again, and waits until it answers.
    ///
    /// # Errors
    /// When it does not come up; the text holds its log.
    pub async fn start(&self) -> Result<(), String> {
        let child = self.spawn()?;
        *self.child() = Some(child);
        self.answers(START).await
    }

    /// Waits until it answers.
    ///
    /// # Errors
    /// When it has ended, or does not answer in time; the text holds the end of its log.
    pub async fn answers(&self, limit: Duration) -> Result<(), String> {
        let (end, url) = (Instant::now() + limit, self.admin_url());
        while Instant::now() < end {
            let asked = database::execute(&url, "select 1");
            let asked = tokio::time::timeout(Duration::from_secs(2), asked).await;
            if matches!(asked, Ok(Ok(_))) {
                return Ok(());
            }
            if !self.is_running() {
                return Err(format!("the server has ended\n{}", self.log_end()));
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Err(format!("the server does not answer\n{}", self.log_end()))
    }

    /// Ends it and all its processes by SIGKILL, as a power cut would, and waits until they are gone.
    pub async fn kill(&self) {
        let child = self.child().take();
        if let Some(mut child) = child {
            // The postmaster first: nothing is born after it.
            let _ = child.kill();
            let _ = child.wait();
        }
        let end = Instant::now() + GONE;
        while signal(&self.folder, Who::All, Signal::KILL) > 0 && Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Asks it to shut down in order, and waits for it.
    pub async fn shut_down(&self) {
        let child = self.child().take();
        let Some(mut child) = child else { return };
        signal(&self.folder, Who::Postmaster(child.id()), Signal::INT);
        let end = Instant::now() + GONE;
        while matches!(child.try_wait(), Ok(None)) && Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let _ = child.kill();
        let _ = child.wait();
    }

    /// Stops all its processes: connections stand, nothing answers.
    pub fn stop(&self) {
        // Twice: what the postmaster bore just before it stopped.
        signal(&self.folder, Who::All, Signal::STOP);
        signal(&self.folder, Who::All, Signal::STOP);
    }

    /// Stops the postmaster only: connections go on, new ones are accepted by the system and never served.
    pub fn stop_postmaster(&self) {
        if let Some(child) = &*self.child() {
            signal(&self.folder, Who::Postmaster(child.id()), Signal::STOP);
        }
    }

    /// Lets everything that was stopped go on.
    pub fn cont(&self) {
        signal(&self.folder, Who::All, Signal::CONT);
    }

    /// Whether the postmaster lives.
    #[must_use]
    pub fn is_running(&self) -> bool {
        match &mut *self.child() {
            Some(child) => matches!(child.try_wait(), Ok(None)),
            None => false,
        }
    }

    /// A fresh, empty database.
    ///
    /// # Panics
    /// When the server does not make one.
    pub async fn database(&self) -> Database {
        let made = Database::create(self.port, self.shared, "").await;
        made.unwrap_or_else(|why| panic!("no database: {why}\n{}", self.log_end()))
    }

    /// A fresh, empty database that lives on a disk of its own, with its tables and indexes. The write-ahead log is
    /// elsewhere.
    ///
    /// # Errors
    /// Whatever the server says.
    pub async fn database_on(&self, disk: &SmallDisk) -> Result<Database, String> {
        Database::on_disk(self.port, self.shared, disk).await
    }

    /// A copy of a database of this server that nobody is connected to.
    ///
    /// # Errors
    /// Whatever the server says.
    pub async fn copy_of(&self, database: &Database) -> Result<Database, String> {
        Database::create(self.port, self.shared, &format!("template {}", database.name())).await
    }

    /// The URL of the superuser's own database.
    #[must_use]
    pub fn admin_url(&self) -> String {
        database::url(self.port, "postgres", "postgres")
    }

    /// The port on 127.0.0.1; it stays the same over restarts.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The data directory.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        &self.folder
    }

    /// The disk of the write-ahead log, where it has its own.
    #[must_use]
    pub fn wal_disk(&self) -> Option<&SmallDisk> {
        self.wal_disk.as_ref()
    }

    /// What it logged, all starts together.
    #[must_use]
    pub fn log(&self) -> String {
        let bytes = fs::read(self.log_path()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn log_end(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    /// Beside the data: a full data disk does not end the log.
    fn log_path(&self) -> PathBuf {
        self.folder.with_extension("log")
    }

    fn spawn(&self) -> Result<Child, String> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.log_path())
            .map_err(|error| format!("no log: {error}"))?;
        let second = log.try_clone().map_err(|error| format!("no log: {error}"))?;
        let mut command = Ground::get()?.binaries.command("postgres");
        command
            .arg("-D")
            .arg(&self.folder)
            .args(["-p", &self.port.to_string()]);
        for setting in SETTINGS
            .iter()
            .copied()
            .chain(self.settings.iter().map(String::as_str))
        {
            command.args(["-c", setting]);
        }
        // Of its own process group: what interrupts the test is for the test.
        command
            .process_group(0)
            .stdout(Stdio::from(log))
            .stderr(Stdio::from(second))
            .spawn()
            .map_err(|error| format!("postgres cannot be started: {error}"))
    }

    fn child(&self) -> std::sync::MutexGuard<'_, Option<Child>> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let child = self.child().take();
        if let Some(mut child) = child {
            self.cont();
            // At once, but giving its shared memory back.
            signal(&self.folder, Who::Postmaster(child.id()), Signal::QUIT);
            let end = Instant::now() + Duration::from_secs(2);
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < end {
                std::thread::sleep(Duration::from_millis(5));
            }
            let _ = child.kill();
            let _ = child.wait();
        }
        signal(&self.folder, Who::All, Signal::KILL);
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Below the ports that the system gives to outgoing connections, so that none takes it while the server is down.
fn free_port() -> Option<u16> {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id().wrapping_mul(7919);
    (0..500).find_map(|_| {
        let step = start.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = u16::try_from(15_000 + step % 17_000).ok()?;
        TcpListener::bind(("127.0.0.1", port)).ok().map(|_| port)
    })
}

fn move_wal(folder: &Path, disk: &SmallDisk) -> Result<(), String> {
    let (from, to) = (folder.join("pg_wal"), disk.path().join("wal"));
    let mut command = std::process::Command::new("cp");
    command.arg("--archive").arg(&from).arg(&to);
    crate::ground::succeed(&mut command)?;
    fs::remove_dir_all(&from)
        .and_then(|()| std::os::unix::fs::symlink(&to, &from))
        .map_err(|error| format!("the write-ahead log cannot be moved: {error}"))
}
