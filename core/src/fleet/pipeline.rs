//! The status of a project's pipeline, read out of what its status tool answers: stages and items, within bounds.
//!
//! Stages are an array of objects with `name` or `stage` and `count`, an object from stage to count, or an object from stage
//! to its items; items are objects with id, title, stage and state. What is not there counts as absent, what is of another
//! form as an error that the one line of its project tells.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Stages of one project.
const MOST_STAGES: usize = 64;
/// Items of one project that are told.
const MOST_ITEMS: usize = 100;
/// Characters of a text that are.
const LONGEST: usize = 300;

/// What one project says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pipeline {
    /// How many items each stage holds.
    pub(crate) stages: Vec<(String, i64)>,
    /// The items that are blocked or failing.
    pub(crate) attention: Vec<Item>,
}

/// One item.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Item {
    /// Its id.
    pub(crate) id: String,
    /// What it is.
    pub(crate) title: String,
    /// The stage it stands in.
    pub(crate) stage: String,
    /// `blocked`, `failing`, or as its project says it.
    pub(crate) state: String,
}

impl Pipeline {
    /// Reads a structured result; `None` where it says nothing of stages or items.
    #[must_use]
    pub(crate) fn read(structured: &Value) -> Option<Self> {
        let object = structured.as_object()?;
        let mut pipeline = Self::default();
        let mut counted = BTreeMap::new();
        let mut items = Vec::new();
        match object.get("stages") {
            Some(Value::Array(stages)) => {
                for stage in stages.iter().take(MOST_STAGES) {
                    let stage = stage.as_object()?;
                    let name = text(stage, &["stage", "name", "id"]);
                    let own = stage.get("items").and_then(Value::as_array);
                    let count = whole(stage.get("count")).or_else(|| own.map(|own| length(own)));
                    pipeline.stages.push((name.clone(), count?));
                    items.extend(own.into_iter().flatten().map(|item| (name.clone(), item)));
                }
            }
            Some(Value::Object(stages)) => {
                for (name, held) in stages.iter().take(MOST_STAGES) {
                    let name = cut(name);
                    let count = match held {
                        Value::Array(own) => {
                            items.extend(own.iter().map(|item| (name.clone(), item)));
                            length(own)
                        }
                        held => whole(Some(held)).or_else(|| whole(held.get("count")))?,
                    };
                    pipeline.stages.push((name, count));
                }
            }
            Some(_) => return None,
            None => {}
        }
        for (list, state) in [
            ("items", ""),
            ("attention", ""),
            ("blocked", "blocked"),
            ("failing", "failing"),
        ] {
            let Some(listed) = object.get(list).and_then(Value::as_array) else {
                continue;
            };
            for item in listed {
                let mut item = read_item(item, "");
                if item.state.is_empty() {
                    state.clone_into(&mut item.state);
                }
                if list == "items" {
                    *counted.entry(item.stage.clone()).or_insert(0) += 1;
                }
                pipeline.attend(item);
            }
        }
        for (stage, item) in items {
            pipeline.attend(read_item(item, &stage));
        }
        if object.get("stages").is_none() {
            pipeline.stages = counted.into_iter().take(MOST_STAGES).collect();
            let says = ["items", "attention", "blocked", "failing"];
            if !says.iter().any(|list| object.contains_key(*list)) {
                return None;
            }
        }
        Some(pipeline)
    }

    fn attend(&mut self, item: Item) {
        let state = item.state.to_lowercase();
        let wants = ["block", "fail", "error", "stuck"]
            .iter()
            .any(|word| state.contains(word));
        if wants && self.attention.len() < MOST_ITEMS && !self.attention.contains(&item) {
            self.attention.push(item);
        }
    }
}

fn read_item(item: &Value, stage: &str) -> Item {
    let Some(object) = item.as_object() else {
        return Item::default();
    };
    let flag = |name: &str| object.get(name) == Some(&Value::Bool(true));
    let mut state = text(object, &["state", "status"]);
    if flag("blocked") {
        "blocked".clone_into(&mut state);
    } else if flag("failing") || flag("failed") {
        "failing".clone_into(&mut state);
    }
    let own = text(object, &["stage"]);
    Item {
        id: text(object, &["id", "item_id", "story_id"]),
        title: text(object, &["title", "name"]),
        stage: if own.is_empty() { stage.to_owned() } else { own },
        state,
    }
}

fn text(object: &Map<String, Value>, names: &[&str]) -> String {
    let found = names.iter().find_map(|name| object.get(*name));
    match found {
        Some(Value::String(text)) => cut(text),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

fn cut(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().map(plain).take(LONGEST).collect()
}

fn whole(value: Option<&Value>) -> Option<i64> {
    value.and_then(Value::as_i64).filter(|count| *count >= 0)
}

fn length(items: &[Value]) -> i64 {
    i64::try_from(items.len()).unwrap_or(i64::MAX)
}
