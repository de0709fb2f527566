//! Opens the WebSocket to the gateway.

mod unreached;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures::{SinkExt, StreamExt, future};
use rustls::{ClientConfig, pki_types::ServerName};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::TlsConnector;
use tokio_tungstenite::{
    client_async_with_config,
    tungstenite::{self, Message, protocol::WebSocketConfig},
};
use toolgate_contract::frame::{CHANNEL_LABEL, ChannelBinding, MAX_MESSAGE};

use crate::{
    endpoint::Endpoint,
    link::{Link, LinkError},
};

const PATIENCE: Duration = Duration::from_secs(15);

/// Dials, within a fixed patience. Sends no Origin: relays are no browsers, and the gateway refuses browsers.
pub(crate) async fn dial(endpoint: &Endpoint, tls: Option<Arc<ClientConfig>>) -> Result<Link, LinkError> {
    timeout(PATIENCE, connect(endpoint, tls))
        .await
        .map_err(|_| LinkError::Unreached {
            why: "the gateway did not answer in time".to_owned(),
            next: "see that this host may dial out to the gateway",
        })?
}

async fn connect(endpoint: &Endpoint, tls: Option<Arc<ClientConfig>>) -> Result<Link, LinkError> {
    let tcp = TcpStream::connect((endpoint.host.as_str(), endpoint.port))
        .await
        .map_err(|error| unreached::tcp(endpoint, &error))?;
    tcp.set_nodelay(true).map_err(transport)?;
    let Some(tls) = tls else {
        // A name that is called localhost may still lead elsewhere.
        if !tcp.peer_addr().map_err(transport)?.ip().is_loopback() {
            return Err(LinkError::Transport(
                "the address without TLS is not on loopback".to_owned(),
            ));
        }
        return upgrade(endpoint, tcp, None).await;
    };
    let name = ServerName::try_from(endpoint.host.clone()).map_err(transport)?;
    let stream = TlsConnector::from(tls)
        .connect(name, tcp)
        .await
        .map_err(|error| unreached::tls(endpoint, &error))?;
    let exporter = stream
        .get_ref()
        .1
        .export_keying_material([0; 32], CHANNEL_LABEL, None)
        .map_err(transport)?;
    upgrade(endpoint, stream, Some(ChannelBinding(exporter))).await
}

async fn upgrade<S>(
    endpoint: &Endpoint,
    stream: S,
    channel: Option<ChannelBinding>,
) -> Result<Link, LinkError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let limits = WebSocketConfig::default()
        .max_message_size(Some(MAX_MESSAGE))
        .max_frame_size(Some(MAX_MESSAGE));
    let (socket, _) = client_async_with_config(endpoint.websocket_url(), stream, Some(limits))
        .await
        .map_err(|error| unreached::upgrade(&error))?;
    let (outgoing, incoming) = socket.split();
    let incoming = incoming.filter_map(|message| future::ready(binary(message)));
    let outgoing = outgoing
        .sink_map_err(transport)
        .with(|message: Bytes| future::ready(Ok::<_, LinkError>(Message::Binary(message))));
    Ok(Link {
        incoming: Box::pin(incoming),
        outgoing: Box::pin(outgoing),
        channel,
    })
}

/// Pings and pongs of the WebSocket itself are answered below us and mean nothing here.
fn binary(message: Result<Message, tungstenite::Error>) -> Option<Result<Bytes, LinkError>> {
    match message {
        Ok(Message::Binary(bytes)) => Some(Ok(bytes)),
        Ok(Message::Text(_)) => Some(Err(LinkError::Transport("the gateway sent text".to_owned()))),
        Ok(Message::Close(_)) => Some(Err(LinkError::Closed)),
        Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => None,
        Err(error) => Some(Err(transport(error))),
    }
}

fn transport(error: impl std::fmt::Display) -> LinkError {
    LinkError::Transport(error.to_string())
}
