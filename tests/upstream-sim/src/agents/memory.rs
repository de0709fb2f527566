//! Memory: texts that are found again by the words in them, entities and edges.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Asked, done, refused};
use crate::Reply;

/// What is remembered.
#[derive(Debug)]
pub(super) struct Memory {
    texts: BTreeMap<String, Value>,
    entities: BTreeMap<String, Value>,
    edges: BTreeMap<String, Value>,
    count: usize,
}

impl Default for Memory {
    fn default() -> Self {
        let text = "the shop talks to the billing service over gRPC and retries three times";
        Self {
            texts: [("mem-1".into(), json!({"id": "mem-1", "text": text}))].into(),
            entities: [
                ("billing".into(), json!({"id": "billing", "kind": "service"})),
                ("shop".into(), json!({"id": "shop", "kind": "service"})),
            ]
            .into(),
            edges: [(
                "edge-1".into(),
                json!({"id": "edge-1", "from": "shop", "to": "billing", "relation": "depends_on"}),
            )]
            .into(),
            count: 1,
        }
    }
}

impl Memory {
    pub(super) fn answer(&mut self, asked: &Asked) -> Option<Reply> {
        let (method, path) = asked.parts();
        match (method, path.as_slice()) {
            ("POST", ["memories"]) => done(201, &self.keep(&asked.body)),
            ("GET", ["memories", id]) => done(200, self.texts.get(*id)?),
            ("DELETE", ["memories", id]) => self.texts.remove(*id).map(|_| Reply::bytes(204, "")),
            ("POST", ["memories:bulk"]) => {
                let items = asked.body["items"].as_array().cloned().unwrap_or_default();
                let kept: Vec<Value> = items.iter().map(|item| self.keep(item)["id"].clone()).collect();
                done(202, &json!({"id": "job-1", "state": "done", "kept": kept}))
            }
            ("GET", ["ingest-jobs", id]) => done(200, &json!({"id": id, "state": "done"})),
            ("POST", ["queries" | "queries:describe"]) => {
                let found = self.find(asked.text("text"));
                done(200, &json!({"mode": asked.text("mode"), "passages": found}))
            }
            ("GET", ["entities"]) => {
                let words = asked.query("q").unwrap_or_default();
                let found: Vec<&Value> = self
                    .entities
                    .values()
                    .filter(|entity| entity["id"].as_str().is_some_and(|id| id.contains(words)))
                    .collect();
                done(200, &json!({"entities": found}))
            }
            ("GET", ["entities", id]) => done(200, self.entities.get(*id)?),
            ("PATCH", ["entities", id]) => {
                let entity = self.entities.get_mut(*id)?;
                for (name, value) in asked.body.as_object()? {
                    entity[name] = value.clone();
                }
                done(200, entity)
            }
            ("GET", ["edges"]) => done(200, &json!({"edges": self.edges.values().collect::<Vec<_>>()})),
            ("POST", ["edges"]) => {
                self.count += 1;
                let id = format!("edge-{}", self.count);
                let mut edge = asked.body.clone();
                if !edge.is_object() {
                    return Some(refused(400, "an edge is an object"));
                }
                edge["id"] = id.clone().into();
                self.edges.insert(id, edge.clone());
                done(201, &edge)
            }
            ("DELETE", ["edges", id]) => self.edges.remove(*id).map(|_| Reply::bytes(204, "")),
            _ => None,
        }
    }

    fn keep(&mut self, given: &Value) -> Value {
        self.count += 1;
        let id = format!("mem-{}", self.count);
        let kept = json!({"id": id, "text": given["text"], "metadata": given["metadata"]});
        self.texts.insert(id, kept.clone());
        kept
    }

    fn find(&self, words: &str) -> Vec<&Value> {
        let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
        let has = |text: &Value| {
            let text = text["text"].as_str().unwrap_or_default().to_lowercase();
            words
                .iter()
                .any(|word| word.len() > 3 && text.contains(word.as_str()))
        };
        self.texts.values().filter(|text| has(text)).collect()
    }
}
