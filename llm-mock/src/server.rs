//! The three routes, the limits of a request, and the end of the server.

use std::{collections::HashMap, sync::Arc, time::Duration};

use axum::{
    Json, Router,
    body::{Body, Bytes, to_bytes},
    extract::State,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::oneshot, time::timeout};

use crate::{
    chat,
    conversation::text,
    refusal::Refusal,
    responses,
    script::Script,
    seen::{Seen, SeenLog},
    stamp::CREATED,
};

const BODY: usize = 4 << 20;
const ARRIVAL: Duration = Duration::from_secs(10);
const FAREWELL: Duration = Duration::from_secs(2);

/// A request, read as JSON, with the script of the model that it names.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) script: &'a Script,
    pub(crate) body: &'a Value,
    pub(crate) bytes: &'a [u8],
}

#[derive(Debug, Clone)]
struct Shared {
    scripts: Arc<HashMap<String, Script>>,
    seen: SeenLog,
}

type Dialect = fn(&Asked<'_>) -> Result<Response, Refusal>;

pub(crate) fn router(script: Script, seen: SeenLog) -> Router {
    let all = Script::builtin().unwrap_or_default();
    let mut scripts: HashMap<String, Script> = all.into_iter().map(by_name).collect();
    scripts.extend([by_name(script)]);
    let shared = Shared {
        scripts: Arc::new(scripts),
        seen,
    };
    Router::new()
        .route("/v1/models", get(models))
        .route("/v1/chat/completions", post(completions))
        .route("/v1/responses", post(respond))
        .fallback(|| async { Refusal::unknown_path() })
        .with_state(shared)
}

/// Serves until it is told to stop, and what is under way a moment longer.
pub(crate) async fn serve(listener: TcpListener, router: Router, stopped: oneshot::Receiver<()>) {
    let (leave, left) = oneshot::channel();
    let told = async {
        let _ = stopped.await;
        let _ = leave.send(());
    };
    let server = axum::serve(listener, router).with_graceful_shutdown(told);
    tokio::select! {
        _ = server => {}
        () = async { let _ = left.await; tokio::time::sleep(FAREWELL).await } => {}
    }
}

async fn models(State(shared): State<Shared>) -> Response {
    let mut names: Vec<&String> = shared.scripts.keys().collect();
    names.sort();
    let model =
        |name| json!({"id": name, "object": "model", "created": CREATED, "owned_by": "toolgate-llm-mock"});
    let data: Vec<Value> = names.into_iter().map(model).collect();
    Json(json!({"object": "list", "data": data})).into_response()
}

async fn completions(State(shared): State<Shared>, body: Body) -> Result<Response, Refusal> {
    shared.answer("/v1/chat/completions", body, chat::answer).await
}

async fn respond(State(shared): State<Shared>, body: Body) -> Result<Response, Refusal> {
    shared.answer("/v1/responses", body, responses::answer).await
}

impl Shared {
    async fn answer(&self, path: &'static str, body: Body, dialect: Dialect) -> Result<Response, Refusal> {
        let bytes = read(body).await?;
        let body: Value = serde_json::from_slice(&bytes)
            .map_err(|_| Refusal::body("We could not parse the JSON body of your request."))?;
        self.seen.push(Seen {
            path,
            body: body.clone(),
        });
        if !body.is_object() {
            return Err(Refusal::body("The body must be a JSON object."));
        }
        let model = text(&body, "model", "")?;
        let script = self
            .scripts
            .get(model)
            .ok_or_else(|| Refusal::unknown_model(model))?;
        dialect(&Asked {
            script,
            body: &body,
            bytes: &bytes,
        })
    }
}

async fn read(body: Body) -> Result<Bytes, Refusal> {
    match timeout(ARRIVAL, to_bytes(body, BODY)).await {
        Ok(read) => read.map_err(|_| Refusal::too_large()),
        Err(_) => Err(Refusal::too_slow()),
    }
}

fn by_name(script: Script) -> (String, Script) {
    (script.model().to_owned(), script)
}

#[cfg(test)]
mod tests;
