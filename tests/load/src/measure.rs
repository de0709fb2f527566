//! One measurement: so many callers, for so long.

use std::{
    error::Error,
    fs, io,
    net::SocketAddr,
    rc::Rc,
    time::{Duration, Instant},
};

use tokio::task::LocalSet;

use crate::{
    client::{Connection, find},
    mcp, upstream,
};

/// What the callers do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One request that waits for the outcome.
    Wait,
    /// Invoke, then read the stream to its end.
    Stream,
    /// `tools/call` of MCP, without a session.
    Mcp,
    /// `tools/list` of MCP, without a session.
    List,
    /// `initialize` of MCP; the session is never ended.
    Initialize,
    /// The host itself, without a gateway.
    Direct,
    /// A run of a repository, read by one request through the gateway.
    Read,
    /// The same run, asked of the upstream itself.
    Upstream,
}

/// Where to and with what.
#[derive(Debug, Clone)]
pub(crate) struct Drive {
    pub(crate) address: SocketAddr,
    pub(crate) shape: Shape,
    pub(crate) callers: usize,
    pub(crate) span: Duration,
    /// Tokens that the callers take in turn.
    pub(crate) tokens: Rc<Vec<String>>,
    /// Whose CPU time is counted.
    pub(crate) pid: u32,
}

/// What came of it.
#[derive(Debug, Clone)]
pub(crate) struct Figures {
    pub(crate) shape: Shape,
    pub(crate) callers: usize,
    /// Calls that were answered as they should be.
    pub(crate) calls: usize,
    pub(crate) per_second: f64,
    pub(crate) p50: Duration,
    pub(crate) p95: Duration,
    pub(crate) p99: Duration,
    /// CPU time of the measured process per call.
    pub(crate) cpu: Duration,
    pub(crate) failed: usize,
    /// The first failure, to be told.
    pub(crate) failure: Option<String>,
    /// Mean time of a group commit and rows in it, where there is a gateway.
    pub(crate) commits: Option<(Duration, f64)>,
}

#[derive(Debug, Default)]
struct Tally {
    took: Vec<Duration>,
    failed: usize,
    failure: Option<String>,
}

impl Drive {
    pub(crate) async fn run(&self) -> Result<Figures, Box<dyn Error>> {
        // The first second warms connections, caches and snapshots and is not counted.
        self.all(Duration::from_secs(1)).await?;
        let (cpu, began) = (cpu_time(self.pid)?, Instant::now());
        let mut tally = self.all(self.span).await?;
        let (took, cpu) = (began.elapsed(), cpu_time(self.pid)?.saturating_sub(cpu));
        tally.took.sort();
        let calls = tally.took.len().max(1);
        let at = |share: usize| tally.took.get(calls * share / 100).copied().unwrap_or_default();
        Ok(Figures {
            shape: self.shape,
            callers: self.callers,
            calls: tally.took.len(),
            per_second: tally.took.len() as f64 / took.as_secs_f64(),
            p50: at(50),
            p95: at(95),
            p99: at(99),
            cpu: cpu / u32::try_from(calls).unwrap_or(u32::MAX),
            failed: tally.failed,
            failure: tally.failure,
            commits: None,
        })
    }

    async fn all(&self, span: Duration) -> Result<Tally, Box<dyn Error>> {
        let until = Instant::now() + span;
        let local = LocalSet::new();
        let callers: Vec<_> = (0..self.callers)
            .map(|number| {
                let drive = self.clone();
                local.spawn_local(async move { drive.one(number, until).await })
            })
            .collect();
        local.await;
        let mut whole = Tally::default();
        for caller in callers {
            let tally = caller.await??;
            whole.took.extend(tally.took);
            whole.failed += tally.failed;
            whole.failure = whole.failure.or(tally.failure);
        }
        Ok(whole)
    }

    async fn one(self, number: usize, until: Instant) -> io::Result<Tally> {
        let mut tally = Tally::default();
        let mut connection = Connection::open(self.address).await?;
        let mut turn = number;
        while Instant::now() < until {
            let token = &self.tokens[turn % self.tokens.len()];
            turn += self.callers;
            let began = Instant::now();
            match self.call(&mut connection, token).await? {
                None => tally.took.push(began.elapsed()),
                Some(failure) => {
                    tally.failed += 1;
                    tally.failure.get_or_insert(failure);
                }
            }
        }
        Ok(tally)
    }

    /// One call; a text when it was not answered as it should be.
    async fn call(&self, connection: &mut Connection, token: &str) -> io::Result<Option<String>> {
        let reply = connection.ask(self.request(token).as_bytes()).await?;
        match self.shape {
            Shape::Wait | Shape::Direct | Shape::Mcp => Ok(fault(&reply, 200, b"load average")),
            Shape::List => Ok(fault(&reply, 200, b"ssh_run_whitelisted_command")),
            Shape::Initialize => Ok(fault(&reply, 200, b"serverInfo")),
            Shape::Read | Shape::Upstream => Ok(fault(&reply, 200, upstream::RUN.to_string().as_bytes())),
            Shape::Stream => {
                let Some(url) = stream_url(&reply.body) else {
                    return Ok(fault(&reply, 202, b"streamUrl"));
                };
                let request = format!(
                    "GET {url} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\n\r\n",
                    self.address
                );
                let reply = connection.ask(request.as_bytes()).await?;
                Ok(fault(&reply, 200, b"event: done").or_else(|| fault(&reply, 200, b"load average")))
            }
        }
    }

    fn request(&self, token: &str) -> String {
        let host = self.address;
        if let Some(request) = mcp::request(self.shape, host, token) {
            return request;
        }
        let body = match self.shape {
            Shape::Upstream => {
                return format!(
                    "GET {} HTTP/1.1\r\nhost: {host}\r\nuser-agent: load\r\nauthorization: Bearer {token}\r\n\r\n",
                    upstream::path()
                );
            }
            Shape::Read => upstream::call().to_string(),
            Shape::Wait | Shape::Stream | Shape::Direct | Shape::Mcp | Shape::List | Shape::Initialize => {
                r#"{"name":"ssh.run_whitelisted_command","arguments":{"command":"uptime"}}"#.to_owned()
            }
        };
        let prefer = if self.shape == Shape::Stream {
            ""
        } else {
            "prefer: wait\r\n"
        };
        format!(
            "POST /api/mcp/invoke HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n{prefer}content-type: \
             application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
    }
}

fn fault(reply: &crate::client::Reply, status: u16, part: &[u8]) -> Option<String> {
    let fits = reply.status == status && find(&reply.body, part).is_some();
    (!fits).then(|| format!("{} {}", reply.status, String::from_utf8_lossy(&reply.body)))
}

fn stream_url(body: &[u8]) -> Option<String> {
    let value: serde_json::Value = serde_json::from_slice(body).ok()?;
    Some(value["streamUrl"].as_str()?.to_owned())
}

/// User and system time of a process so far (proc(5): fields 14 and 15, in hundredths of a second).
pub(crate) fn cpu_time(pid: u32) -> io::Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks: u64 = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    Ok(Duration::from_millis(ticks * 10))
}
