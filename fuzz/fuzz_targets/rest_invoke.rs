//! Bodies of `POST /api/mcp/invoke` before a core that is never there: whatever is sent is answered, and what is wrong
//! with it is the caller's fault, never ours.
#![no_main]

use std::{cell::OnceCell, thread_local};

use axum::{Router, body::Body};
use http::Request;
use libfuzzer_sys::fuzz_target;
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
    let request = Request::post("/api/mcp/invoke")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .body(Body::from(body.to_vec()))
        .expect("a request");
    let answer = GROUND.with(|ground| {
        let (runtime, router) = ground.get_or_init(self::ground);
        runtime.block_on(router.clone().oneshot(request))
    });
    let status = answer.expect("a router never fails").status().as_u16();
    // Without a core, a good body is an internal fault; anything else is refused before.
    assert!(matches!(status, 400 | 413 | 500 | 503), "{status}");
    let is_object = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(body).is_ok();
    assert!(is_object || status < 500, "{status}");
});
