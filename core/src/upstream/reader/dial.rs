//! From a base to a connection: the name is looked up, every address is checked, and a checked address is dialled.
//!
//! No proxy is used and nothing but the address that was checked is connected to, so that a name which means another
//! place a moment later changes nothing.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};
use url::Host;

use super::{
    Allow, Base, Fault, Trust, guard,
    resolve::Resolve,
    stage::{Progress, Stage},
    tls::Tls,
};

/// One of several addresses has this long, so that one that is silent leaves time for the next.
const ONE_OF_SEVERAL: Duration = Duration::from_secs(3);
/// Names with more addresses than this are answered by whom we do not want to know.
const MOST_ADDRESSES: usize = 64;

/// Dials one base.
pub(super) struct Dialler {
    base: Base,
    allow: Allow,
    names: Arc<dyn Resolve>,
    tls: Option<Tls>,
}

/// A connection, with TLS or without.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

impl Dialler {
    pub(super) fn new(
        base: Base,
        trust: &Trust,
        allow: Allow,
        names: Arc<dyn Resolve>,
    ) -> Result<Self, Fault> {
        let tls = match base.is_plain_http() {
            true if !allow.http => {
                return Err(Fault::forbidden(format!(
                    "{base} is plain HTTP, which shows the credential to everyone between; use https, or allow it with allowHttp true"
                )));
            }
            true => None,
            false => Some(Tls::new(&base, trust)?),
        };
        Ok(Self {
            base,
            allow,
            names,
            tls,
        })
    }

    pub(super) async fn dial(&self, progress: &Progress) -> Result<Box<dyn Stream>, Fault> {
        progress.reached(Stage::Name);
        let addresses = self.addresses().await?;
        progress.reached(Stage::Dial);
        let stream = self.first_of(&addresses).await?;
        // Requests are small and wait for their answers; failing to say so costs time only.
        let _ = stream.set_nodelay(true);
        let Some(tls) = &self.tls else {
            return Ok(Box::new(stream));
        };
        progress.reached(Stage::Tls);
        Ok(Box::new(tls.handshake(stream).await?))
    }

    /// Every address of the target; all of them may be dialled, or none is told.
    async fn addresses(&self) -> Result<Vec<IpAddr>, Fault> {
        let found = match self.base.parsed_host() {
            Some(Host::Ipv4(address)) => vec![address.into()],
            Some(Host::Ipv6(address)) => vec![address.into()],
            Some(Host::Domain(name)) => self.look_up(name).await?,
            None => vec![],
        };
        let mut admitted = Vec::with_capacity(found.len());
        for address in found {
            let address = guard::admit(address, &self.allow).map_err(|fault| self.named(fault))?;
            if !admitted.contains(&address) {
                admitted.push(address);
            }
        }
        Ok(admitted)
    }

    async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, Fault> {
        let unknown = |what: &str| {
            Fault::unreachable(format!(
                "the name {name} cannot be looked up ({what}); is it spelt right, and does this machine's DNS know it?"
            ))
        };
        match self.names.resolve(name).await {
            Ok(found) if found.is_empty() => Err(unknown("no address")),
            Ok(found) if found.len() > MOST_ADDRESSES => Err(unknown("too many addresses")),
            Ok(found) => Ok(found),
            Err(error) => Err(unknown(&told(&error))),
        }
    }

    // The admin wrote a name, so the text says which name led to the address.
    fn named(&self, fault: Fault) -> Fault {
        match self.base.parsed_host() {
            Some(Host::Domain(name)) => Fault::new(fault.error, format!("{name}: {}", fault.detail)),
            _ => fault,
        }
    }

    async fn first_of(&self, addresses: &[IpAddr]) -> Result<TcpStream, Fault> {
        let mut last = Fault::unreachable("the target has no address");
        for (n, address) in addresses.iter().enumerate() {
            let address = SocketAddr::new(*address, self.base.port());
            let connecting = TcpStream::connect(address);
            let connected = match n + 1 == addresses.len() {
                true => connecting.await,
                false => timeout(ONE_OF_SEVERAL, connecting)
                    .await
                    .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())),
            };
            match connected {
                Ok(stream) => return Ok(stream),
                Err(error) => last = not_connected(address, &error),
            }
        }
        Err(last)
    }
}

fn not_connected(address: SocketAddr, error: &io::Error) -> Fault {
    let what = match error.kind() {
        io::ErrorKind::ConnectionRefused => "nothing listens there; look at address and port".to_owned(),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
            "there is no way there from this machine".to_owned()
        }
        _ => told(error),
    };
    Fault::unreachable(format!("no connection to {address}: {what}"))
}

/// An error of the operating system, as one bounded line.
fn told(error: &io::Error) -> String {
    let text = error.to_string();
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}
