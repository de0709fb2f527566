use std::time::Duration;

use super::*;
use crate::adapters::{Grants, Violation};

fn found() -> Validation {
    let stage = |name, failed: Option<&str>| Stage {
        name,
        took: Duration::from_millis(7),
        failed: failed.map(str::to_owned),
        mends: None,
    };
    Validation {
        verdict: Verdict::Violation(Violation {
            of: Grants::Roles,
            what: "VM.PowerMgmt is too much".into(),
            wider: true,
        }),
        stages: vec![
            stage("reach", None),
            stage("privileges", Some("VM.PowerMgmt\u{1b}[2J\u{202e}")),
        ],
        proven: vec!["VM.Audit".into()],
        wider: vec!["VM.PowerMgmt".into()],
        not_provable: vec![],
        facts: Map::from_iter([("version".into(), json!("9.1"))]),
    }
}

#[test]
fn what_is_stored_is_plain_and_keeps_facts_that_were_not_learned_anew() {
    let stored = stored(&found(), Some(&json!({"version": "8", "realm": "pam"})), 5);
    assert_eq!(
        stored,
        json!({
            "verdict": "failed",
            "stages": [
                {"name": "reach", "ok": true, "ms": 7},
                {"name": "privileges", "ok": false, "ms": 7, "reason": "VM.PowerMgmt [2J "},
            ],
            "notProvable": [],
            "proven": ["VM.Audit"],
            "wider": ["VM.PowerMgmt"],
            "facts": {"version": "9.1", "realm": "pam"},
            "checkedUs": 5,
        })
    );
}

#[test]
fn what_is_told_fits_beside_an_error_and_counts_what_it_leaves_out() {
    let mut many = found();
    many.wider = (0..500).map(|n| format!("{n}{}", "ä".repeat(1_000))).collect();
    let told = told(&stored(&many, None, 1_767_225_600_000_000));
    assert!(told.len() <= MOST_TOLD, "{}", told.len());
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["stages"][1]["reason"], "VM.PowerMgmt [2J ");
    assert_eq!(told["checkedAt"], "2026-01-01T00:00:00.000000Z");
    let last = told["wider"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .as_str()
        .unwrap();
    assert!(last.starts_with("and ") && last.ends_with(" more"), "{last}");
    assert_eq!(told.get("facts"), None);
}

#[test]
fn the_record_names_stages_and_findings_and_leaves_empty_lists_out() {
    let detail = on_record(&stored(&found(), None, 5));
    assert_eq!(
        Value::Object(detail),
        json!({
            "validation": "failed",
            "stages": ["reach", "privileges"],
            "proven": ["VM.Audit"],
            "wider": ["VM.PowerMgmt"],
            "failed": "VM.PowerMgmt [2J ",
            "facts": {"version": "9.1"},
        })
    );
}
