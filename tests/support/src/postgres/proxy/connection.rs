//! One connection, both ways.

use std::{
    collections::{HashMap, VecDeque},
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{
    io::{AsyncWriteExt, BufReader},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
};

use super::{Catch, Order, message::Message};

/// What every connection knows.
#[derive(Debug, Clone)]
pub(super) struct Connection {
    pub(super) server: u16,
    pub(super) order: watch::Receiver<Order>,
    pub(super) held: watch::Sender<usize>,
    pub(super) cuts: watch::Receiver<usize>,
}

/// What was asked and not answered yet.
#[derive(Debug, Default)]
struct Asked(Mutex<Pending>);

#[derive(Debug, Default)]
struct Pending {
    /// For each ReadyForQuery to come, whether its answer tells of a commit.
    answers: VecDeque<bool>,
    /// True within a transaction that was begun.
    open: bool,
}

/// Which statements commit, by the names they go by.
#[derive(Debug, Default)]
struct Names {
    statements: HashMap<String, Commits>,
    portals: HashMap<String, Commits>,
    /// Among what was asked since the last Sync.
    asked: Commits,
}

/// Whether a statement commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
enum Commits {
    #[default]
    Never,
    /// It writes: it commits where no transaction was begun.
    Alone,
    Always,
}

/// Carries one client until either side ends, or it is cut.
pub(super) async fn carry(mut client: TcpStream, connection: Connection) {
    let mut cuts = connection.cuts.clone();
    cuts.mark_unchanged();
    let Ok(server) = greet(&mut client, connection.server).await else {
        return;
    };
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let asked = Arc::new(Asked::default());
    // Whichever ends first takes the other with it.
    tokio::select! {
        _ = requests(from_client, to_server, &connection, &asked) => {}
        _ = answers(from_server, to_client, &connection, &asked) => {}
        _ = cuts.changed() => {}
    }
}

/// The start of a connection: there is no encryption here, and the client's greeting goes to the server.
async fn greet(client: &mut TcpStream, server: u16) -> io::Result<TcpStream> {
    let mut first = Message::read_first(client).await?;
    while first.asks_for_encryption() {
        client.write_all(b"N").await?;
        first = Message::read_first(client).await?;
    }
    let mut server = TcpStream::connect(("127.0.0.1", server)).await?;
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    server.write_all(&first.bytes).await?;
    Ok(server)
}

async fn requests(
    from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    connection: &Connection,
    asked: &Asked,
) -> io::Result<()> {
    let mut from = BufReader::new(from);
    // The greeting ends with a ReadyForQuery of its own.
    asked.lock().answers.push_back(false);
    let mut names = Names::default();
    let mut cycle = Vec::new();
    loop {
        let request = Message::read(&mut from).await?;
        cycle.extend_from_slice(&request.bytes);
        if let Some(commits) = names.note(&request) {
            let open = asked.lock().open;
            let commits = commits == Commits::Always || (commits == Commits::Alone && !open);
            if commits {
                connection.hold(Catch::Before).await?;
            }
            asked.lock().answers.push_back(commits);
            to.write_all(&cycle).await?;
            cycle.clear();
        } else if !matches!(request.kind, b'P' | b'B' | b'E' | b'D' | b'C') {
            // Passwords, flushes, cancelled copies: nothing that waits for a Sync.
            to.write_all(&cycle).await?;
            cycle.clear();
        }
    }
}

async fn answers(
    from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    connection: &Connection,
    asked: &Asked,
) -> io::Result<()> {
    let mut from = BufReader::new(from);
    let mut kept = Vec::new();
    loop {
        let message = Message::read(&mut from).await?;
        kept.extend_from_slice(&message.bytes);
        let of_commit = asked.lock().answers.front() == Some(&true);
        if let Some(status) = message.status() {
            let mut pending = asked.lock();
            pending.answers.pop_front();
            pending.open = status != b'I';
        } else if of_commit {
            continue;
        }
        if of_commit {
            connection.hold(Catch::After).await?;
        }
        to.write_all(&kept).await?;
        kept.clear();
    }
}

impl Connection {
    /// Waits while commits are held here; an error when this one is cut.
    async fn hold(&self, here: Catch) -> io::Result<()> {
        let mut order = self.order.clone();
        if *order.borrow_and_update() != Order::Hold(here) {
            return Ok(());
        }
        let _counted = Counted::new(&self.held);
        let told = order.wait_for(|order| *order != Order::Hold(here)).await;
        match told.as_deref() {
            Ok(Order::Cut) | Err(_) => Err(io::ErrorKind::ConnectionReset.into()),
            Ok(Order::Pass | Order::Hold(_)) => Ok(()),
        }
    }
}

/// One that is held, for as long as it is.
struct Counted<'a>(&'a watch::Sender<usize>);

impl<'a> Counted<'a> {
    fn new(held: &'a watch::Sender<usize>) -> Self {
        held.send_modify(|held| *held += 1);
        Self(held)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|held| *held -= 1);
    }
}

impl Asked {
    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Names {
    /// Notes a request. With the one that the server answers by ReadyForQuery, tells whether there is a commit among
    /// what was asked.
    fn note(&mut self, message: &Message) -> Option<Commits> {
        match message.kind {
            b'Q' => {
                let [statement] = message.strings();
                return Some(Commits::of(&statement));
            }
            b'P' => {
                let [name, statement] = message.strings();
                self.statements.insert(name, Commits::of(&statement));
            }
            b'B' => {
                let [portal, statement] = message.strings();
                let commits = self.statements.get(&statement).copied().unwrap_or_default();
                self.portals.insert(portal, commits);
            }
            b'E' => {
                let [portal] = message.strings();
                let commits = self.portals.get(&portal).copied().unwrap_or_default();
                self.asked = self.asked.max(commits);
            }
            b'S' => return Some(std::mem::take(&mut self.asked)),
            _ => {}
        }
        None
    }
}

impl Commits {
    fn of(statement: &str) -> Self {
        let statement = statement.trim().to_ascii_lowercase();
        if statement.starts_with("commit") || statement.starts_with("end") {
            return Self::Always;
        }
        let mut words = statement.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        // `audit.journal` is the function that writes the record.
        match words.any(|word| ["insert", "update", "delete", "journal"].contains(&word)) {
            true => Self::Alone,
            false => Self::Never,
        }
    }
}
