//! The WebSocket, frame by frame.

use futures::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async, tungstenite::Message};
use toolgate_contract::frame::Frame;

/// An open uplink, seen from the relay.
pub(super) struct Link(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Link {
    /// Dials `<url>/uplink`; `http` becomes `ws`.
    pub(super) async fn dial(url: &str) -> Result<Self, String> {
        let url = format!("{}/uplink", url.replacen("http", "ws", 1));
        let (socket, _) = connect_async(url).await.map_err(|error| error.to_string())?;
        Ok(Self(socket))
    }

    pub(super) async fn send(&mut self, frame: &Frame) -> Result<(), String> {
        let bytes = frame.encode().map_err(|error| error.to_string())?;
        self.send_raw(bytes.to_vec()).await
    }

    pub(super) async fn send_raw(&mut self, bytes: Vec<u8>) -> Result<(), String> {
        let sent = self.0.send(Message::Binary(bytes.into())).await;
        sent.map_err(|error| error.to_string())
    }

    /// The next frame; `Err` at the end of the connection.
    pub(super) async fn receive(&mut self) -> Result<Frame, String> {
        loop {
            match self.0.next().await {
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
