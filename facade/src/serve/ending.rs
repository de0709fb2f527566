//! The steps of an end, each told by a token of its own.
//!
//! Told to stop → no new requests → streams that only wait end → connections are cut. Uplinks come last: calls in
//! flight travel over them.

use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// What tells the parts of the facade how far the end has come. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ending {
    /// The operator told us to stop; probes say so at once.
    pub(crate) told: CancellationToken,
    /// No new request is carried out.
    pub(crate) closed: CancellationToken,
    /// Streams with nothing to say end, so that their readers look elsewhere.
    pub(crate) waited: CancellationToken,
    /// Every connection ends now.
    pub(crate) cut: CancellationToken,
    /// Uplinks close.
    pub(crate) uplinks: CancellationToken,
    /// The tasks of uplinks; those of requests are counted apart.
    pub(crate) bridges: TaskTracker,
}

impl Ending {
    pub(crate) fn when(told: CancellationToken) -> Self {
        Self {
            told,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use http::{Request, StatusCode};
    use tokio_util::task::TaskTracker;
    use tower::ServiceExt;

    use super::Ending;
    use crate::{CoreService, FacadeConfig, routes};

    #[tokio::test]
    async fn whoever_comes_after_the_doors_closed_is_told_when_to_come_back() {
        let core =
            tower::service_fn(|_| async { Err::<http::Response<tonic::body::Body>, _>("no core".into()) });
        let ending = Ending::default();
        let router = routes::build(
            CoreService::new(core),
            &FacadeConfig::default(),
            TaskTracker::new(),
            ending.clone(),
        )
        .unwrap();
        let ask = async |path: &str| {
            let request = Request::get(path)
                .header("host", "localhost")
                .body(axum::body::Body::empty());
            router.clone().oneshot(request.unwrap()).await.unwrap()
        };
        ending.told.cancel();
        assert_eq!(ask("/readyz").await.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(
            ask("/openapi.json").await.status(),
            StatusCode::OK,
            "told, not closed yet"
        );
        ending.closed.cancel();
        let late = ask("/openapi.json").await;
        assert_eq!(late.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(late.headers()["retry-after"], "3");
        for probe in ["/healthz", "/metrics"] {
            assert_eq!(ask(probe).await.status(), StatusCode::OK, "{probe}");
        }
    }
}
