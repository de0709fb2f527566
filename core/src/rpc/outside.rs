//! Around the services: what the transport and the generated code would refuse by themselves.
//!
//! A deadline that cannot be read or has passed, a message that cannot be read or is too long: no method ever sees
//! them. Here they get a reason of ours and are counted on the record like any other refusal. Holds no rules of calls.

use std::{future::Future, net::IpAddr, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, header::AUTHORIZATION};
use tokio::time::timeout;
use tonic::{Code, Status, body::Body, metadata::MetadataMap, transport::server::TcpConnectInfo};
use toolgate_contract::v1::{ErrorReason, Failure};

use super::ask;
use crate::{
    broker::{Broker, Door},
    error::Error,
};

/// What counts a refusal: who asked, as far as the request tells.
const TELLING: [HeaderName; 3] = [
    AUTHORIZATION,
    HeaderName::from_static("toolgate-facade"),
    HeaderName::from_static("toolgate-source"),
];

/// One request as seen from outside of its method.
#[derive(Debug)]
pub(super) struct Outside {
    broker: Broker,
    asker: HeaderMap,
    door: Door,
    peer: Option<IpAddr>,
    deadline: Result<Option<Duration>, Error>,
}

impl Outside {
    pub(super) fn of(broker: Broker, request: &Request<Body>, door: Door) -> Self {
        let headers = request.headers();
        let mut asker = HeaderMap::new();
        for name in TELLING {
            if let Some(value) = headers.get(&name) {
                asker.insert(name, HeaderValue::clone(value));
            }
        }
        let connection = request.extensions().get::<TcpConnectInfo>();
        Self {
            broker,
            asker,
            door,
            peer: connection
                .and_then(TcpConnectInfo::remote_addr)
                .map(|addr| addr.ip()),
            deadline: ask::deadline(headers),
        }
    }

    /// Whether the request may go in: its deadline can be read and has not passed.
    pub(super) fn is_open(&self) -> bool {
        self.deadline
            .as_ref()
            .is_ok_and(|left| *left != Some(Duration::ZERO))
    }

    /// The answer of a request that may not.
    pub(super) async fn closed(mut self) -> Response<Body> {
        let deadline = std::mem::replace(&mut self.deadline, Ok(None));
        let error = deadline.err().unwrap_or(Error::DeadlineExceeded);
        self.refuse(error.into_failure(None)).await
    }

    /// The method's answer within the deadline, or ours where the method never ran.
    pub(super) async fn watch<E>(
        self,
        answer: impl Future<Output = Result<Response<Body>, E>>,
    ) -> Result<Response<Body>, E> {
        let response = match self.deadline {
            // A little before it the broker gave up on its own and settled the call; this is for all else.
            Ok(Some(left)) => match timeout(left, answer).await {
                Ok(response) => response?,
                Err(_) => return Ok(self.refuse(Error::DeadlineExceeded.into_failure(None)).await),
            },
            _ => answer.await?,
        };
        match unread(response.headers()) {
            Some(failure) => Ok(self.refuse(failure).await),
            None => Ok(response),
        }
    }

    async fn refuse(self, failure: Failure) -> Response<Body> {
        let asker = MetadataMap::from_headers(self.asker);
        let ask = ask::from(&asker, self.door, self.peer);
        self.broker.refused_outside(&ask, failure.reason()).await;
        failure.into_status().into_http()
    }
}

/// The failure of a request whose message was not read: a status without details of ours, which every refusal of a
/// method has.
fn unread(headers: &HeaderMap) -> Option<Failure> {
    if !headers.contains_key(Status::GRPC_STATUS) {
        return None;
    }
    let status = Status::from_header_map(headers)?;
    if !status.details().is_empty() {
        return None;
    }
    let (reason, text) = match status.code() {
        // The generated code says that a message which cannot be decoded is a fault of ours.
        Code::Internal => (
            ErrorReason::RequestMalformed,
            format!("the request message cannot be read: {}", place(status.message())),
        ),
        Code::InvalidArgument => (ErrorReason::RequestMalformed, status.message().to_owned()),
        Code::OutOfRange => (
            ErrorReason::RequestTooLarge,
            "the request message is longer than this method takes; send less at once".to_owned(),
        ),
        _ => return None,
    };
    Some(Failure::new(reason, text))
}

/// The decoder's text from the place on.
fn place(text: &str) -> &str {
    text.strip_prefix("failed to decode Protobuf message: ")
        .unwrap_or(text)
}
