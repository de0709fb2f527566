//! octocrab over our own reader: it carries requests and nothing else of it is used.
//!
//! The service under octocrab can only GET: any other verb is refused here, before the reader, which has no other
//! either. octocrab wants a service without borrowed parts, and a reader wants the proof of the call, which is borrowed:
//! so the service hands each path back over a channel to whoever asked, who holds the proof and reads.
//!
//! octocrab's models, retries, redirects and its way of adding the credential are absent on purpose; the worker task
//! behind its buffer ends with the last handle, which is ours.

use std::{
    convert::Infallible,
    fmt,
    sync::OnceLock,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use octocrab::{AuthState, OctoBody, Octocrab, OctocrabBuilder};
use tokio::sync::{mpsc, oneshot};
use tower::Service;

use super::route::Route;
use crate::{
    journal::Contact,
    upstream::{
        UpstreamError,
        reader::{Answer, Fault, ReadPath, Reader},
    },
};

/// Carries requests to one target with one credential.
pub(super) struct Transport {
    reader: Reader,
    // Made at the first call: the buffer inside wants a runtime.
    octocrab: OnceLock<Octocrab>,
}

impl Transport {
    pub(super) fn new(reader: Reader) -> Self {
        Self {
            reader,
            octocrab: OnceLock::new(),
        }
    }

    /// Reads one path. An answer of any status is an answer.
    pub(super) async fn get(&self, contact: &Contact, route: &Route) -> Result<Answer, Fault> {
        let octocrab = self.octocrab.get_or_init(|| over(Hatch));
        let (desk, mut errands) = mpsc::channel::<Errand>(1);
        let uri = route.uri().ok_or_else(|| broken("the path is too long"))?;
        let asked = Request::get(uri).extension(desk);
        let asked = octocrab
            .build_request(asked, None::<&()>)
            .map_err(|_| broken("the request could not be written"))?;
        let mut fault = None;
        // Ends when octocrab has let go of the desk, whatever came of it.
        let running = async {
            while let Some(errand) = errands.recv().await {
                match self.reader.get(contact, &errand.path).await {
                    Ok(answer) => drop(errand.reply.send(answer)),
                    Err(why) => fault = Some(why),
                }
            }
        };
        let (answered, ()) = tokio::join!(octocrab.execute(asked), running);
        match (answered, fault) {
            (Ok(response), None) => whole(response).await,
            (_, Some(fault)) => Err(fault),
            (Err(_), None) => Err(broken("the request could not be carried")),
        }
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Transport({:?})", self.reader)
    }
}

/// A path that is to be read, and where its answer goes.
struct Errand {
    path: ReadPath,
    reply: oneshot::Sender<Answer>,
}

/// What of an answer has no place in a response.
#[derive(Clone)]
struct Beside {
    status_text: Option<String>,
    moved_to: Option<String>,
}

/// The service under octocrab.
#[derive(Debug, Clone, Copy)]
struct Hatch;

/// Why the service carried nothing.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error("only GET is carried")]
    Verb,
    #[error("an address with a host, or one that is no text")]
    Address,
    #[error("nobody reads for this request")]
    Nobody,
}

impl Service<Request<OctoBody>> for Hatch {
    type Response = Response<Full<Bytes>>;
    type Error = Refused;
    type Future = BoxFuture<'static, Result<Self::Response, Refused>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Refused>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<OctoBody>) -> Self::Future {
        Box::pin(hand_over(request))
    }
}

// Of what octocrab made of the request only path and query go on: headers are the reader's, and there is no body.
async fn hand_over(mut request: Request<OctoBody>) -> Result<Response<Full<Bytes>>, Refused> {
    if *request.method() != Method::GET {
        return Err(Refused::Verb);
    }
    let desk = request.extensions_mut().remove::<mpsc::Sender<Errand>>();
    let desk = desk.ok_or(Refused::Nobody)?;
    let route = Route::of_uri(request.uri()).ok_or(Refused::Address)?;
    let (reply, answer) = oneshot::channel();
    let errand = Errand {
        path: route.to_read(),
        reply,
    };
    desk.send(errand).await.map_err(|_| Refused::Nobody)?;
    answer.await.map(response).map_err(|_| Refused::Nobody)
}

fn response(answer: Answer) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(answer.body));
    *response.status_mut() = answer.status;
    *response.headers_mut() = answer.headers;
    response.extensions_mut().insert(Beside {
        status_text: answer.status_text,
        moved_to: answer.moved_to,
    });
    response
}

async fn whole(response: Response<BoxBody<Bytes, octocrab::Error>>) -> Result<Answer, Fault> {
    let (mut head, body) = response.into_parts();
    let body = body
        .collect()
        .await
        .map_err(|_| broken("the answer could not be taken over"))?;
    let beside = head.extensions.remove::<Beside>();
    let (status_text, moved_to) = beside.map_or((None, None), |beside| (beside.status_text, beside.moved_to));
    Ok(Answer {
        status: head.status,
        status_text,
        headers: head.headers,
        body: body.to_bytes(),
        moved_to,
    })
}

fn over(service: Hatch) -> Octocrab {
    let built = OctocrabBuilder::new_empty()
        .with_service(service)
        .with_auth(AuthState::None)
        .build();
    match built {
        Ok(octocrab) => octocrab,
        Err(never) => match never as Infallible {},
    }
}

fn broken(what: &str) -> Fault {
    Fault {
        error: UpstreamError::Failed,
        detail: format!("{what}; this is a fault of the gateway"),
    }
}

#[cfg(test)]
mod tests;
