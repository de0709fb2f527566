//! `UplinkService.Attach`: frames of one relay in a stream, frames to it in another.

use std::pin::Pin;

use futures::{Stream, StreamExt};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};
use toolgate_contract::{
    frame::ChannelBinding,
    v1::{AttachRequest, AttachResponse, uplink_service_server::UplinkService},
};

use super::{QUEUE, TransportError, Uplinks};

/// The service. No credential is looked at: the frames prove who comes.
#[derive(Debug, Clone)]
pub struct AttachService(Uplinks);

impl AttachService {
    /// Serves `uplinks`.
    #[must_use]
    pub fn new(uplinks: Uplinks) -> Self {
        Self(uplinks)
    }
}

type Answers = Pin<Box<dyn Stream<Item = Result<AttachResponse, Status>> + Send>>;

#[tonic::async_trait]
impl UplinkService for AttachService {
    type AttachStream = Answers;

    async fn attach(
        &self,
        request: Request<Streaming<AttachRequest>>,
    ) -> Result<Response<Self::AttachStream>, Status> {
        // A typed extension of the in-process transport. Metadata would be the peer's own word.
        let channel = request.extensions().get::<ChannelBinding>().copied();
        let incoming = request
            .into_inner()
            .map(|message| message.map(|message| message.frame).map_err(|_| TransportError));
        let (outgoing, queued) = mpsc::channel(QUEUE);
        let uplinks = self.0.clone();
        self.0
            .0
            .tracker
            .spawn(async move { uplinks.attach(Box::pin(incoming), outgoing, channel).await });
        let frames = ReceiverStream::new(queued).map(|frame| Ok(AttachResponse { frame }));
        Ok(Response::new(Box::pin(frames)))
    }
}
