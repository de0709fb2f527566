//! What the metrics of the facade are, in words. Their names stand where they are counted, and in `docs/metrics.md`.

use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge};

/// Tells whoever reads the metrics; those without labels begin at zero.
pub(crate) fn describe() {
    describe_counter!(
        "toolgate_http_requests_total",
        "Answers given over HTTP, by route template, method and class of status"
    );
    describe_histogram!(
        "toolgate_http_request_duration_seconds",
        Unit::Seconds,
        "Time from the head of a request to the head of its answer"
    );
    describe_counter!(
        "toolgate_http_failures_total",
        "Answers that were failures, by reason"
    );
    describe_gauge!("toolgate_http_connections", "Connections that are open now");
    describe_gauge!("toolgate_uplink_sockets", "Sockets of relays that are open now");
    describe_counter!(
        "toolgate_http_refusals_unreported_total",
        "Refusals of the facade that the core could not be told, so that the record does not count them"
    );
    describe_gauge!(
        "toolgate_mcp_streams",
        "Streams that only listen for changes of the list of tools and are open now"
    );
    gauge!("toolgate_http_connections").increment(0);
    gauge!("toolgate_mcp_streams").increment(0);
    gauge!("toolgate_uplink_sockets").increment(0);
    counter!("toolgate_http_refusals_unreported_total").absolute(0);
}
