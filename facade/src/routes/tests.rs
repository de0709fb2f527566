use axum::body::{Body, to_bytes};
use tower::{ServiceExt, service_fn};

use super::*;

/// Every template as a path that it matches.
fn paths() -> Vec<String> {
    let filled = |template: &str| -> String {
        let parts = template.split('/').map(|part| match part.starts_with('{') {
            true => "x",
            false => part,
        });
        parts.collect::<Vec<_>>().join("/")
    };
    templates().map(filled).collect()
}

fn asked(method: &str, path: &str, headers: &[(&str, &str)]) -> Request {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::empty()).unwrap()
}

fn router_over_a_core_that_is_never_asked() -> Router {
    let core = service_fn(async |_| -> Result<_, tower::BoxError> { panic!("the core was asked") });
    router(CoreService::new(core), &FacadeConfig::default()).unwrap()
}

#[tokio::test]
async fn no_path_with_any_method_is_served_to_a_foreign_host_or_origin() {
    let router = router_over_a_core_that_is_never_asked();
    let paths = paths();
    for family in [
        "/api/",
        "/mcp",
        "/openai/",
        "/.well-known/",
        "/healthz",
        "/uplink",
    ] {
        assert!(paths.iter().any(|path| path.starts_with(family)), "{family}");
    }
    for path in &paths {
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"] {
            for foreign in [
                &[("host", "evil.example")][..],
                &[("host", "127.0.0.1.evil.example")],
                &[("host", "localhost:7600"), ("origin", "https://evil.example")],
                &[
                    ("host", "localhost:7600"),
                    ("origin", "http://localhost:7600.evil.example"),
                ],
                &[("host", "localhost:7600"), ("origin", "null")],
                &[("host", "localhost:7600"), ("host", "evil.example")],
                &[("host", "evil.example"), ("authorization", "Bearer tgk_t_secret")],
                &[],
            ] {
                let answer = router
                    .clone()
                    .oneshot(asked(method, path, foreign))
                    .await
                    .unwrap();
                assert_eq!(answer.status(), 403, "{method} {path} {foreign:?}");
            }
        }
    }
}

#[tokio::test]
async fn every_path_of_the_metrics_is_served() {
    let core = service_fn(async |_| -> Result<_, tower::BoxError> { Err("nobody is there".into()) });
    let router = router(CoreService::new(core), &FacadeConfig::default()).unwrap();
    for path in paths() {
        let request = asked("BREW", &path, &[("host", "localhost:7600")]);
        let answer = router.clone().oneshot(request).await.unwrap();
        let status = answer.status();
        let body = to_bytes(answer.into_body(), 1 << 20).await.unwrap();
        assert_eq!(status, 405, "{path} {body:?}");
    }
}
