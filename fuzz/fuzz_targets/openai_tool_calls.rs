//! Bodies of `POST /openai/v1/tool_calls` before a core that is never there: whatever is sent is answered. A turn is
//! answered call by call, each id once; what is no turn is the caller's fault, never ours.
#![no_main]

use std::{cell::OnceCell, collections::HashSet, thread_local};

use axum::{
    Router,
    body::{Body, to_bytes},
};
use http::Request;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
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
    let request = Request::post("/openai/v1/tool_calls")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .body(Body::from(body.to_vec()))
        .expect("a request");
    let (status, answer) = GROUND.with(|ground| {
        let (runtime, router) = ground.get_or_init(self::ground);
        runtime.block_on(async {
            let answer = router.clone().oneshot(request).await.expect("a router never fails");
            let status = answer.status().as_u16();
            (status, to_bytes(answer.into_body(), usize::MAX).await.expect("a whole body"))
        })
    });
    // Without a core, a turn in which nothing can be carried out is an internal fault, because nobody says who asks.
    assert!(matches!(status, 200 | 400 | 413 | 500 | 503), "{status}");
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace());
    assert!(matches!(first, Some(b'{' | b'[')) || status < 500, "{status}");
    if status != 200 {
        return;
    }
    let answer: Value = serde_json::from_slice(&answer).expect("an answer is JSON");
    let (list, id) = match answer.get("messages") {
        Some(messages) => (messages, "tool_call_id"),
        None => (&answer["output"], "call_id"),
    };
    let ids: Vec<_> = list.as_array().expect("a list").iter().map(|entry| entry[id].as_str().expect("an id")).collect();
    let once: HashSet<_> = ids.iter().collect();
    assert_eq!(once.len(), ids.len(), "an id is answered twice");
    assert!((1..=128).contains(&ids.len()), "{}", ids.len());
});
