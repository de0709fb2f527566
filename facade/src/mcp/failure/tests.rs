use serde_json::{Value, json};
use toolgate_contract::v1::{TargetChoice, Violation};

use super::*;
use crate::mcp::revision::Legacy;

const LEGACY: Era = Era::Legacy(Legacy::Structured);

fn id() -> Id {
    Id::read(serde_json::from_str("\"7\"").unwrap()).unwrap()
}

fn every_reason() -> impl Iterator<Item = ErrorReason> {
    (0..).map_while(|number| ErrorReason::try_from(number).ok())
}

/// How a failure of a call is told, in a few words.
fn of(reason: ErrorReason, in_session: bool) -> String {
    let failure = Failure::new(reason, "why");
    match of_call(&failure, &id(), LEGACY, in_session, &ServerInfo::new("1")) {
        Answered::Result(message, beside) => {
            let json: Value = serde_json::from_slice(&message).unwrap();
            assert_eq!(json["id"], "7");
            assert_eq!(json["result"]["isError"], true);
            assert_eq!(json["result"]["_meta"]["toolgate/reason"], reason.name());
            assert!(json["result"].get("structuredContent").is_none());
            assert_eq!(beside.status, 200);
            "isError".into()
        }
        Answered::Error(fault) => {
            let json: Value = serde_json::from_slice(&fault.write()).unwrap();
            assert_eq!(json["id"], "7");
            assert_eq!(json["error"]["data"]["reason"], reason.name());
            assert_eq!(fault.http.reason, Some(reason));
            format!("{} {}", fault.http.status.as_u16(), fault.code)
        }
        Answered::Nothing => "nothing".into(),
    }
}

/// The outcome table of `gateway.md` §3, column MCP. Every reason has its row.
#[test]
fn each_failure_of_a_call_is_told_as_the_outcome_table_says() {
    use ErrorReason as R;
    for reason in every_reason() {
        let expected = match reason {
            R::CredentialInvalid => "401 401",
            R::OriginForbidden => "403 403",
            R::ToolNotFound | R::CallNotFound | R::ProjectNotFound | R::RequestMalformed => "200 -32602",
            R::ProjectOffline | R::Internal | R::Unspecified => "200 -32603",
            R::Cancelled => "nothing",
            _ => "isError",
        };
        assert_eq!(of(reason, false), expected, "{reason:?}");
        let expected = if reason == R::ResourceNotFound {
            "404 404"
        } else {
            expected
        };
        assert_eq!(of(reason, true), expected, "{reason:?} in a session");
    }
}

/// No code of ours lies where JSON-RPC or the specification keep theirs.
#[test]
fn a_failure_without_a_result_has_the_status_of_http_or_a_code_of_json_rpc() {
    for reason in every_reason() {
        let fault = of_method(&Failure::new(reason, "why"), &id());
        let status = i32::from(fault.http.status.as_u16());
        let plain = [PARAMS, INTERNAL].contains(&fault.code) && status == 200;
        assert!(
            plain || (fault.code == status && status >= 400),
            "{reason:?}: {} {status}",
            fault.code
        );
    }
}

#[test]
fn a_model_is_told_everything_that_mends_its_call() {
    let violation = |pointer: &str, message: &str| Violation {
        pointer: pointer.into(),
        keyword: "type".into(),
        message: message.into(),
    };
    let target = TargetChoice {
        id: "01T".into(),
        name: "web \"1\"".into(),
    };
    let failure = Failure::new(ErrorReason::TargetRequired, "several targets fit")
        .with_metadata("correlationId", "01C")
        .with_violations([violation("/vmid", "is no integer"), violation("", "is too much")])
        .with_targets([target])
        .retry_after(std::time::Duration::from_millis(1500));
    let Answered::Result(message, beside) =
        of_call(&failure, &id(), Era::Modern, false, &ServerInfo::new("9"))
    else {
        panic!("a result")
    };
    assert_eq!(beside.retry_after, Some(2));
    let json: Value = serde_json::from_slice(&message).unwrap();
    let result = &json["result"];
    assert_eq!(
        result["content"],
        json!([{"type": "text", "text": "several targets fit; try again in 2 s\n- /vmid: is no integer\n\
            - arguments: is too much\nname one of these targets as target_id:\n- 01T (web \"1\")"}])
    );
    assert_eq!(result["resultType"], "complete");
    assert_eq!(
        result["_meta"],
        json!({
            "toolgate/reason": "TARGET_REQUIRED",
            "toolgate/correlationId": "01C",
            "toolgate/retryAfter": 2,
            "toolgate/violations": [
                {"pointer": "/vmid", "keyword": "type", "message": "is no integer"},
                {"pointer": "", "keyword": "type", "message": "is too much"},
            ],
            "toolgate/targets": [{"id": "01T", "name": "web \"1\""}],
            "io.modelcontextprotocol/serverInfo": {"name": "toolgate", "title": "Toolgate", "version": "9"},
        })
    );
    assert!(!message.contains(&b'\n'));
}
