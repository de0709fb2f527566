//! A gateway that has been taken over: it knows its key, so a relay believes it, and sends what it likes.

use futures::{SinkExt, StreamExt};
use ring::{
    rand::{SecureRandom, SystemRandom},
    signature::{Ed25519KeyPair, KeyPair},
};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::{WebSocketStream, accept_async, tungstenite::Message};
use toolgate_contract::{
    enrolment::EnrolmentToken,
    frame::{
        Challenge, Frame, FrameId, Hello, Kind, Octets, Proof, Ready, Refusal, Secret, Session, Transcript,
    },
};

/// The listener and its key.
#[derive(Debug)]
pub struct HostileGateway {
    listener: TcpListener,
    key: Ed25519KeyPair,
}

/// The connection of a relay that believes it.
#[derive(Debug)]
pub struct Believer {
    socket: WebSocketStream<TcpStream>,
    session: Session,
    sent: u64,
}

impl HostileGateway {
    /// Listens on a port of the system's choice.
    ///
    /// # Errors
    /// When there is no port or no randomness.
    pub async fn listen() -> Result<Self, String> {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|_| "no randomness")?;
        Ok(Self {
            listener: TcpListener::bind("127.0.0.1:0")
                .await
                .map_err(|error| error.to_string())?,
            key: Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).map_err(|_| "no key")?,
        })
    }

    /// The URL a relay dials.
    #[must_use]
    pub fn url(&self) -> String {
        format!(
            "http://{}",
            self.listener
                .local_addr()
                .expect("a bound listener has an address")
        )
    }

    /// A token that makes a relay believe in it.
    #[must_use]
    pub fn token(&self) -> EnrolmentToken {
        EnrolmentToken {
            tenant: "local".parse().expect("a reserved name"),
            secret: Secret::new([7; 32]),
            gateway_key: self.public(),
        }
    }

    /// Takes the next relay through the handshake.
    ///
    /// # Errors
    /// Where the relay left it.
    pub async fn accept(&self) -> Result<Believer, String> {
        let (stream, _) = self.listener.accept().await.map_err(|error| error.to_string())?;
        let mut socket = accept_async(stream).await.map_err(|error| error.to_string())?;
        let hello: Hello = read(&mut socket, Kind::Hello).await?;
        let mut nonce = [0; 32];
        SystemRandom::new()
            .fill(&mut nonce)
            .map_err(|_| "no randomness")?;
        let (gateway_key, nonce) = (self.public(), Octets(nonce));
        let transcript = Transcript {
            tenant: &hello.tenant,
            relay: hello.relay.as_deref().unwrap_or_default(),
            relay_key: &hello.public_key,
            gateway_key: &gateway_key,
            relay_nonce: &hello.nonce,
            gateway_nonce: &nonce,
            channel: None,
        };
        let signature = self.key.sign(&transcript.gateway_bytes());
        let challenge = Challenge {
            gateway_key,
            nonce,
            channel_bound: false,
            signature: Octets(signature.as_ref().try_into().map_err(|_| "signature length")?),
        };
        send(&mut socket, &Frame::message(Kind::Challenge, &challenge)).await?;
        let _: Proof = read(&mut socket, Kind::Proof).await?;
        let ready = Ready {
            relay: "01ARZ3NDEKTSV4RRFFQ69G5FAV".into(),
        };
        send(&mut socket, &Frame::message(Kind::Ready, &ready)).await?;
        Ok(Believer {
            socket,
            session: Session::new(&hello.nonce),
            sent: 0,
        })
    }

    fn public(&self) -> Octets<32> {
        Octets(
            self.key
                .public_key()
                .as_ref()
                .try_into()
                .expect("Ed25519 public keys have 32 bytes"),
        )
    }
}

impl Believer {
    /// Sends a request and gives its answer: the body, or why it was refused.
    ///
    /// # Errors
    /// The outer one when the connection ends.
    pub async fn ask(&mut self, method: &str, body: &str) -> Result<Result<String, Refusal>, String> {
        self.sent += 1;
        let id = self.session.request(self.sent);
        self.ask_as(id, method, body).await
    }

    /// The same under an id of the caller's choice.
    ///
    /// # Errors
    /// The outer one when the connection ends.
    pub async fn ask_as(
        &mut self,
        id: FrameId,
        method: &str,
        body: &str,
    ) -> Result<Result<String, Refusal>, String> {
        send(
            &mut self.socket,
            &Frame::request(id.clone(), method, 5_000, body.to_owned()),
        )
        .await?;
        loop {
            let frame = receive(&mut self.socket).await?;
            if frame.header.kind == Kind::Response && frame.header.id == id {
                let text = String::from_utf8_lossy(&frame.body).into_owned();
                return Ok(match frame.header.error {
                    None => Ok(text),
                    Some(code) => Err(Refusal::new(code, text)),
                });
            }
        }
    }

    /// The id that the last request had.
    #[must_use]
    pub fn last_id(&self) -> FrameId {
        self.session.request(self.sent)
    }
}

async fn read<T: serde::de::DeserializeOwned>(
    socket: &mut WebSocketStream<TcpStream>,
    kind: Kind,
) -> Result<T, String> {
    receive(socket)
        .await?
        .read(kind)
        .map_err(|error| error.to_string())
}

async fn receive(socket: &mut WebSocketStream<TcpStream>) -> Result<Frame, String> {
    loop {
        match socket.next().await {
            Some(Ok(Message::Binary(bytes))) => {
                return Frame::decode(bytes).map_err(|error| error.to_string());
            }
            Some(Ok(Message::Close(_))) | None => return Err("closed".into()),
            Some(Ok(_)) => {}
            Some(Err(error)) => return Err(error.to_string()),
        }
    }
}

async fn send(socket: &mut WebSocketStream<TcpStream>, frame: &Frame) -> Result<(), String> {
    let bytes = frame.encode().map_err(|error| error.to_string())?;
    socket
        .send(Message::Binary(bytes))
        .await
        .map_err(|error| error.to_string())
}
