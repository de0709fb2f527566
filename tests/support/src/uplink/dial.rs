//! The WebSocket, frame by frame.

use futures::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async, tungstenite::Message};
use toolgate_contract::frame::{Frame, Session};

/// An open uplink, seen from the relay.
pub(crate) struct Link {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// What requests of this end are named after, once the handshake is done.
    pub(crate) session: Option<Session>,
}

impl Link {
    /// Dials `<url>/uplink`; `http` becomes `ws`.
    pub(crate) async fn dial(url: &str) -> Result<Self, String> {
        let url = format!("{}/uplink", url.replacen("http", "ws", 1));
        let (socket, _) = connect_async(url).await.map_err(|error| error.to_string())?;
        Ok(Self {
            socket,
            session: None,
        })
    }

    pub(crate) async fn send(&mut self, frame: &Frame) -> Result<(), String> {
        let bytes = frame.encode().map_err(|error| error.to_string())?;
        self.send_raw(bytes.to_vec()).await
    }

    pub(crate) async fn send_raw(&mut self, bytes: Vec<u8>) -> Result<(), String> {
        let sent = self.socket.send(Message::Binary(bytes.into())).await;
        sent.map_err(|error| error.to_string())
    }

    /// The next frame; `Err` at the end of the connection.
    pub(crate) async fn receive(&mut self) -> Result<Frame, String> {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Binary(bytes))) => {
                    return Frame::decode(bytes).map_err(|error| error.to_string());
                }
                Some(Ok(Message::Close(_))) | None => return Err("closed".into()),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error.to_string()),
            }
        }
    }
}
