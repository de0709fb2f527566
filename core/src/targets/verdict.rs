//! What is known of a host: nothing before its relay enrolled, and that it proved its key once it has.

use serde_json::{Value, json};

/// Before the relay has enrolled.
pub(super) fn pending() -> Value {
    json!({"verdict": "pending", "stages": [], "notProvable": []})
}

/// Once the relay has proved its key and redeemed its token.
pub(super) fn enrolled() -> Value {
    json!({"verdict": "passed", "stages": [{"name": "enrolment", "ok": true, "ms": 0}], "notProvable": []})
}
