//! Metrics of requests, with closed label sets: route template, method, class of status, reason of refusal.
//!
//! Handles are looked up once per label set and kept, so that a request costs two atomic writes. No path, header or
//! text of a caller ever becomes a label.

use std::{collections::HashMap, sync::OnceLock, time::Duration};

use axum::response::Response;
use http::Method;
use metrics::{Counter, Histogram, counter, histogram};
use toolgate_contract::v1::ErrorReason;

/// Label of requests that met no route.
const UNMATCHED: &str = "unmatched";
const METHODS: [&str; 6] = ["GET", "POST", "PUT", "PATCH", "DELETE", "other"];
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// The handles of every route.
#[derive(Debug)]
pub(crate) struct Gauges {
    routes: HashMap<&'static str, Route>,
    unmatched: Route,
}

#[derive(Debug)]
struct Route {
    template: &'static str,
    methods: [Handles; METHODS.len()],
}

#[derive(Debug, Default)]
struct Handles {
    answers: [OnceLock<Counter>; CLASSES.len()],
    seconds: OnceLock<Histogram>,
}

/// Where a request is counted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    template: Option<&'static str>,
    method: usize,
}

impl Gauges {
    pub(crate) fn new(templates: impl IntoIterator<Item = &'static str>) -> Self {
        let routes = templates
            .into_iter()
            .map(|template| (template, Route::new(template)))
            .collect();
        Self {
            routes,
            unmatched: Route::new(UNMATCHED),
        }
    }

    pub(crate) fn place(&self, template: &str, method: &Method) -> Place {
        let method = METHODS
            .iter()
            .position(|name| *name == method.as_str())
            .unwrap_or(METHODS.len() - 1);
        Place {
            template: self.routes.get_key_value(template).map(|(template, _)| *template),
            method,
        }
    }

    /// Counts an answer. Streams are measured to their first byte.
    pub(crate) fn observe(&self, place: Place, response: &Response, took: Duration) {
        let route = place
            .template
            .and_then(|template| self.routes.get(template))
            .unwrap_or(&self.unmatched);
        route.observe(place.method, response.status().as_u16(), took);
        if let Some(reason) = response.extensions().get::<ErrorReason>() {
            counter!("toolgate_http_failures_total", "reason" => reason.name()).increment(1);
        }
    }
}

impl Route {
    fn new(template: &'static str) -> Self {
        Self {
            template,
            methods: Default::default(),
        }
    }

    fn observe(&self, method: usize, status: u16, took: Duration) {
        let class = usize::from(status / 100).clamp(1, CLASSES.len()) - 1;
        let (template, name) = (self.template, METHODS[method]);
        let handles = &self.methods[method];
        handles.answers[class]
            .get_or_init(|| {
                counter!("toolgate_http_requests_total",
                    "route" => template, "method" => name, "status" => CLASSES[class])
            })
            .increment(1);
        handles.seconds
            .get_or_init(|| {
                histogram!("toolgate_http_request_duration_seconds", "route" => template, "method" => name)
            })
            .record(took.as_secs_f64());
    }
}

#[cfg(test)]
mod tests;
