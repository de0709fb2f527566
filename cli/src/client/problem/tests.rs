use super::{super::super::failure::Exit, failure};

fn check(status: u16, retry: Option<u64>, body: &str, exit: Exit, text: &str) {
    let failure = failure(status, retry, body.as_bytes(), false);
    assert_eq!((failure.exit, failure.text().as_str()), (exit, text));
}

#[test]
fn every_violation_is_listed_with_its_place() {
    check(
        400,
        None,
        r#"{"type":"urn:toolgate:error:arguments-invalid","title":"arguments do not match the schema","status":400,
            "violations":[{"pointer":"/vmid","keyword":"type","message":"not an integer"},
                          {"pointer":"","keyword":"required","message":"`node` is required"}]}"#,
        Exit::Refused,
        "error: arguments do not match the schema\n  /vmid: not an integer\n  `node` is required",
    );
}

#[test]
fn the_targets_to_choose_from_are_listed() {
    check(
        400,
        None,
        r#"{"type":"urn:toolgate:error:target-required","title":"target required","detail":"target required: name one",
            "targets":[{"id":"01A","name":"a"},{"id":"01B","name":"b"}]}"#,
        Exit::Refused,
        "error: target required: name one\n  target a (01A)\n  target b (01B)\nnext: name one of them with --target",
    );
}

#[test]
fn a_limit_says_how_long_to_wait() {
    let body = r#"{"type":"urn:toolgate:error:rate-limited","title":"rate limited"}"#;
    check(
        429,
        Some(7),
        body,
        Exit::Refused,
        "error: rate limited\nnext: try again in 7 s",
    );
}

#[test]
fn a_fault_of_the_gateway_is_a_failure_and_no_refusal() {
    let body = r#"{"type":"urn:toolgate:error:relay-offline","title":"relay not connected"}"#;
    let text = "error: relay not connected\nnext: `toolgate target list` tells how each relay does: start it where it \
                is offline, `toolgate target enrol NAME` where it is waiting, revoked or locked";
    check(503, None, body, Exit::Failed, text);
}

#[test]
fn what_is_told_of_a_project_names_the_commands_of_projects() {
    let next = "next: `toolgate fleet list` tells how each project does: start its relay where it is offline, \
                `toolgate fleet enrol NAME` where it is waiting, revoked or locked";
    for (reason, detail) in [
        (
            "project-offline",
            "project files is not connected: no relay has enrolled (relay 01A)",
        ),
        (
            "project-offline",
            "the server of project files does not run; its relay 01A starts it again",
        ),
        (
            "relay-lost",
            "the connection to project files ended before its answer",
        ),
    ] {
        let body = format!(r#"{{"type":"urn:toolgate:error:{reason}","title":"relay","detail":"{detail}"}}"#);
        check(
            503,
            None,
            &body,
            Exit::Failed,
            &format!("error: relay: {detail}\n{next}"),
        );
    }
}

#[test]
fn an_answer_that_is_no_problem_still_says_its_status() {
    let text = "error: the gateway answered with status 502 and no reason";
    check(502, None, "<html>", Exit::Failed, text);
    check(502, None, "", Exit::Failed, text);
    check(502, None, "[1]", Exit::Failed, text);
}
