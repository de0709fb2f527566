//! Bodies of `POST /mcp` before a core that is never there: whatever is sent is answered by a status that fits it, and
//! what is no message is the caller's fault, never ours.
#![no_main]

use std::{cell::OnceCell, thread_local};

use axum::{Router, body::Body};
use http::Request;
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};
use tokio::runtime::{Builder, Runtime};
use toolgate_facade::{CoreService, FacadeConfig};
use tower::ServiceExt;

thread_local! {
    static GROUND: OnceCell<(Runtime, Router)> = const { OnceCell::new() };
}

fn ground() -> (Runtime, Router) {
    let core = tower::service_fn(|_| async { Err::<http::Response<tonic::body::Body>, _>("no core".into()) });
    let router = toolgate_facade::router(CoreService::new(core), &FacadeConfig::default());
    let runtime = Builder::new_current_thread().enable_time().build();
    (runtime.expect("a runtime"), router.expect("a router"))
}

fuzz_target!(|body: &[u8]| {
    let request = Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(Body::from(body.to_vec()))
        .expect("a request");
    let (status, answer) = GROUND.with(|ground| {
        let (runtime, router) = ground.get_or_init(self::ground);
        runtime.block_on(async {
            let answer = router.clone().oneshot(request).await.expect("a router never fails");
            let status = answer.status().as_u16();
            let body = axum::body::to_bytes(answer.into_body(), 1 << 22).await;
            (status, body.expect("a body"))
        })
    });
    assert!(matches!(status, 200 | 202 | 400 | 404 | 413 | 500 | 503), "{status}");
    let message: Option<Map<String, Value>> = serde_json::from_slice(body).ok();
    let is_message = message.is_some_and(|message| message.get("jsonrpc") == Some(&Value::from("2.0")));
    // Only a message can meet the core that is not there.
    assert!(is_message || matches!(status, 400 | 413), "{status}");
    if !answer.is_empty() {
        let told: Value = serde_json::from_slice(&answer).expect("an answer is JSON");
        assert!(told["error"]["code"].is_i64() || told["result"].is_object(), "{told}");
        assert!(!answer.contains(&b'\n'));
    }
});
