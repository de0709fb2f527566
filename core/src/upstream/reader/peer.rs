//! A target on this machine for tests: HTTP/1.1 by hand, so that it can also answer as no good server would.

mod asked;
mod reply;

use std::{
    net::{SocketAddr, TcpListener},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio_rustls::{TlsAcceptor, rustls::ServerConfig};
use tokio_util::task::AbortOnDropHandle;
use toolgate_contract::ids::{EventId, TenantId};

pub(crate) use self::{asked::Asked, reply::Reply};
use super::{Allow, Base, Destination, Trust};
use crate::{
    audit::{Event, EventKind, Outcome},
    journal::Contact,
};

type Answering = dyn Fn(&Asked) -> Reply + Send + Sync;

/// A target on loopback. Ends when it is dropped.
pub(crate) struct Peer {
    address: SocketAddr,
    scheme: &'static str,
    room: Arc<Room>,
    _accepting: AbortOnDropHandle<()>,
}

struct Room {
    answering: Box<Answering>,
    asked: Mutex<Vec<Asked>>,
    connections: AtomicUsize,
    tls: Option<TlsAcceptor>,
}

#[allow(dead_code, reason = "for the tests of other rooms too")]
impl Peer {
    /// A target that answers so, over plain HTTP. Needs a runtime around it.
    pub(crate) fn answering(answering: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        Self::start(None, Box::new(answering))
    }

    /// The same over TLS.
    pub(crate) fn over_tls(
        config: ServerConfig,
        answering: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let acceptor = TlsAcceptor::from(Arc::new(config));
        Self::start(Some(acceptor), Box::new(answering))
    }

    fn start(tls: Option<TlsAcceptor>, answering: Box<Answering>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let room = Arc::new(Room {
            answering,
            asked: Mutex::default(),
            connections: AtomicUsize::new(0),
            tls,
        });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&room)));
        Self {
            address,
            scheme,
            room,
            _accepting: AbortOnDropHandle::new(accepting),
        }
    }

    /// Where it is: `http://127.0.0.1:port`.
    pub(crate) fn base(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// It as a destination that may be read, below this path.
    pub(crate) fn destination(&self, path: &str) -> Destination {
        Destination {
            base: Base::parse(&format!("{}{path}", self.base())).unwrap(),
            trust: Trust::default(),
            allow: Allow {
                private: vec![],
                loopback: true,
                http: true,
            },
        }
    }

    /// Everything it was asked, in order.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.room.asked().clone()
    }

    /// How many connections were made to it.
    pub(crate) fn connections(&self) -> usize {
        self.room.connections.load(Ordering::SeqCst)
    }
}

impl Room {
    fn asked(&self) -> std::sync::MutexGuard<'_, Vec<Asked>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A contact for a test.
#[allow(dead_code, reason = "for the tests of other rooms too")]
pub(crate) fn contact() -> Contact {
    let event = Event {
        id: EventId::mint(),
        kind: EventKind::CapabilityInvoked,
        time_us: 0,
        principal: String::new(),
        role: String::new(),
        facade: String::new(),
        adapter_type: String::new(),
        target_id: None,
        capability: String::new(),
        params_hash: None,
        result: Outcome::Unknown,
        reason: String::new(),
        duration_ms: 0,
        correlation_id: None,
        detail: String::new(),
    };
    Contact::for_tests(&TenantId::mint(), event)
}

async fn accept(listener: TcpListener, room: Arc<Room>) {
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        room.connections.fetch_add(1, Ordering::SeqCst);
        let room = Arc::clone(&room);
        connections.spawn(async move {
            match room.tls.clone() {
                None => serve(stream, &room).await,
                Some(tls) => {
                    if let Ok(stream) = tls.accept(stream).await {
                        serve(stream, &room).await;
                    }
                }
            }
        });
    }
}

async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, room: &Room) {
    let mut buffer = Vec::new();
    while let Some(asked) = asked::read(&mut stream, &mut buffer).await {
        room.asked().push(asked.clone());
        let reply = (room.answering)(&asked);
        for part in reply.parts() {
            match part {
                reply::Part::Bytes(bytes) => {
                    if stream.write_all(&bytes).await.is_err() || stream.flush().await.is_err() {
                        return;
                    }
                }
                reply::Part::Silence => std::future::pending::<()>().await,
                reply::Part::End => {
                    let _ = stream.shutdown().await;
                    return;
                }
            }
        }
    }
}
