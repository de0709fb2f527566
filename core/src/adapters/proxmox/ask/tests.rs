use bytes::Bytes;
use http::HeaderMap;
use serde_json::json;

use super::*;

fn answer(status: u16, reason: Option<&str>, body: &str) -> Answer {
    Answer {
        status: StatusCode::from_u16(status).unwrap(),
        status_text: reason.map(str::to_owned),
        headers: HeaderMap::new(),
        body: Bytes::copy_from_slice(body.as_bytes()),
        moved_to: None,
    }
}

/// The text of an error in the body, as since 2025, and behind the status alone, as before.
#[track_caller]
fn check(status: u16, text: &str, expected: Result<Said, UpstreamError>) {
    let body = json!({"data": null, "message": format!("{text}\n")}).to_string();
    for answer in [
        answer(status, None, &body),
        answer(status, Some(text), r#"{"data":null}"#),
        answer(status, Some(text), ""),
    ] {
        assert_eq!(sort(&answer), expected, "{status} {text} {answer:?}");
    }
}

#[test]
fn an_error_text_is_found_in_the_body_or_behind_the_status() {
    let no = |no| Ok(Said::No(no));
    let missing = "Configuration file 'nodes/pve/qemu-server/999.conf' does not exist";
    check(500, missing, no(No::Missing));
    check(
        500,
        "unable to find configuration file for VM 999 on node 'pve'",
        no(No::Missing),
    );
    check(
        500,
        "hostname lookup 'Proxmox' failed - failed to get address info",
        no(No::NodeAway),
    );
    check(500, "got timeout", Err(UpstreamError::Failed));
    check(500, "", Err(UpstreamError::Failed));
    check(501, "Method 'GET /qemu' not implemented", no(No::Unknown));
    check(501, "no such file '/nodes'", no(No::Unknown));
    check(
        401,
        "authentication failure",
        Err(UpstreamError::CredentialRejected),
    );
    check(401, "No ticket", Err(UpstreamError::CredentialRejected));
    for status in 595..=599 {
        check(status, "Connection refused", no(No::NodeAway));
    }
    check(596, "authentication failure", no(No::NodeAway));
    check(502, "Bad Gateway", Err(UpstreamError::Failed));
    check(503, "", Err(UpstreamError::Failed));
    check(404, "", no(No::Refused(404)));
    check(429, "", Err(UpstreamError::RateLimited(PAUSE)));
    check(304, "", Err(UpstreamError::Invalid));
}

#[test]
fn what_a_token_lacks_is_told_where_the_cluster_says_it() {
    let lacks = |what: &str| Ok(Said::No(No::Forbidden(Some(what.to_owned()))));
    check(
        403,
        "Permission check failed (/vms/100, VM.Audit)",
        lacks("VM.Audit on /vms/100"),
    );
    check(
        403,
        "Permission check failed (/nodes/pve1, Sys.Audit)",
        lacks("Sys.Audit on /nodes/pve1"),
    );
    for odd in [
        "Permission check failed",
        "(",
        "(,)",
        "(/etc/pve/x y, Sys.Audit)",
        "no (/a, \u{1b}[2J)",
    ] {
        check(403, odd, Ok(Said::No(No::Forbidden(None))));
    }
}

#[test]
fn arguments_that_are_not_taken_are_named() {
    let body = json!({
        "data": null, "message": "Parameter verification failed.\n",
        "errors": {"timeframe": "value 'decade' does not have a value in the enumeration", "x\u{202e}": "y"},
    });
    let said = sort(&answer(400, None, &body.to_string())).unwrap();
    assert_eq!(
        said,
        Said::No(No::Arguments(vec!["timeframe".into(), "x\\u{202e}".into()]))
    );
    assert_eq!(
        sort(&answer(400, Some("Bad"), "")).unwrap(),
        Said::No(No::Arguments(vec![]))
    );
}

#[test]
fn only_an_envelope_is_an_answer() {
    let check = |body: &str, expected: Result<Value, UpstreamError>| {
        assert_eq!(sort(&answer(200, None, body)), expected.map(Said::Yes), "{body}");
    };
    check(r#"{"data":[1]}"#, Ok(json!([1])));
    check(r#"{"data":null}"#, Ok(Value::Null));
    for odd in ["", "<html>", "[]", "7", "{}", r#"{"Data":1}"#] {
        check(odd, Err(UpstreamError::Invalid));
    }
}

#[test]
fn a_no_tells_nothing_of_the_files_of_a_server() {
    let text = "Configuration file 'nodes/pve/qemu-server/999.conf' does not exist";
    for status in [400, 403, 404, 418, 500, 501, 595] {
        let Ok(Said::No(no)) = sort(&answer(status, Some(text), "")) else {
            panic!("{status}")
        };
        let told = no.told("the guest 999");
        assert!(
            told.starts_with("the guest 999: ") && !told.contains("qemu-server"),
            "{told}"
        );
    }
}
