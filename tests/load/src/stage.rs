//! What is measured: the gateway in both modes, and the direct host beside it.

use std::{
    error::Error,
    fs,
    io::{BufRead, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    rc::Rc,
};

use serde_json::json;
use toolgate_test_support::{Caller, Gateway, Role, Seed};

use crate::{
    commits::Commits,
    disk::Disk,
    measure::{Drive, Figures, Shape},
    options::Options,
    place::Place,
    report::{Report, Sessions},
    upstream,
};

const USERS_PER_TENANT: usize = 5;
/// The gateway answers for its hosts in process, and no limit is met.
const FLAGS: [&str; 8] = [
    "--echo-hosts",
    "--relay-built-in=false",
    "--log-level=error",
    "--limits-user-per-minute=1000000000",
    "--limits-tenant-per-minute=1000000000",
    "--limits-tenant-in-flight=1000000",
    "--log-format=json",
    "--behind-proxy=false",
];

/// Sessions of MCP that are opened and never ended.
const HANDSHAKES: usize = 100_000;

/// Everything through a gateway, on every store there is, and the direct host beside it.
pub(crate) async fn all(options: &Options) -> Result<Report, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let disk = Disk::measure(folder.path())?;
    let mut modes = vec![("no gateway".to_owned(), direct(options).await?)];
    let mut upstream = Peer::start("--upstream")?;
    let upstream_at = upstream.address()?;
    modes.push((
        "no gateway".to_owned(),
        vec![own_time(options, &upstream, upstream_at).await?],
    ));
    let (mut memory, mut sessions) = (Vec::new(), Vec::new());
    for place in Place::all() {
        let name = place.name();
        let found = on(place, options, upstream_at).await?;
        modes.extend(found.modes);
        memory.push((name, found.resident_mib));
        sessions.push((name, found.sessions));
    }
    Ok(Report {
        machine: machine(),
        disk,
        modes,
        memory,
        appends: Vec::new(),
        sessions,
    })
}

/// What was found on one store.
struct Found {
    modes: Vec<(String, Vec<Figures>)>,
    /// Of the gateway, at the end.
    resident_mib: u64,
    sessions: Sessions,
}

/// Both modes on one store.
async fn on(place: Place, options: &Options, upstream: SocketAddr) -> Result<Found, Box<dyn Error>> {
    let mut gateway = place.gateway(&FLAGS).await?;

    let admin = gateway.admin();
    let made = admin.post(
        "/api/mcp/adapter",
        json!({"type": "ssh", "name": "echo", "config": {"hostname": "echo"}}),
    );
    made.await
        .ok()
        .map_err(|refusal| format!("the host is not added: {refusal:?}"))?;
    let one = Rc::new(vec![gateway.token()]);
    let name = format!("{}, one tenant", place.name());
    let mut modes = vec![(name.clone(), drive(options, &gateway, &one).await?)];
    let (sessions, row) = handshakes(options, &gateway, &one).await?;
    modes.push((name, vec![row]));

    gateway.terminate().await;
    let many = Rc::new(seed(&gateway, options.tenants).await?);
    gateway.up().await?;
    let name = format!(
        "{}, {} tenants, {} users",
        place.name(),
        options.tenants,
        many.len()
    );
    modes.push((name, drive(options, &gateway, &many).await?));
    let name = format!("{}, one tenant", place.name());
    modes.push((name, vec![read_through(options, &gateway, upstream).await?]));

    let resident_mib = memory_kib(gateway.pid().ok_or("the gateway is gone")?)? / 1024;
    gateway.terminate().await;
    Ok(Found {
        modes,
        resident_mib,
        sessions,
    })
}

/// Opens sessions until there are so many; the connections stay the same few.
async fn handshakes(
    options: &Options,
    gateway: &Gateway,
    tokens: &Rc<Vec<String>>,
) -> Result<(Sessions, Figures), Box<dyn Error>> {
    let address: SocketAddr = gateway.url().trim_start_matches("http://").parse()?;
    let pid = gateway.pid().ok_or("the gateway is gone")?;
    let mut last = at_64(options, address, pid, Shape::Initialize, tokens).await?;
    let (before, mut opened) = (memory_kib(pid)?, 0);
    while opened < HANDSHAKES {
        last = at_64(options, address, pid, Shape::Initialize, tokens).await?;
        if last.calls == 0 {
            return Err("no session could be opened".into());
        }
        opened += last.calls;
    }
    let grown_kib = i64::try_from(memory_kib(pid)?)? - i64::try_from(before)?;
    Ok((Sessions { opened, grown_kib }, last))
}

async fn drive(
    options: &Options,
    gateway: &Gateway,
    tokens: &Rc<Vec<String>>,
) -> Result<Vec<Figures>, Box<dyn Error>> {
    let address: SocketAddr = gateway.url().trim_start_matches("http://").parse()?;
    let pid = gateway.pid().ok_or("the gateway is gone")?;
    let mut rows = Vec::new();
    for shape in [Shape::Wait, Shape::Stream, Shape::Mcp, Shape::List] {
        rows.extend(each(options, address, pid, shape, tokens, Some(&gateway.admin())).await?);
    }
    Ok(rows)
}

async fn direct(options: &Options) -> Result<Vec<Figures>, Box<dyn Error>> {
    let mut host = Peer::start("--echo")?;
    let address = host.address()?;
    let tokens = Rc::new(vec!["none".to_owned()]);
    each(options, address, host.0.id(), Shape::Direct, &tokens, None).await
}

async fn own_time(options: &Options, peer: &Peer, address: SocketAddr) -> Result<Figures, Box<dyn Error>> {
    let tokens = Rc::new(vec![upstream::TOKEN.to_owned()]);
    at_64(options, address, peer.0.id(), Shape::Upstream, &tokens).await
}

/// Reads of an upstream that takes its time, by the admin of the first tenant.
async fn read_through(
    options: &Options,
    gateway: &Gateway,
    upstream: SocketAddr,
) -> Result<Figures, Box<dyn Error>> {
    let made = gateway
        .admin()
        .post("/api/mcp/adapter", upstream::target(upstream))
        .await;
    made.ok()
        .map_err(|refusal| format!("the upstream is not added: {refusal:?}"))?;
    let address = gateway.url().trim_start_matches("http://").parse()?;
    let pid = gateway.pid().ok_or("the gateway is gone")?;
    at_64(
        options,
        address,
        pid,
        Shape::Read,
        &Rc::new(vec![gateway.token()]),
    )
    .await
}

async fn at_64(
    options: &Options,
    address: SocketAddr,
    pid: u32,
    shape: Shape,
    tokens: &Rc<Vec<String>>,
) -> Result<Figures, Box<dyn Error>> {
    let only = Options {
        callers: vec![upstream::CALLERS],
        ..options.clone()
    };
    let mut rows = each(&only, address, pid, shape, tokens, None).await?;
    rows.pop().ok_or_else(|| "nothing was measured".into())
}

async fn each(
    options: &Options,
    address: SocketAddr,
    pid: u32,
    shape: Shape,
    tokens: &Rc<Vec<String>>,
    gateway: Option<&Caller>,
) -> Result<Vec<Figures>, Box<dyn Error>> {
    let mut rows = Vec::new();
    for &callers in &options.callers {
        let drive = Drive {
            address,
            shape,
            callers,
            span: options.span,
            tokens: Rc::clone(tokens),
            pid,
        };
        let before = read(gateway).await;
        let mut figures = drive.run().await?;
        figures.commits = read(gateway)
            .await
            .zip(before)
            .map(|(after, before)| after.since(before));
        eprintln!("{shape:?} {callers}: {:.0}/s", figures.per_second);
        if let Some(failure) = &figures.failure {
            eprintln!("  {} failed, first: {failure}", figures.failed);
        }
        rows.push(figures);
    }
    Ok(rows)
}

async fn read(gateway: Option<&Caller>) -> Option<Commits> {
    match gateway {
        Some(gateway) => Some(Commits::read(gateway).await),
        None => None,
    }
}

async fn seed(gateway: &Gateway, tenants: usize) -> Result<Vec<String>, Box<dyn Error>> {
    let mut seed = Seed::of(gateway.store());
    let mut tokens = Vec::with_capacity(tenants * USERS_PER_TENANT);
    for number in 0..tenants {
        let tenant = seed.tenant(&format!("tenant-{number}"))?;
        seed.host(&tenant, "echo")?;
        for user in 0..USERS_PER_TENANT {
            tokens.push(seed.token(&tenant, &format!("user-{user}"), Role::Engineer, user as u64)?);
        }
    }
    seed.finish().await?;
    Ok(tokens)
}

/// This program in another part, as a process of its own; it ends when its standard input does.
struct Peer(Child);

impl Peer {
    fn start(part: &str) -> Result<Self, Box<dyn Error>> {
        let child = Command::new(std::env::current_exe()?)
            .arg(part)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        Ok(Self(child))
    }

    fn address(&mut self) -> Result<SocketAddr, Box<dyn Error>> {
        let mut line = String::new();
        BufReader::new(self.0.stdout.take().ok_or("no standard output")?).read_line(&mut line)?;
        Ok(line.trim().parse()?)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

fn memory_kib(pid: u32) -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap_or_default();
    Ok(line.split_whitespace().nth(1).unwrap_or("0").parse()?)
}

fn machine() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cores = info.lines().filter(|line| line.starts_with("processor")).count();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .unwrap_or(": unknown");
    format!(
        "{cores} cores ({})",
        model.trim_start_matches(['\t', ' ', ':']).trim()
    )
}
