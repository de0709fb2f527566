//! Whether the headers of revision 2026-07-28 say what the body says.
//!
//! Proxies route by headers and servers by bodies, so a request whose two halves differ is refused with -32020. Names of
//! headers are in any case, values are not; a value may be wrapped in `=?base64?…?=`.

use std::borrow::Cow;

use ::http::HeaderValue;
use data_encoding::BASE64;
use toolgate_contract::{mirrored::Mirror, splice};

use super::said::Said;
use crate::mcp::{
    envelope::{Request, text},
    era::Meta,
    fault::Fault,
};

/// Refuses a request whose headers are missing or say another thing than the body.
pub(in crate::mcp) fn check(said: &Said, request: &Request, meta: &Meta) -> Result<(), Fault> {
    check_revision(said, meta)?;
    if meta.version.is_none() {
        // The body lacks what the headers would have to agree with, and is refused for that.
        return Ok(());
    }
    let method = said.method.as_ref().ok_or_else(|| missing("mcp-method"))?;
    agree("mcp-method", method, &request.method)?;
    if request.method == "tools/call" {
        let name = said.name.as_ref().ok_or_else(|| missing("mcp-name"))?;
        let in_body = request.params.name.as_ref().and_then(text);
        // Without a name in the body there is nothing to differ from; the method says what is missing.
        return in_body.map_or(Ok(()), |in_body| agree("mcp-name", name, &in_body));
    }
    Ok(())
}

/// The same for the methods that only a project's server has: what they name stands in the header as well.
pub(in crate::mcp) fn check_of_project(said: &Said, request: &Request) -> Result<(), Fault> {
    let member = match request.method.as_str() {
        "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return Ok(()),
    };
    let name = said.name.as_ref().ok_or_else(|| missing("mcp-name"))?;
    let params = std::str::from_utf8(&request.params.raw).unwrap_or_default();
    let in_body = splice::member(params, member).ok().flatten();
    let in_body = in_body.and_then(|raw| serde_json::from_str::<String>(raw).ok());
    in_body.map_or(Ok(()), |in_body| agree("mcp-name", name, &in_body))
}

/// The same for arguments that the tool's schema wants in headers as well.
pub(in crate::mcp) fn check_arguments(
    said: &Said,
    request: &Request,
    mirrors: &[Mirror],
) -> Result<(), Fault> {
    let arguments = request.params.arguments.as_deref().unwrap_or(b"{}");
    let arguments = std::str::from_utf8(arguments).unwrap_or_default();
    mirrors.iter().try_for_each(|Mirror { header, path }| {
        let path: Vec<_> = path.iter().map(String::as_str).collect();
        let in_body = splice::at(arguments, &path).ok().flatten();
        let in_body = in_body.filter(|raw| *raw != "null");
        match (said.params.get(header), in_body) {
            (None, None) => Ok(()),
            (Some(said), Some(in_body)) => is_argument(header.as_str(), said, in_body),
            (None, Some(_)) => Err(Fault::headers(format!(
                "header {header} is missing; the schema of the tool wants it beside the argument"
            ))),
            (Some(_), None) => Err(differs(header.as_str())),
        }
    })
}

/// Numbers are compared as numbers.
fn is_argument(name: &str, said: &HeaderValue, in_body: &str) -> Result<(), Fault> {
    let said = decode(said).ok_or_else(|| Fault::headers(format!("header {name} cannot be read")))?;
    let is_same = match serde_json::from_str::<String>(in_body) {
        Ok(text) => said == text,
        Err(_) => said == in_body || is_same_number(&said, in_body),
    };
    is_same.then_some(()).ok_or_else(|| differs(name))
}

fn is_same_number(one: &str, other: &str) -> bool {
    let whole = |text: &str| serde_json::from_str::<i128>(text).ok();
    let any = |text: &str| serde_json::from_str::<f64>(text).ok();
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => one == other,
        _ => any(one).is_some_and(|one| Some(one) == any(other)),
    }
}

/// The same for a message that is no request.
pub(in crate::mcp) fn check_method(said: &Said, method: &str) -> Result<(), Fault> {
    let header = said.method.as_ref().ok_or_else(|| missing("mcp-method"))?;
    agree("mcp-method", header, method)
}

fn check_revision(said: &Said, meta: &Meta) -> Result<(), Fault> {
    match (&said.revision, &meta.version) {
        (None, _) => Err(missing("mcp-protocol-version")),
        (Some(header), Some(body)) if header != body => Err(differs("mcp-protocol-version")),
        (Some(_), _) => Ok(()),
    }
}

fn agree(name: &'static str, header: &HeaderValue, body: &str) -> Result<(), Fault> {
    let said = decode(header).ok_or_else(|| Fault::headers(format!("header {name} cannot be read")))?;
    if said == body {
        return Ok(());
    }
    Err(differs(name))
}

/// The text of a value. `None` for bytes that are no printable ASCII, and for wrapped ones that are no base64 of UTF-8.
fn decode(value: &HeaderValue) -> Option<Cow<'_, str>> {
    let plain = value.to_str().ok()?.trim_matches([' ', '\t']);
    let Some(wrapped) = plain
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="))
    else {
        return Some(Cow::Borrowed(plain));
    };
    let bytes = BASE64.decode(wrapped.as_bytes()).ok()?;
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

fn missing(name: &str) -> Fault {
    Fault::headers(format!(
        "header {name} is missing; revision 2026-07-28 wants it on every request"
    ))
}

fn differs(name: &str) -> Fault {
    Fault::headers(format!("header {name} says another thing than the body"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_values_are_unwrapped_and_half_wrapped_ones_are_taken_as_they_are() {
        let check = |value: &str, expected: Option<&str>| {
            assert_eq!(
                decode(&HeaderValue::try_from(value).unwrap()).as_deref(),
                expected,
                "{value}"
            );
        };
        check("proxmox_list_vms", Some("proxmox_list_vms"));
        check("  tools/call\t", Some("tools/call"));
        check("=?base64?SGVsbG8=?=", Some("Hello"));
        check("=?base64?8J+YgA==?=", Some("😀"));
        check("=?base64??=", Some(""));
        check("=?base64?SGVsbG8?=", None);
        check("=?base64?SGV%bG8=?=", None);
        check("=?base64?/w==?=", None);
        check("=?base64?SGVsbG8=", Some("=?base64?SGVsbG8="));
        check("SGVsbG8=?=", Some("SGVsbG8=?="));
        check("=?BASE64?SGVsbG8=?=", Some("=?BASE64?SGVsbG8=?="));
        assert_eq!(decode(&HeaderValue::from_bytes(b"caf\xe9").unwrap()), None);
    }
}
