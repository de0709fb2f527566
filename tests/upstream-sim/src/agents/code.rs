//! The graph of the code: of one small repository, `shop`.

use serde_json::json;

use super::{Asked, done, refused};
use crate::Reply;

pub(super) fn answer(asked: &Asked) -> Option<Reply> {
    let (method, path) = asked.parts();
    if method != "GET" {
        return None;
    }
    if asked.query("repo") != Some("shop") {
        return Some(refused(404, "the only repository here is shop"));
    }
    let pay = json!({"id": "shop/pay.rs#pay", "kind": "function", "file": "pay.rs", "line": 12});
    let main = json!({"id": "shop/main.rs#main", "kind": "function", "file": "main.rs", "line": 3});
    match path.as_slice() {
        ["code", "entities"] => {
            let words = asked.query("q").unwrap_or_default();
            let all = [&pay, &main];
            let found: Vec<_> = all
                .into_iter()
                .filter(|entity| entity["id"].as_str().is_some_and(|id| id.contains(words)))
                .collect();
            done(200, &json!({"entities": found}))
        }
        ["code", "entity"] => done(200, &pay),
        ["code", "callers"] => done(200, &json!({"of": asked.query("id"), "callers": [main]})),
        ["code", "callees"] => done(200, &json!({"of": asked.query("id"), "callees": []})),
        ["code", "file-imports"] => done(200, &json!({"file": asked.query("path"), "imports": ["billing"]})),
        ["code-graph", "stats"] => done(200, &json!({"entities": 2, "relations": 1})),
        ["code-graph", "communities"] => done(200, &json!({"communities": [{"community": 0, "size": 2}]})),
        ["code-graph", "community"] => done(
            200,
            &json!({"community": asked.query("community"), "members": [pay, main]}),
        ),
        ["code-graph", "hyperedges"] => done(200, &json!({"hyperedges": []})),
        ["code" | "code-graph", _] => done(200, &json!({"of": asked.query("id"), "found": [pay]})),
        _ => None,
    }
}
