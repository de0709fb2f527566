//! What a validation found, as it is stored in the target's row, told to callers and put on the record.
//!
//! Texts come from adapters, and some of them from targets: every one is bounded here, and nothing in it can move a
//! terminal's cursor. A credential was never in them.

use serde_json::{Map, Value, json};

use crate::{
    adapters::{Stage, Validation, Verdict},
    rfc3339,
};

/// The longest text of a finding, in characters.
const LONGEST: usize = 400;
/// Entries of a list; more help nobody.
const MOST: usize = 32;
/// What a validation may take where it is told beside an error, in bytes: it rides in a trailer.
const MOST_TOLD: usize = 5 * 1024;

/// What is stored. `former` are the facts that stay where this validation learned none.
pub(super) fn stored(validation: &Validation, former: Option<&Value>, now_us: i64) -> Value {
    let mut facts = former.and_then(Value::as_object).cloned().unwrap_or_default();
    facts.extend(validation.facts.clone());
    json!({
        "verdict": verdict(validation),
        "stages": validation.stages.iter().take(MOST).map(stage).collect::<Vec<_>>(),
        "notProvable": texts(&validation.not_provable),
        "proven": texts(&validation.proven),
        "wider": texts(&validation.wider),
        "facts": facts,
        "checkedUs": now_us,
    })
}

/// What is told of a credential that is refused at sight.
pub(super) fn unseen(what: &str, pointer: Option<&str>) -> Value {
    let mut stage = json!({"name": "privileges", "ok": false, "ms": 0, "reason": plain(what)});
    if let Some(pointer) = pointer {
        stage["pointer"] = pointer.into();
    }
    json!({"verdict": "failed", "stages": [stage], "notProvable": [], "proven": [], "wider": []})
}

/// The same for callers, as a JSON object beside an error: what its failed stage was told comes before long lists.
pub(super) fn told(stored: &Value) -> String {
    let mut most = MOST;
    loop {
        let text = told_with(stored, most).to_string();
        if text.len() <= MOST_TOLD || most == 0 {
            return text;
        }
        most /= 2;
    }
}

/// The field that most likely mends what did not pass, where one is known to.
pub(super) fn pointer(stored: &Value) -> Option<&str> {
    entries(stored, "stages").find_map(|stage| stage.get("pointer")?.as_str())
}

/// The credential stays elsewhere, so it is mended there and not in fields of its own.
pub(super) fn point_elsewhere(stored: &mut Value) {
    let stages = stored.get_mut("stages").and_then(Value::as_array_mut);
    for pointer in stages
        .into_iter()
        .flatten()
        .filter_map(|stage| stage.get_mut("pointer"))
    {
        if pointer
            .as_str()
            .is_some_and(|text| text.starts_with("/credential/"))
        {
            *pointer = "/credential/secretRef".into();
        }
    }
}

/// What the record says of it.
pub(super) fn on_record(stored: &Value) -> Map<String, Value> {
    let names = entries(stored, "stages").map(|stage| stage.get("name").cloned().unwrap_or_default());
    let failed = entries(stored, "stages").find(|stage| stage.get("ok") == Some(&Value::Bool(false)));
    let mut detail = Map::new();
    detail.insert("validation".into(), stored["verdict"].clone());
    detail.insert("stages".into(), names.collect());
    for list in ["proven", "wider", "notProvable"] {
        if entries(stored, list).next().is_some() {
            detail.insert(list.into(), stored[list].clone());
        }
    }
    if let Some(reason) = failed.and_then(|stage| stage.get("reason")) {
        detail.insert("failed".into(), reason.clone());
    }
    if let Some(facts) = stored.get("facts").and_then(Value::as_object)
        && !facts.is_empty()
    {
        detail.insert("facts".into(), Value::Object(facts.clone()));
    }
    detail
}

/// Bounded, and without anything that a terminal or a reader would not show as it is.
pub(crate) fn plain(text: &str) -> String {
    let mut plain: String = text.chars().take(LONGEST).map(visible).collect();
    if text.chars().nth(LONGEST).is_some() {
        plain.push('…');
    }
    plain
}

fn verdict(validation: &Validation) -> &'static str {
    match validation.verdict {
        Verdict::Passed => "passed",
        Verdict::Violation(_) | Verdict::Unknown(_) => "failed",
    }
}

fn stage(stage: &Stage) -> Value {
    let ms = u64::try_from(stage.took.as_millis()).unwrap_or(u64::MAX);
    match &stage.failed {
        None => json!({"name": stage.name, "ok": true, "ms": ms}),
        Some(reason) => {
            let mut told = json!({"name": stage.name, "ok": false, "ms": ms, "reason": plain(reason)});
            if let Some(pointer) = stage.mends {
                told["pointer"] = pointer.into();
            }
            told
        }
    }
}

fn texts(list: &[String]) -> Vec<String> {
    shortened(list.iter().map(|text| plain(text)).collect(), MOST)
}

fn told_with(stored: &Value, most: usize) -> Value {
    let list = |name: &str| {
        let texts = entries(stored, name).filter_map(Value::as_str).map(str::to_owned);
        shortened(texts.collect(), most)
    };
    let mut told = json!({
        "verdict": stored["verdict"],
        "stages": stored["stages"],
        "notProvable": list("notProvable"),
        "proven": list("proven"),
        "wider": list("wider"),
    });
    if let Some(checked) = stored.get("checkedUs").and_then(Value::as_i64) {
        told["checkedAt"] = rfc3339::format(checked).into();
    }
    told
}

fn shortened(mut texts: Vec<String>, most: usize) -> Vec<String> {
    if texts.len() > most {
        let more = texts.len() - most;
        texts.truncate(most);
        texts.push(format!("and {more} more"));
    }
    texts
}

fn entries<'a>(stored: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> {
    stored.get(list).and_then(Value::as_array).into_iter().flatten()
}

// Controls, and what turns the direction of writing or hides: a space says that something was there.
fn visible(c: char) -> char {
    let hidden = c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{e0000}'..='\u{e0fff}');
    if hidden { ' ' } else { c }
}

#[cfg(test)]
mod tests;
