//! Arguments that the schema of a tool wants in a header as well (`x-mcp-header`, revision 2026-07-28).
//!
//! Learnt from the lists of tools that pass through; nothing else of a schema is read. A client's own headers do not
//! come this far, so they are made anew from what its body says. Pure.

use std::collections::HashMap;

use reqwest::header::{HeaderMap, HeaderValue};
use toolgate_contract::{
    mirrored::{self, Mirror},
    splice,
};

use super::stateless;

/// Tools that have any.
const MOST_TOOLS: usize = 512;

/// What is known of the tools of one server.
#[derive(Debug, Default)]
pub(crate) struct Mirrors(HashMap<String, Vec<Mirror>>);

impl Mirrors {
    /// Takes note of a list of tools, or of one page of it.
    pub(crate) fn learn(&mut self, result: &[u8]) {
        let text = std::str::from_utf8(result).unwrap_or_default();
        let tools = splice::member(text, "tools").ok().flatten();
        for tool in tools
            .and_then(|tools| splice::elements(tools).ok())
            .unwrap_or_default()
        {
            let Some(name) = string(tool, "name") else {
                continue;
            };
            let found = mirrored::mirrors(tool);
            if found.is_empty() {
                self.0.remove(&name);
            } else if self.0.len() < MOST_TOOLS || self.0.contains_key(&name) {
                self.0.insert(name, found);
            }
        }
    }

    /// Writes what a call says in its arguments into headers.
    pub(crate) fn write(&self, params: &str, headers: &mut HeaderMap) {
        let known = string(params, "name").and_then(|name| self.0.get(&name));
        let arguments = splice::member(params, "arguments").ok().flatten();
        let (Some(known), Some(arguments)) = (known, arguments) else {
            return;
        };
        for mirror in known {
            let path: Vec<&str> = mirror.path.iter().map(String::as_str).collect();
            let value = splice::at(arguments, &path).ok().flatten().and_then(spelt);
            if let Some(value) = value.and_then(|value| HeaderValue::from_str(&value).ok()) {
                headers.insert(mirror.header.clone(), value);
            }
        }
    }
}

/// A value as a header has it. Objects, arrays and null stand in none.
fn spelt(value: &str) -> Option<String> {
    match value.as_bytes().first()? {
        b'"' => serde_json::from_str::<String>(value)
            .ok()
            .map(|text| stateless::header(&text)),
        b'-' | b'0'..=b'9' | b't' | b'f' => Some(value.to_owned()),
        _ => None,
    }
}

fn string(object: &str, key: &str) -> Option<String> {
    serde_json::from_str(splice::member(object, key).ok()??).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"{"tools":[{"name":"t","inputSchema":{"properties":{
        "region":{"type":"string","x-mcp-header":"Region"},
        "deep":{"properties":{"n":{"type":"integer","x-mcp-header":"N"}}},
        "odd":{"x-mcp-header":"not a name"}}}},{"name":"plain"}]}"#;

    #[test]
    fn arguments_stand_in_headers_where_the_list_wants_them() {
        let mut known = Mirrors::default();
        known.learn(LIST.as_bytes());
        for (params, wanted) in [
            (
                r#"{"name":"t","arguments":{"region":"eu","deep":{"n":12}}}"#,
                &[("mcp-param-n", "12"), ("mcp-param-region", "eu")][..],
            ),
            (
                r#"{"name":"t","arguments":{"region":"ü"}}"#,
                &[("mcp-param-region", "=?base64?w7w=?=")],
            ),
            (
                r#"{"name":"t","arguments":{"region":null,"deep":{"n":[1]}}}"#,
                &[],
            ),
            (r#"{"name":"plain","arguments":{"region":"eu"}}"#, &[]),
            (r#"{"name":"t"}"#, &[]),
            ("[]", &[]),
        ] {
            let mut headers = HeaderMap::new();
            known.write(params, &mut headers);
            let mut written: Vec<_> = headers
                .iter()
                .map(|(key, value)| (key.as_str(), value.to_str().expect("ascii")))
                .collect();
            written.sort_unstable();
            assert_eq!(written, wanted, "{params}");
        }
        known.learn(br#"{"tools":[{"name":"t","inputSchema":{}}]}"#);
        let mut headers = HeaderMap::new();
        known.write(r#"{"name":"t","arguments":{"region":"eu"}}"#, &mut headers);
        assert!(headers.is_empty(), "the newest list counts");
    }
}
