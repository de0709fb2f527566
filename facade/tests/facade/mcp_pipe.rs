//! The pipe to a project's server over HTTP: nothing of what is said changes, and everything around it is the gateway's.

use std::time::Duration;

use bytes::Bytes;
use proptest::{prelude::*, test_runner::TestRunner};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tonic::Status;
use toolgate_contract::v1::{
    ErrorReason, ExchangeError, ExchangeResponse, ExchangeResult, Failure, ListenResponse,
    ServerNotification, ServerRequest, client_answer, exchange_response::Event, listen_response,
    tell_request,
};
use toolgate_facade::FacadeConfig;

use crate::{
    client::{self, Answer, Live},
    core::{CALL_ID, ScriptedCore, event},
    mcp::{BOTH, MODERN, initialize, modern_meta, request},
    world::World,
};

mod conversations;
mod endings;
mod newest_revision;
mod rim;
mod unchanged;

const PATH: &str = "/mcp/project/alpha";

impl World {
    async fn pipe(&self, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Answer {
        one(client::send(self.address, self.piped(headers, body)).await)
    }

    fn piped(
        &self,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> http::Request<http_body_util::Full<Bytes>> {
        let mut all = vec![BOTH, ("content-type", "application/json")];
        all.retain(|(name, _)| !headers.iter().any(|(other, _)| other == name));
        all.extend_from_slice(headers);
        self.request("POST", PATH, &all, body)
    }

    async fn live_pipe(&self, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Live {
        client::live(self.address, self.piped(headers, body)).await
    }

    /// Begins a conversation and gives its session.
    async fn conversation(&self) -> String {
        let answer = self
            .pipe(&[], request(0, "initialize", initialize("2025-11-25")))
            .await;
        assert_eq!(answer.status, 200, "{:?}", answer.body);
        answer.header("mcp-session-id").to_owned()
    }

    fn told(&self) -> Vec<(Option<String>, tell_request::Message)> {
        let told = self.core.pipe.told.borrow().clone();
        told.into_iter()
            .map(|(session, told)| (session, told.message.unwrap()))
            .collect()
    }
}

/// An answer that is a stream of one message, as if it were that message.
fn one(mut answer: Answer) -> Answer {
    if answer.header("content-type") == "text/event-stream"
        && let [message] = &data(answer.text())[..]
    {
        answer.body = message.clone().into();
    }
    answer
}

fn result(result: &str) -> Event {
    Event::Result(ExchangeResult {
        result: result.to_owned().into(),
        correlation_id: CALL_ID.into(),
        session_id: String::new(),
    })
}

fn says(method: &str, params: &str) -> Event {
    Event::Notification(ServerNotification {
        method: method.into(),
        params: params.to_owned().into(),
    })
}

fn asks(id: &str, method: &str, params: &str) -> Event {
    Event::Request(ServerRequest {
        id: id.into(),
        method: method.into(),
        params: params.to_owned().into(),
    })
}

async fn tell(script: &mpsc::Sender<Result<ExchangeResponse, Status>>, event_: Event) {
    script.send(event(event_)).await.unwrap();
}

/// The data of a stream, line by line, as it was written.
fn data(text: &str) -> Vec<String> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| !data.is_empty()).map(str::to_owned).collect()
}

/// A request of the newest revision.
async fn modern(world: &World, method: &str, mut params: Value, headers: &[(&str, &str)]) -> Answer {
    let mut meta = modern_meta();
    if let Some(given) = params.get("_meta").and_then(Value::as_object) {
        meta.as_object_mut().unwrap().extend(given.clone());
    }
    params["_meta"] = meta;
    let mut all = vec![("mcp-protocol-version", MODERN), ("mcp-method", method)];
    all.extend_from_slice(headers);
    world.pipe(&all, request(1, method, params)).await
}
