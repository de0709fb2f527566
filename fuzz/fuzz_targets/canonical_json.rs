//! Canonical JSON: what is taken is JSON to others as well, its form is stable, and taking an argument out keeps it so.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolgate_core::canonical::CanonicalJson;

fuzz_target!(|text: &[u8]| {
    let Ok(mut json) = CanonicalJson::parse(text) else {
        return;
    };
    assert!(
        serde_json::from_slice::<serde_json::Value>(text).is_ok(),
        "others refuse it"
    );
    stable(&json);
    if json.is_object() && json.remove_string("target_id").is_ok() {
        stable(&json);
        assert_eq!(json.string("target_id"), None);
    }
});

fn stable(json: &CanonicalJson) {
    let again = CanonicalJson::parse(json.as_bytes()).expect("the canonical form is taken again");
    assert_eq!(again.as_bytes(), json.as_bytes());
}
