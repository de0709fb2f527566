use std::sync::{Arc, Mutex};

use metrics::{CounterFn, Gauge, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use tower::ServiceExt;

use crate::{CoreService, FacadeConfig};

/// Writes down which series were counted.
#[derive(Default)]
struct Notebook(Arc<Mutex<Vec<String>>>);

struct Line(String, Arc<Mutex<Vec<String>>>);

impl CounterFn for Line {
    fn increment(&self, _: u64) {
        self.1.lock().unwrap().push(self.0.clone());
    }

    fn absolute(&self, _: u64) {}
}

impl Recorder for Notebook {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> metrics::Counter {
        let labels: Vec<_> = key.labels().map(metrics::Label::value).collect();
        let line = format!("{} {}", key.name(), labels.join(" "));
        metrics::Counter::from_arc(Arc::new(Line(line, Arc::clone(&self.0))))
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> metrics::Histogram {
        metrics::Histogram::noop()
    }
}

#[test]
fn requests_are_counted_by_template_and_never_by_what_a_caller_wrote() {
    let core = tower::service_fn(|_| async { Err::<http::Response<tonic::body::Body>, _>("no core".into()) });
    let router = crate::router(CoreService::new(core), &FacadeConfig::default()).unwrap();
    let notebook = Notebook::default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    metrics::with_local_recorder(&notebook, || {
        for (verb, path, host) in [
            ("GET", "/healthz", "localhost"),
            ("GET", "/api/mcp/stream/01SECRET", "localhost"),
            ("GET", "/api/mcp/adapter/01SECRET?x=y", "localhost"),
            ("DELETE", "/api/tokens/01SECRET", "evil.example"),
            ("BREW", "/01SECRET", "localhost"),
        ] {
            let request = http::Request::builder()
                .method(verb)
                .uri(path)
                .header("host", host);
            let request = request.body(axum::body::Body::empty()).unwrap();
            runtime.block_on(router.clone().oneshot(request)).unwrap();
        }
    });
    let lines = notebook.0.lock().unwrap();
    assert_eq!(
        *lines,
        [
            "toolgate_http_requests_total /healthz GET 2xx",
            "toolgate_http_requests_total /api/mcp/stream/{correlation_id} GET 5xx",
            "toolgate_http_failures_total INTERNAL",
            "toolgate_http_requests_total /api/mcp/adapter/{id} GET 4xx",
            "toolgate_http_failures_total REQUEST_MALFORMED",
            "toolgate_http_requests_total /api/tokens/{id} DELETE 4xx",
            "toolgate_http_failures_total ORIGIN_FORBIDDEN",
            "toolgate_http_requests_total unmatched other 4xx",
            "toolgate_http_failures_total RESOURCE_NOT_FOUND",
        ]
    );
}
