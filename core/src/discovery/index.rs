//! BM25 over what a tool says of itself.
//!
//! Every field is a text of words; a word of the name or title weighs as if it stood there several times.

use std::fmt;

use bm25::{Embedder, EmbedderBuilder, Embedding, Scorer};
use toolgate_contract::registry::ToolDef;

use super::words::{self, Words};

/// How often a word of the field counts.
const NAME: usize = 6;
const TITLE: usize = 3;
const DESCRIPTION: usize = 2;
const ARGUMENT: usize = 1;

/// How far a repeated word counts more, and how far a long text counts less.
const K1: f32 = 1.2;
const B: f32 = 0.5;

/// The index.
pub(super) struct Index {
    tools: Vec<&'static ToolDef>,
    embedder: Embedder<u64, Words>,
    scorer: Scorer<usize, u64>,
}

impl Index {
    pub(super) fn of(tools: impl Iterator<Item = &'static ToolDef>) -> Self {
        let tools: Vec<_> = tools.collect();
        let texts: Vec<String> = tools.iter().map(|tool| text(tool)).collect();
        let corpus: Vec<&str> = texts.iter().map(String::as_str).collect();
        let embedder =
            EmbedderBuilder::<u64, Words>::with_tokenizer_and_fit_to_corpus(Words::default(), &corpus)
                .k1(K1)
                .b(B)
                .build();
        let mut scorer = Scorer::new();
        for (at, text) in corpus.into_iter().enumerate() {
            scorer.upsert(&at, embedder.embed(text));
        }
        Self {
            tools,
            embedder,
            scorer,
        }
    }

    /// Every tool that has a word of the question, best first; by name where two are as good.
    pub(super) fn rank(&self, query: &str) -> Vec<&'static ToolDef> {
        let asked: Embedding<u64> = self.embedder.embed(&words::of_question(query));
        let mut scored: Vec<_> = self
            .scorer
            .matches(&asked)
            .into_iter()
            .map(|found| (found.score, self.tools[found.id]))
            .collect();
        scored.sort_by(|(one, tool), (other, with)| {
            other.total_cmp(one).then_with(|| tool.name.cmp(with.name))
        });
        scored.into_iter().map(|(_, tool)| tool).collect()
    }
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Index({} tools)", self.tools.len())
    }
}

fn text(tool: &ToolDef) -> String {
    let arguments = argument_names(tool.input_schema).join(" ");
    let fields = [
        (tool.name, NAME),
        (tool.title, TITLE),
        (tool.description, DESCRIPTION),
        (arguments.as_str(), ARGUMENT),
    ];
    let mut text = String::new();
    for (field, times) in fields {
        for _ in 0..times {
            text.push_str(field);
            text.push('\n');
        }
    }
    text
}

/// The names of a schema's arguments, those inside lists and objects as well.
fn argument_names(schema: &str) -> Vec<String> {
    let mut names = Vec::new();
    if let Ok(schema) = serde_json::from_str(schema) {
        collect(&schema, &mut names);
    }
    // Every tool of infrastructure takes it, so it tells none from another.
    names.retain(|name| name != "target_id");
    names
}

fn collect(schema: &serde_json::Value, names: &mut Vec<String>) {
    if let Some(properties) = schema.get("properties").and_then(serde_json::Value::as_object) {
        for (name, inner) in properties {
            names.push(name.clone());
            collect(inner, names);
        }
    }
    if let Some(items) = schema.get("items") {
        collect(items, names);
    }
}
