//! What a schema from outside may cost: how much there is of it once every reference is followed, and of its patterns.
//!
//! A few kilobytes that refer to each other can mean more work than there is time. So a schema is used only if it stays
//! small with its references written out, refers to nothing but places of its own, and comes back to none of them.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

/// Values of a schema with its references written out.
const MOST: u64 = 5_000;
/// Patterns of one schema, and bytes of one.
const MOST_PATTERNS: usize = 16;
const LONGEST_PATTERN: usize = 256;

/// What a schema costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cost {
    /// Values that one look at one value may come by.
    pub(super) values: u64,
    /// Patterns.
    pub(super) patterns: usize,
}

/// What the schema costs; `None` where that is too much, or cannot be told.
pub(super) fn cost(schema: &Value) -> Option<Cost> {
    let mut look = Look {
        root: schema,
        known: HashMap::new(),
        under_way: HashSet::new(),
    };
    let values = look.cost(schema)?;
    let patterns = patterns(schema)?;
    (values <= MOST && patterns <= MOST_PATTERNS).then_some(Cost { values, patterns })
}

struct Look<'a> {
    root: &'a Value,
    /// By the place where a value stands.
    known: HashMap<*const Value, u64>,
    under_way: HashSet<*const Value>,
}

/// References that follow each other, and what stands around them.
const DEEPEST: usize = 256;

impl<'a> Look<'a> {
    fn cost(&mut self, value: &'a Value) -> Option<u64> {
        let place = std::ptr::from_ref(value);
        if let Some(known) = self.known.get(&place) {
            return Some(*known);
        }
        // It comes back to itself, or goes on and on.
        if self.under_way.len() >= DEEPEST || !self.under_way.insert(place) {
            return None;
        }
        let mut sum: u64 = 1;
        match value {
            Value::Object(members) => {
                for (key, inner) in members {
                    let inner = match (key.as_str(), inner) {
                        ("$ref", Value::String(reference)) => self.root.pointer(&local(reference)?)?,
                        (
                            "$dynamicRef" | "$recursiveRef" | "$id" | "$anchor" | "$dynamicAnchor",
                            Value::String(_),
                        ) => {
                            return None;
                        }
                        (_, inner) => inner,
                    };
                    sum = sum.saturating_add(self.cost(inner)?);
                }
            }
            Value::Array(items) => {
                for inner in items {
                    sum = sum.saturating_add(self.cost(inner)?);
                }
            }
            _ => {}
        }
        self.under_way.remove(&place);
        self.known.insert(place, sum);
        (sum <= MOST).then_some(sum)
    }
}

// The pointer of a reference to a place of the same schema; `None` for every other.
fn local(reference: &str) -> Option<String> {
    let pointer = reference.strip_prefix('#')?;
    let pointer = percent_encoding::percent_decode_str(pointer).decode_utf8().ok()?;
    (pointer.is_empty() || pointer.starts_with('/')).then(|| pointer.into_owned())
}

fn patterns(value: &Value) -> Option<usize> {
    match value {
        Value::Object(members) => {
            let mut found = 0;
            for (key, inner) in members {
                let own: Vec<&str> = match (key.as_str(), inner) {
                    ("pattern", Value::String(pattern)) => vec![pattern],
                    ("patternProperties", Value::Object(by_pattern)) => {
                        by_pattern.keys().map(String::as_str).collect()
                    }
                    _ => vec![],
                };
                if own.iter().any(|pattern| pattern.len() > LONGEST_PATTERN) {
                    return None;
                }
                found += own.len() + patterns(inner)?;
            }
            Some(found)
        }
        Value::Array(items) => items.iter().map(patterns).sum(),
        _ => Some(0),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_whose_references_multiply_is_not_used() {
        let mut defs = serde_json::Map::new();
        defs.insert("a0".into(), json!({"type": "object"}));
        for level in 1..60 {
            let below = json!({"$ref": format!("#/$defs/a{}", level - 1)});
            defs.insert(format!("a{level}"), json!({"allOf": [below, below]}));
        }
        assert_eq!(cost(&json!({"$ref": "#/$defs/a59", "$defs": defs})), None);
        assert_eq!(
            cost(&json!({"$ref": "#/$defs/a3", "$defs": {"a3": {"type": "object"}}}))
                .map(|cost| cost.patterns),
            Some(0)
        );
    }

    #[test]
    fn what_comes_back_to_itself_or_leads_elsewhere_is_not_used() {
        for schema in [
            json!({"$ref": "#"}),
            json!({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}}),
            json!({"$ref": "https://example.org/x"}),
            json!({"$ref": "other.json"}),
            json!({"$dynamicRef": "#a"}),
            json!({"$id": "https://example.org/x"}),
            json!({"$ref": "#/$defs/gone"}),
        ] {
            assert_eq!(cost(&schema), None, "{schema}");
        }
    }

    #[test]
    fn patterns_are_few_and_short() {
        let of = |count: usize, length: usize| {
            let all: Vec<Value> = (0..count)
                .map(|_| json!({"pattern": "x".repeat(length)}))
                .collect();
            cost(&json!({"anyOf": all})).map(|cost| cost.patterns)
        };
        assert_eq!(of(MOST_PATTERNS, LONGEST_PATTERN), Some(MOST_PATTERNS));
        assert_eq!(of(MOST_PATTERNS + 1, 1), None);
        assert_eq!(of(1, LONGEST_PATTERN + 1), None);
        assert_eq!(
            cost(&json!({"patternProperties": {"a": {}, "b": {}}})).map(|cost| cost.patterns),
            Some(2)
        );
    }
}
