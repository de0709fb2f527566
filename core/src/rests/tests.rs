use std::time::Duration;

use proptest::prelude::*;
use serde_json::Value;
use toolgate_contract::v1::ErrorReason;

use super::*;
use crate::{clock::Clock, identity::Role};

fn principal(tenant: &str, name: &str) -> Principal {
    let number = tenant.bytes().map(usize::from).sum::<usize>() % 100;
    Principal {
        tenant: format!("01JDZ3V8Q4T7X9K2M5N6P8R0{number:02}").parse().unwrap(),
        name: name.into(),
        role: Role::Agent,
        pinned: None,
    }
}

fn result(blocks: &Value, structured: Option<&Value>) -> Arc<ToolResult> {
    Arc::new(ToolResult {
        content: to_raw_value(blocks).unwrap(),
        structured: structured.map(|value| to_raw_value(value).unwrap()),
        is_error: false,
        raw: None,
    })
}

fn text(text: &str) -> Arc<ToolResult> {
    result(&json!([{"type": "text", "text": text}]), None)
}

fn texts(capped: &Capped) -> Vec<String> {
    let blocks: Vec<Value> = serde_json::from_str(capped.result.content.get()).unwrap();
    blocks
        .iter()
        .map(|block| block["text"].as_str().unwrap().to_owned())
        .collect()
}

/// All parts, without the blocks that say that there are more.
fn whole(rests: &Rests, first: Capped, most: usize, owner: &Principal) -> Vec<String> {
    let mut parts = Vec::new();
    let mut capped = first;
    loop {
        let mut blocks = texts(&capped);
        let Some(cursor) = capped.cursor else {
            parts.extend(blocks);
            return parts;
        };
        let trailer = blocks.pop().unwrap();
        assert!(trailer.contains(&cursor), "{trailer}");
        parts.extend(blocks);
        capped = rests.fetch(&cursor, most, owner).unwrap();
    }
}

#[test]
fn what_fits_stays_as_it_is() {
    let (rests, owner) = (Rests::new(Clock::manual(0)), principal("acme", "bot"));
    let fitting = result(
        &json!([{"type": "text", "text": "x"}, {"type": "image", "data": "AA=="}]),
        Some(&json!({"a": 1})),
    );
    let capped = rests.cap(Arc::clone(&fitting), 1_000, &owner);
    assert!(Arc::ptr_eq(&fitting, &capped.result) && capped.cursor.is_none());
    // Ten quotes are twenty bytes of JSON, and ten of text.
    let quotes = text(&"\"".repeat(10));
    assert!(rests.cap(quotes, 10, &owner).cursor.is_none());
    assert_eq!(rests.bytes(), 0);
}

#[test]
fn the_structured_part_of_a_result_over_the_cap_comes_as_text_and_is_not_lost() {
    let (rests, owner) = (Rests::new(Clock::manual(0)), principal("acme", "bot"));
    let structured = json!({"rows": vec!["a row"; 20], "n": 9_007_199_254_740_993_u64});
    let big = result(&json!([{"type": "text", "text": "20 rows"}]), Some(&structured));
    let capped = rests.cap(big, 100, &owner);
    assert!(capped.result.structured.is_none());
    let parts = whole(&rests, capped, 100, &owner);
    assert_eq!(parts[0], "20 rows");
    assert_eq!(parts[1..].concat(), structured.to_string());
}

#[test]
fn a_structured_part_that_is_one_of_the_texts_already_is_told_once() {
    let (rests, owner) = (Rests::new(Clock::manual(0)), principal("acme", "bot"));
    let structured = json!({"rows": vec!["a row"; 20]});
    let big = result(
        &json!([{"type": "text", "text": structured.to_string()}]),
        Some(&structured),
    );
    let parts = whole(&rests, rests.cap(big, 50, &owner), 50, &owner);
    assert_eq!(parts.concat(), structured.to_string());
}

#[test]
fn a_cursor_is_worth_nothing_to_anyone_else_and_says_nothing_of_what_there_is() {
    let (rests, owner) = (Rests::new(Clock::manual(0)), principal("acme", "bot"));
    let cursor = rests.cap(text(&"ä".repeat(100)), 10, &owner).cursor.unwrap();
    let told = |cursor: &str, owner: &Principal| {
        let error = rests.fetch(cursor, 10, owner).unwrap_err();
        assert_eq!(error.reason(), ErrorReason::ResourceNotFound);
        error.to_string()
    };
    let unknown = told("", &owner);
    let (id, _) = cursor.split_once('.').unwrap();
    for foreign in [principal("acme", "other"), principal("globex", "bot")] {
        assert_eq!(told(&cursor, &foreign), unknown);
    }
    // Nowhere, between the bytes of a character, at the end, beyond it.
    for at in ["", "x", "-1", "1", "190", "191", "18446744073709551616"] {
        assert_eq!(told(&format!("{id}.{at}"), &owner), unknown, "{at}");
    }
    for wrong in [
        format!("{id}A.0"),
        format!("{}.0", &id[1..]),
        id.to_owned(),
        "Ω.0".into(),
    ] {
        assert_eq!(told(&wrong, &owner), unknown, "{wrong}");
    }
}

#[test]
fn the_same_cursor_gives_the_same_part_as_often_as_it_is_asked() {
    let (rests, owner) = (Rests::new(Clock::manual(0)), principal("acme", "bot"));
    let cursor = rests
        .cap(text(&"0123456789".repeat(10)), 30, &owner)
        .cursor
        .unwrap();
    let first = rests.fetch(&cursor, 30, &owner).unwrap();
    let again = rests.fetch(&cursor, 30, &owner).unwrap();
    assert_eq!(texts(&first), texts(&again));
    assert_eq!(texts(&first)[0], "0123456789".repeat(3));
}

#[test]
fn a_rest_is_forgotten_when_nobody_asked_for_it_for_ten_minutes() {
    let clock = Clock::manual(0);
    let (rests, owner) = (Rests::new(clock.clone()), principal("acme", "bot"));
    let cursor = rests.cap(text(&"x".repeat(100)), 10, &owner).cursor.unwrap();
    for _ in 0..3 {
        clock.advance(Duration::from_secs(599));
        rests.fetch(&cursor, 10, &owner).unwrap();
    }
    clock.advance(Duration::from_secs(600));
    rests.sweep();
    assert_eq!(rests.bytes(), 0);
    rests.fetch(&cursor, 10, &owner).unwrap_err();
}

#[test]
fn a_tenant_pushes_out_its_own_rests_and_all_together_stay_within_bounds() {
    let rests = Rests::new(Clock::manual(0));
    let hold = |owner: &Principal, bytes: usize| rests.cap(text(&"x".repeat(bytes)), 1, owner).cursor;
    let quiet = principal("quiet", "bot");
    let kept = hold(&quiet, 1_000).unwrap();
    let loud = principal("loud", "bot");
    let first = hold(&loud, 3 << 20).unwrap();
    for _ in 0..20 {
        hold(&loud, 3 << 20).unwrap();
    }
    assert!(rests.bytes() <= 9 << 20, "{}", rests.bytes());
    rests.fetch(&first, 10, &loud).unwrap_err();
    rests.fetch(&kept, 10, &quiet).unwrap();
    for tenant in ["a", "b", "c", "d", "e", "f"] {
        hold(&principal(tenant, "bot"), 7 << 20).unwrap();
    }
    assert!(rests.bytes() <= 32 << 20, "{}", rests.bytes());
    // Many small ones are bounded as well.
    for _ in 0..20_000 {
        hold(&loud, 10).unwrap();
    }
    assert!(rests.bytes() <= 32 << 20, "{}", rests.bytes());
}

#[test]
fn what_is_too_long_to_be_kept_is_said_and_has_no_cursor() {
    let (rests, owner) = (Rests::new(Clock::manual(0)), principal("acme", "bot"));
    let capped = rests.cap(text(&"x".repeat(9 << 20)), 100, &owner);
    assert!(capped.cursor.is_none());
    let blocks = texts(&capped);
    assert_eq!(blocks[0].len(), 100);
    assert!(blocks[1].contains("were left out"), "{}", blocks[1]);
    assert_eq!(rests.bytes(), 0);
}

proptest! {
    #[test]
    fn parts_that_follow_each_other_are_the_whole(whole_text in "\\PC{1,400}", most in 1_usize..60) {
        let (rests, owner) = (Rests::new(Clock::manual(0)), principal("acme", "bot"));
        let first = rests.cap(text(&whole_text), most, &owner);
        let parts = whole(&rests, first, most, &owner);
        prop_assert_eq!(parts.concat(), whole_text);
        // A part holds one character at least.
        prop_assert!(parts.iter().all(|part| part.len() <= most.max(4)));
    }
}
