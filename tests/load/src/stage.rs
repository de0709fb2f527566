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
    report::Report,
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

/// Everything through a gateway, on every store there is, and the direct host beside it.
pub(crate) async fn all(options: &Options) -> Result<Report, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let disk = Disk::measure(folder.path())?;
    let mut modes = vec![("no gateway".to_owned(), direct(options).await?)];
    let mut memory = Vec::new();
    for place in Place::all() {
        let (rows, resident) = on(place, options).await?;
        modes.extend(rows);
        memory.push((place.name(), resident));
    }
    Ok(Report {
        machine: machine(),
        disk,
        modes,
        memory,
        appends: Vec::new(),
    })
}

/// Both modes on one store, and the gateway's resident memory at the end in MiB.
async fn on(place: Place, options: &Options) -> Result<(Vec<(String, Vec<Figures>)>, u64), Box<dyn Error>> {
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
    let mut modes = vec![(name, drive(options, &gateway, &one).await?)];

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

    let resident = memory(gateway.pid().ok_or("the gateway is gone")?)?;
    gateway.terminate().await;
    Ok((modes, resident))
}

async fn drive(
    options: &Options,
    gateway: &Gateway,
    tokens: &Rc<Vec<String>>,
) -> Result<Vec<Figures>, Box<dyn Error>> {
    let address: SocketAddr = gateway.url().trim_start_matches("http://").parse()?;
    let pid = gateway.pid().ok_or("the gateway is gone")?;
    let mut rows = Vec::new();
    for shape in [Shape::Wait, Shape::Stream] {
        rows.extend(each(options, address, pid, shape, tokens, Some(&gateway.admin())).await?);
    }
    Ok(rows)
}

async fn direct(options: &Options) -> Result<Vec<Figures>, Box<dyn Error>> {
    let mut host = Host::start()?;
    let address = host.address()?;
    let tokens = Rc::new(vec!["none".to_owned()]);
    each(options, address, host.0.id(), Shape::Direct, &tokens, None).await
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

/// The direct host as a process of its own; it ends when its standard input does.
struct Host(Child);

impl Host {
    fn start() -> Result<Self, Box<dyn Error>> {
        let child = Command::new(std::env::current_exe()?)
            .arg("--echo")
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

impl Drop for Host {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

fn memory(pid: u32) -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap_or_default();
    Ok(line.split_whitespace().nth(1).unwrap_or("0").parse::<u64>()? / 1024)
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
