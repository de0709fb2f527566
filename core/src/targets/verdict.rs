//! What is known of a host: nothing before its relay enrolled, that it proved its key once it has, and whether an
//! admin or the alarm has shut it out since. The marks stay until a relay enrols anew; they are told as the status.

use serde_json::{Value, json};

/// Before the relay has enrolled.
pub(super) fn pending() -> Value {
    json!({"verdict": "pending", "stages": [], "notProvable": []})
}

/// Once an admin has revoked the relay.
pub(super) fn revoked() -> Value {
    json!({"verdict": "pending", "stages": [], "notProvable": [], "revoked": true})
}

/// Once two holders of the relay's key took turns.
pub(super) fn locked() -> Value {
    let stage = json!({"name": "relay", "ok": false, "ms": 0, "reason": "its key was in use twice"});
    json!({"verdict": "failed", "stages": [stage], "notProvable": [], "locked": true})
}

/// Once the relay has proved its key and redeemed its token.
pub(super) fn enrolled() -> Value {
    json!({"verdict": "passed", "stages": [{"name": "enrolment", "ok": true, "ms": 0}], "notProvable": []})
}
