//! Servers that are child processes.

use super::*;

#[tokio::test]
async fn a_server_is_found_in_every_era_it_may_speak() {
    for (era, revision) in [
        ("sessions", "2025-11-25"),
        ("bom", "2025-11-25"),
        ("shy", "2025-11-25"),
        ("stateless", "2026-07-28"),
    ] {
        let mut played = play(scripted(era));
        let told = played.told("up").await;
        let wanted = json!({"state": "up", "name": "scripted", "version": "9", "revision": revision, "transport": "stdio"});
        assert_eq!(told, wanted, "{era}");
        let id = played.call("echo").await;
        assert_eq!(played.result(&id).await["name"], "echo", "{era}");
    }
}

#[tokio::test]
async fn an_old_server_that_never_answers_the_first_question_is_begun_without_it() {
    let mut played = play(scripted("silent"));
    played.told("starting").await;
    tokio::time::pause();
    // Nothing but the clock can go on now.
    tokio::time::advance(Duration::from_secs(11)).await;
    tokio::time::resume();
    played.told("up").await;
    let id = played.call("echo").await;
    assert_eq!(played.result(&id).await["name"], "echo");
}

#[tokio::test]
async fn an_error_of_the_server_comes_back_as_it_is() {
    let mut played = up(scripted("sessions")).await;
    let id = played.call("fail").await;
    let response = played.response(&id).await;
    assert_eq!(response.header.error, Some(RefusalCode::AnsweredWithError));
    assert_eq!(
        response.body,
        r#"{"code":-32002,"message":"no such thing","data":{"n":9007199254740993}}"#
    );
}

#[tokio::test]
async fn lines_that_are_no_messages_and_answers_to_nothing_harm_nobody() {
    let mut played = up(scripted("sessions")).await;
    for (name, wanted) in [
        ("rubbish", "after rubbish"),
        ("twice", "first"),
        ("half", "in halves"),
        ("batch", "batch"),
        ("half", "in halves"),
    ] {
        let id = played.call(name).await;
        assert_eq!(played.result(&id).await["content"][0]["text"], wanted, "{name}");
    }
}

#[tokio::test]
async fn many_calls_at_once_get_their_own_answers() {
    let mut played = up(scripted("sessions")).await;
    let mut asked = Vec::new();
    for n in 0..64 {
        let params = json!({"name": "echo", "n": n}).to_string();
        asked.push((n, played.ask(None, "tools/call", params).await));
    }
    for (n, id) in asked {
        assert_eq!(played.result(&id).await["n"], n);
    }
}

#[tokio::test]
async fn a_flood_of_notifications_is_passed_on_in_order_and_loses_no_answer() {
    let mut played = up(scripted("sessions")).await;
    let id = played.call("flood").await;
    for n in 0..5000 {
        let frame = played.notification("notifications/message").await;
        assert_eq!(frame.body, format!(r#"{{"data":{n}}}"#));
        assert_eq!(
            frame.header.about.as_ref(),
            Some(&id),
            "the only request there is"
        );
    }
    assert_eq!(played.result(&id).await["content"][0]["text"], "flooded");
}

#[tokio::test]
async fn progress_comes_with_the_token_it_was_asked_for_and_only_while_the_call_runs() {
    let mut played = up(scripted("sessions")).await;
    for token in [r#""a\u0062c""#, "7", r#""x""#] {
        let params = format!(r#"{{"name":"progress","_meta":{{"progressToken":{token}}}}}"#);
        let id = played.ask(None, "tools/call", params).await;
        let frame = played.notification("notifications/progress").await;
        assert_eq!(
            frame.body,
            format!(r#"{{"progressToken":{token},"progress":0.50}}"#)
        );
        assert_eq!(frame.header.about, Some(id.clone()));
        played.result(&id).await;
    }
    let id = played.call("echo").await;
    played.result(&id).await;
    let more = played
        .earlier
        .iter()
        .any(|frame| frame.header.method.as_deref() == Some("notifications/progress"));
    assert!(!more, "progress of others, or after the end, goes nowhere");
}

#[tokio::test]
async fn a_server_cannot_speak_for_the_relay() {
    let mut played = up(scripted("sessions")).await;
    let id = played.call("spoof").await;
    let frame = played.notification("notifications/tools/list_changed").await;
    assert_eq!(frame.body, "{}");
    played.result(&id).await;
    let spoofed = played
        .earlier
        .iter()
        .filter(|frame| frame.header.kind == Kind::Notify);
    let methods: Vec<_> = spoofed.filter_map(|frame| frame.header.method.clone()).collect();
    assert!(
        methods.iter().all(|method| method != "toolgate/closed"),
        "{methods:?}"
    );
    assert!(
        !played
            .earlier
            .iter()
            .any(|frame| frame.body == r#"{"state":"down"}"#)
    );
}

#[tokio::test]
async fn what_a_server_asks_goes_up_and_the_answer_comes_back_under_its_own_id() {
    let mut played = up(scripted("sessions")).await;
    played.lead("c1").await;
    let id = played.call_in("c1", "ask").await;
    let question = played.question().await;
    assert_eq!(question.header.method.as_deref(), Some("sampling/createMessage"));
    assert_eq!(question.header.conversation, FrameId::parse("c1"));
    assert_eq!(question.header.about, Some(id.clone()));
    assert_eq!(
        question.header.id,
        played.session.request(0),
        "counted by the relay"
    );
    assert_eq!(question.body, r#"{"n":9007199254740993}"#);
    played
        .send(Frame::new(
            Kind::Response,
            question.header.id,
            r#"{ "role" : 1.0 }"#,
        ))
        .await;
    assert_eq!(played.response(&id).await.body, r#"{"result":{ "role" : 1.0 }}"#);

    let id = played.call_in("c1", "ask").await;
    let question = played.question().await;
    played
        .send(Frame::answered_with_error(
            question.header.id,
            r#"{"code":-1,"message":"no"}"#,
        ))
        .await;
    assert_eq!(
        played.response(&id).await.body,
        r#"{"error":{"code":-1,"message":"no"}}"#
    );

    let id = played.call_in("c1", "ask").await;
    let question = played.question().await;
    let refusal = Refusal::new(RefusalCode::UnknownMethod, "no");
    played.send(Frame::refusal(question.header.id, &refusal)).await;
    assert_eq!(played.result(&id).await["error"]["code"], -32601);
}

#[tokio::test]
async fn a_server_that_no_longer_waits_withdraws_its_question() {
    let mut played = up(scripted("sessions")).await;
    let id = played.call("give_up").await;
    let question = played.question().await;
    let withdrawn = played.find(|frame| frame.header.kind == Kind::Cancel).await;
    assert_eq!(withdrawn.header.id, question.header.id);
    // The gateway answers all the same; the server hears nothing of it.
    let refusal = Refusal::new(RefusalCode::Cancelled, "cancelled");
    played.send(Frame::refusal(question.header.id, &refusal)).await;
    let other = played.call("echo").await;
    played.result(&other).await;
    assert!(!played.earlier.iter().any(|frame| frame.header.id == id));
}

#[tokio::test]
async fn a_ping_of_the_server_is_answered_by_the_relay() {
    let mut played = up(scripted("sessions")).await;
    let id = played.call("ping").await;
    assert_eq!(played.result(&id).await, json!({"result": {}}));
}

#[tokio::test]
async fn a_cancelled_call_is_answered_once_and_the_server_told() {
    let mut played = up(scripted("sessions")).await;
    let id = played.call("hang").await;
    played.send(Frame::new(Kind::Cancel, id.clone(), "")).await;
    assert_eq!(played.refusal(&id).await, RefusalCode::Cancelled);
    let heard = played.call("heard").await;
    let heard = played.result(&heard).await;
    assert_eq!(heard[0]["method"], "notifications/initialized");
    assert_eq!(heard[1]["method"], "notifications/cancelled");
    assert_eq!(heard[1]["params"]["requestId"], 3, "the relay's own id: {heard}");
}

#[tokio::test]
async fn the_relay_keeps_the_deadline_itself() {
    let mut played = up(scripted("sessions")).await;
    let id = played.session.request(played.next);
    let hang = r#"{"name":"hang"}"#;
    played.next += 1;
    played
        .send(Frame::request(id.clone(), "tools/call", 200, hang))
        .await;
    assert_eq!(played.refusal(&id).await, RefusalCode::DeadlineExceeded);
    let heard = played.call("heard").await;
    assert_eq!(
        played.result(&heard).await[1]["method"],
        "notifications/cancelled"
    );
}

#[tokio::test]
async fn a_server_that_is_killed_fails_its_calls_at_once_and_is_started_again() {
    let mut played = up(scripted("sessions")).await;
    let hanging = played.call("hang").await;
    let began = Instant::now();
    let dying = played.call("die").await;
    assert_eq!(played.refusal(&hanging).await, RefusalCode::ServerDown);
    assert_eq!(played.refusal(&dying).await, RefusalCode::ServerDown);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    let told = played.told("down").await;
    assert_eq!(told["why"], "it was killed");
    played.told("up").await;
    let id = played.call("echo").await;
    assert_eq!(played.result(&id).await["name"], "echo");
}

#[tokio::test]
async fn while_a_server_is_down_calls_are_refused_at_once() {
    let mut played = play(scripted("crash"));
    let told = played.told("down").await;
    assert_eq!(told["why"], "it ended with exit code 7");
    let began = Instant::now();
    for conversation in [None, Some("raw")] {
        let id = played.ask(conversation, "tools/list", "{}").await;
        assert_eq!(played.refusal(&id).await, RefusalCode::ServerDown);
    }
    let id = played.ask(Some("c1"), "initialize", "{}").await;
    assert_eq!(played.refusal(&id).await, RefusalCode::ServerDown);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

#[tokio::test]
async fn each_conversation_has_a_server_of_its_own_and_ends_alone() {
    let mut played = up(scripted("sessions")).await;
    played.lead("c1").await;
    played.lead("c2").await;
    let (hanging, dying) = (
        played.call_in("c2", "hang").await,
        played.call_in("c1", "die").await,
    );
    assert_eq!(played.refusal(&dying).await, RefusalCode::ServerDown);
    let closed = played.notification("toolgate/closed").await;
    assert_eq!(closed.header.conversation, FrameId::parse("c1"));
    let id = played.call_in("c1", "echo").await;
    assert_eq!(played.refusal(&id).await, RefusalCode::ConversationUnknown);
    for id in [played.call("echo").await, played.call_in("c2", "echo").await] {
        assert_eq!(played.result(&id).await["name"], "echo", "the others go on");
    }
    played.notify(Some("c2"), "toolgate/close", "{}").await;
    assert_eq!(played.refusal(&hanging).await, RefusalCode::ServerDown);
    let closed = played.notification("toolgate/closed").await;
    assert_eq!(closed.header.conversation, FrameId::parse("c2"));
}

#[tokio::test]
async fn messages_without_a_conversation_reach_a_stateless_server_as_they_are() {
    let mut played = up(scripted("stateless")).await;
    let params = r#"{"name":"echo", "_meta" : {"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
    let id = played.ask(Some("raw"), "tools/call", params).await;
    assert_eq!(played.response(&id).await.body, params);
    let id = played.ask(Some("raw"), "tools/call", r#"{"name":"echo"}"#).await;
    assert_eq!(
        played.refusal(&id).await,
        RefusalCode::AnsweredWithError,
        "nothing is added to them"
    );
}

#[tokio::test]
async fn a_stateless_client_hears_from_an_older_server_that_it_wants_a_session() {
    let mut played = up(scripted("sessions")).await;
    for (method, code) in [("server/discover", -32601), ("tools/list", -32022)] {
        let id = played.ask(Some("raw"), method, "{}").await;
        let response = played.response(&id).await;
        assert_eq!(response.header.error, Some(RefusalCode::AnsweredWithError));
        let error: Value = serde_json::from_slice(&response.body).expect("json");
        assert_eq!(error["code"], code);
    }
}

#[tokio::test]
async fn a_stateless_server_is_asked_for_its_changes() {
    let mut played = up(scripted("stateless")).await;
    let changed = played.notification("notifications/tools/list_changed").await;
    assert_eq!(changed.header.about, None);
}

#[tokio::test]
async fn params_that_are_no_object_never_reach_the_server() {
    let mut played = up(scripted("sessions")).await;
    for params in [
        "[]",
        "7",
        "{",
        "{}{}",
        "{\"_meta\":{\"progressToken\":1,\"progressToken\":2}}",
    ] {
        let id = played.ask(None, "tools/list", params).await;
        assert_eq!(played.refusal(&id).await, RefusalCode::Malformed, "{params}");
    }
    let id = played.call("echo").await;
    played.result(&id).await;
}

#[tokio::test]
async fn a_gateway_that_comes_back_hears_how_the_server_is_and_the_old_conversations_have_ended() {
    let mut played = up(scripted("sessions")).await;
    played.lead("c1").await;
    let id = FrameId::parse("c1").expect("an id");
    let conversation = played.project.led.of(&id).expect("it stands");
    played.stop.cancel();
    (&mut played.served).await.expect("ran");
    timeout(Duration::from_secs(10), conversation.ended())
        .await
        .expect("its server ends");
    let mut again = connect(Arc::clone(&played.project));
    again.told("up").await;
    let id = again.call_in("c1", "echo").await;
    assert_eq!(again.refusal(&id).await, RefusalCode::ConversationUnknown);
    let id = again.call("echo").await;
    assert_eq!(again.result(&id).await["name"], "echo", "the shared one goes on");
}

#[tokio::test]
async fn a_conversation_is_closed_by_a_frame_without_a_body() {
    let mut played = up(scripted("sessions")).await;
    for (name, body) in [("c1", ""), ("c2", "{}"), ("c3", "[")] {
        played.lead(name).await;
        played.notify(Some(name), "toolgate/close", body).await;
        let closed = played.notification("toolgate/closed").await;
        assert_eq!(closed.header.conversation, FrameId::parse(name), "{body}");
    }
}

#[tokio::test]
async fn an_empty_body_is_the_empty_object() {
    let mut played = up(scripted("sessions")).await;
    let id = played.ask(None, "tools/list", "").await;
    assert_eq!(played.result(&id).await["tools"], json!([]));
    played.notify(None, "notifications/roots/list_changed", "").await;
    let id = played.call("heard").await;
    let heard = played.result(&id).await.to_string();
    assert!(heard.contains("notifications/roots/list_changed"), "{heard}");
}

#[tokio::test]
async fn nothing_but_notifications_is_told_to_a_server() {
    let mut played = up(scripted("sessions")).await;
    played.lead("c1").await;
    for conversation in [None, Some("c1")] {
        let call = r#"{"name":"die","arguments":{}}"#;
        for method in ["tools/call", "notifications", "initialize"] {
            played.notify(conversation, method, call).await;
        }
        played
            .notify(conversation, "notifications/roots/list_changed", "{}")
            .await;
        let params = r#"{"name":"heard"}"#;
        let id = played.ask(conversation, "tools/call", params).await;
        let heard = played.result(&id).await;
        let methods: Vec<_> = heard.as_array().expect("a list").iter().collect();
        let methods = methods
            .iter()
            .map(|line| line["method"].as_str().expect("a text"));
        let methods: Vec<_> = methods.filter(|it| *it != "notifications/initialized").collect();
        assert_eq!(methods, ["notifications/roots/list_changed"], "{conversation:?}");
    }
}

/// Runs itself once more, with what a relay may be started with: the environment of a test cannot be changed.
#[tokio::test]
#[allow(
    clippy::disallowed_methods,
    reason = "that is how the second run knows itself"
)]
async fn a_server_sees_none_of_the_variables_of_the_relay() {
    const OURS: [&str; 3] = ["TOOLGATE_ENROLMENT_TOKEN", "TOOLGATE_TOKEN", "TOOLGATE_CONFIG"];
    if std::env::var_os("GIVEN_TO_THE_SERVER").is_none() {
        let name = "project::tests::stdio::a_server_sees_none_of_the_variables_of_the_relay";
        let mut again = tokio::process::Command::new(std::env::current_exe().expect("a program"));
        again.args(["--exact", name]).env("GIVEN_TO_THE_SERVER", "yes");
        let output = again.envs(OURS.map(|name| (name, "secret"))).output().await;
        let output = output.expect("runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let mut played = up(scripted("sessions")).await;
    played.lead("c1").await;
    for conversation in [None, Some("c1")] {
        for (variable, wanted) in OURS
            .map(|name| (name, "-"))
            .into_iter()
            .chain([("GIVEN_TO_THE_SERVER", "yes")])
        {
            assert!(
                std::env::var_os(variable).is_some(),
                "{variable} is set for the relay"
            );
            let params = json!({"name": "environment", "variable": variable}).to_string();
            let id = played.ask(conversation, "tools/call", params).await;
            assert_eq!(played.result(&id).await["value"], wanted, "{variable}");
        }
    }
}
