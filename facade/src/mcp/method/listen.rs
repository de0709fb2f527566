//! `subscriptions/listen`: the notifications of revision 2026-07-28, on the stream of the request that asked for them.
//!
//! First what was granted, then each change, at last a result. Of all that can be asked for, this server has changes of
//! the list of tools.

use bytes::{BufMut, Bytes, BytesMut};
use futures::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::mcp::{
    envelope::{Id, Params, pick},
    era::Era,
    failure,
    fault::Fault,
    in_flight::Place,
    listening::{Heard, Listener},
    reply::Reply,
    result::{ServerInfo, begin_result},
    server::{Asked, Server},
};

const SUBSCRIPTION: &[u8] = b"\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":";

struct Subscription {
    id: Id,
    tools: bool,
    listener: Listener,
    server: ServerInfo,
    cancelled: CancellationToken,
    _place: Option<Place>,
    is_over: bool,
}

pub(in crate::mcp) async fn answer(server: &Server, asked: Asked) -> Reply {
    let tools = match wants_tools(&asked.params) {
        Ok(tools) => tools,
        Err(fault) => return fault.about(Some(asked.id)).into(),
    };
    if !asked.streams {
        let fault = Fault::params("the answer is a stream; accept text/event-stream");
        return fault.about(Some(asked.id)).into();
    }
    let (cancelled, place) = server.note(&asked);
    let listener = match Listener::open(server, asked.caller, None).await {
        Ok(listener) => listener,
        Err(failure) => return failure::of_method(&failure, &asked.id).into(),
    };
    let subscription = Subscription {
        id: asked.id,
        tools,
        listener,
        server: server.info.clone(),
        cancelled,
        _place: place,
        is_over: false,
    };
    let granted = subscription.granted();
    let rest = futures::stream::unfold(subscription, |mut subscription| async move {
        let message = subscription.next().await?;
        Some((message, subscription))
    });
    Reply::Stream(Box::pin(futures::stream::iter([granted]).chain(rest)))
}

/// Whether changes of the list of tools are wanted.
fn wants_tools(params: &Params) -> Result<bool, Fault> {
    let wanted = params.notifications.as_ref();
    let wanted = wanted.ok_or_else(|| Fault::params("params.notifications is missing"))?;
    let object = std::str::from_utf8(wanted).unwrap_or_default();
    let [tools] = pick(object, &["toolsListChanged"])
        .map_err(|error| Fault::params(format!("params.notifications: {error}")))?;
    match tools.map(serde_json::value::RawValue::get) {
        Some("true") => Ok(true),
        None | Some("false") => Ok(false),
        Some(_) => Err(Fault::params(
            "params.notifications.toolsListChanged must be true or false",
        )),
    }
}

impl Subscription {
    /// The next message; `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        while !self.is_over {
            let heard = tokio::select! {
                biased;
                () = self.cancelled.cancelled() => return None,
                heard = self.listener.hear() => heard,
            };
            match heard {
                Heard::Changed if !self.tools => {}
                Heard::Changed => return Some(self.changed()),
                Heard::End => return Some(self.end()),
                Heard::Failed(failure) => {
                    self.is_over = true;
                    return Some(failure::of_method(&failure, &self.id).write());
                }
            }
        }
        None
    }

    fn granted(&self) -> Bytes {
        let mut out = BytesMut::with_capacity(192);
        out.put_slice(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{\"notifications\":");
        out.put_slice(if self.tools {
            b"{\"toolsListChanged\":true},"
        } else {
            b"{},"
        });
        self.tag(&mut out);
        out.put_slice(b"}}}");
        out.freeze()
    }

    fn changed(&self) -> Bytes {
        let mut out = BytesMut::with_capacity(160);
        out.put_slice(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\",\"params\":{");
        self.tag(&mut out);
        out.put_slice(b"}}}");
        out.freeze()
    }

    fn end(&mut self) -> Bytes {
        self.is_over = true;
        let mut out = BytesMut::with_capacity(256);
        begin_result(&mut out, &self.id, Era::Modern);
        self.tag(&mut out);
        out.put_u8(b',');
        self.server.write(&mut out);
        out.put_slice(b"}}}");
        out.freeze()
    }

    /// The open member that says whose message it is.
    fn tag(&self, out: &mut BytesMut) {
        out.put_slice(SUBSCRIPTION);
        self.id.write(out);
    }
}
