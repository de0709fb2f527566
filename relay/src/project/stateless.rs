//! Revision 2026-07-28: what stands in `_meta` of every request, and what HTTP wants beside the body.
//!
//! Pure. The presence of the protocol version in `_meta` is what tells this era from the ones before it.

use data_encoding::BASE64;
use toolgate_contract::splice::{self, SpliceError};

use super::wire::Stateless;

/// The revision without sessions that is spoken here.
pub(crate) const REVISION: &str = "2026-07-28";
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// What a request says for HTTP; `None` where it belongs to an era before.
pub(crate) fn of(method: &str, params: &str) -> Result<Option<Stateless>, SpliceError> {
    let Some(meta) = splice::member(params, "_meta")? else {
        return Ok(None);
    };
    let Some(revision) = splice::member(meta, VERSION_KEY)? else {
        return Ok(None);
    };
    let Ok(revision) = serde_json::from_str::<String>(revision) else {
        return Ok(None);
    };
    let key = match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        _ => None,
    };
    let name = match key {
        Some(key) => splice::member(params, key)?.and_then(|name| serde_json::from_str(name).ok()),
        None => None,
    };
    Ok(Some(Stateless { revision, name }))
}

/// The params with what this revision requires of every request, where that is missing.
pub(crate) fn completed(params: &str) -> Result<String, SpliceError> {
    let client = concat!(
        r#"{"name":"toolgate-relay","version":""#,
        env!("CARGO_PKG_VERSION"),
        r#""}"#
    );
    let mut params = params.to_owned();
    for (key, value) in [
        (VERSION_KEY, r#""2026-07-28""#),
        ("io.modelcontextprotocol/clientInfo", client),
        ("io.modelcontextprotocol/clientCapabilities", "{}"),
    ] {
        if splice::at(&params, &["_meta", key])?.is_none() {
            params = splice::with_at(&params, &["_meta", key], value)?;
        }
    }
    Ok(params)
}

/// A value as a header may have it: as it is, or wrapped where it would not survive.
pub(crate) fn header(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| matches!(byte, 0x20..=0x7e))
        && value.trim() == value
        && !(value.starts_with("=?base64?") && value.ends_with("?="));
    match is_plain && !value.is_empty() {
        true => value.to_owned(),
        false => format!("=?base64?{}?=", BASE64.encode(value.as_bytes())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_era_of_a_request_is_told_by_its_meta() {
        let params = r#"{"name":"a b","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
        for (method, name) in [("tools/call", Some("a b")), ("tools/list", None)] {
            let wanted = Stateless {
                revision: REVISION.to_owned(),
                name: name.map(str::to_owned),
            };
            assert_eq!(of(method, params), Ok(Some(wanted)));
        }
        assert_eq!(of("tools/call", r#"{"name":"a","_meta":{}}"#), Ok(None));
        assert_eq!(of("tools/list", "{}"), Ok(None));
    }

    #[test]
    fn only_what_is_missing_is_added_and_the_rest_stays() {
        let given = r#"{ "b": 1.50, "_meta": {"io.modelcontextprotocol/clientCapabilities": {"x":{}}} }"#;
        let completed = completed(given).expect("an object");
        assert!(
            completed.starts_with(
                r#"{ "b": 1.50, "_meta": {"io.modelcontextprotocol/clientCapabilities": {"x":{}}"#
            )
        );
        assert!(completed.contains(r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#));
        assert_eq!(
            super::completed(&completed),
            Ok(completed.clone()),
            "once is enough"
        );
    }

    #[test]
    fn a_name_survives_as_a_header() {
        for (name, wanted) in [
            ("get_weather", "get_weather"),
            ("a b", "a b"),
            (" a", "=?base64?IGE=?="),
            ("ü", "=?base64?w7w=?="),
            ("a\nb", "=?base64?YQpi?="),
            ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        ] {
            assert_eq!(header(name), wanted);
        }
    }
}
