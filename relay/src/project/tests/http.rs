//! Servers behind HTTP, in each era that has it.

mod scripted;

use super::*;
use scripted::{Http, Script};

#[tokio::test]
async fn a_server_is_found_in_every_era_that_has_http() {
    for (script, revision, transport) in [
        (Script::Sessions, "2025-06-18", "streamable-http"),
        (Script::Plain, "2025-06-18", "streamable-http"),
        (Script::Stateless, "2026-07-28", "streamable-http"),
        (Script::Events, "2024-11-05", "http+sse"),
    ] {
        let server = Http::start(script).await;
        let mut played = play(server.local());
        let told = played.told("up").await;
        let wanted = json!({"state": "up", "name": "scripted", "version": "9", "revision": revision, "transport": transport});
        assert_eq!(told, wanted, "{script:?}");
        let params = r#"{ "name" : "echo","n":9007199254740993, "u": "\u00fc" }"#;
        let id = played.ask(None, "tools/call", params).await;
        let returned = played.response(&id).await;
        let text = String::from_utf8_lossy(&returned.body).into_owned();
        assert!(
            text.starts_with(&params[..params.len() - 2]),
            "{script:?}: {text}"
        );
    }
}

#[tokio::test]
async fn every_message_names_the_session_and_the_negotiated_revision() {
    let server = Http::start(Script::Sessions).await;
    let mut played = up(server.local()).await;
    let id = played.call("echo").await;
    played.result(&id).await;
    let seen = server.seen();
    let opening = seen
        .iter()
        .find(|seen| seen.method == "initialize")
        .expect("seen");
    assert_eq!(
        (opening.session.as_deref(), opening.revision.as_deref()),
        (None, None)
    );
    for method in ["notifications/initialized", "tools/call", "GET"] {
        let seen = seen.iter().find(|seen| seen.method == method).expect(method);
        assert_eq!(seen.session.as_deref(), Some("session-1"), "{method}");
        assert_eq!(seen.revision.as_deref(), Some("2025-06-18"), "{method}");
    }
}

#[tokio::test]
async fn a_caller_of_another_era_does_not_change_how_a_server_is_spoken_to() {
    let server = Http::start(Script::Sessions).await;
    let mut played = up(server.local()).await;
    let params = r#"{"name":"echo","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
    let id = played.ask(None, "tools/call", params).await;
    assert_eq!(played.response(&id).await.body, params);
    let seen = server.seen();
    let call = seen
        .iter()
        .find(|seen| seen.method == "tools/call")
        .expect("seen");
    assert_eq!(call.session.as_deref(), Some("session-1"));
    assert_eq!(call.revision.as_deref(), Some("2025-06-18"));
    assert_eq!(call.mcp_method, None);
}

#[tokio::test]
async fn a_session_ends_with_its_conversation() {
    let server = Http::start(Script::Sessions).await;
    let mut played = up(server.local()).await;
    played.lead_http("c1").await;
    played.notify(Some("c1"), "toolgate/close", "{}").await;
    played.notification("toolgate/closed").await;
    played.project.end().await;
    let mut ended: Vec<_> = server
        .seen()
        .into_iter()
        .filter(|seen| seen.method == "DELETE")
        .filter_map(|seen| seen.session)
        .collect();
    ended.sort();
    assert_eq!(ended, ["session-1", "session-2"]);
}

#[tokio::test]
async fn a_session_that_the_server_forgot_is_opened_anew_once_and_the_call_repeated() {
    let server = Http::start(Script::Sessions).await;
    let mut played = up(server.local()).await;
    server.forget();
    let (one, two) = (played.call("echo").await, played.call("echo").await);
    assert_eq!(played.result(&one).await["name"], "echo");
    assert_eq!(played.result(&two).await["name"], "echo");
    played.notification("notifications/tools/list_changed").await;
    let opened = server
        .seen()
        .iter()
        .filter(|seen| seen.method == "initialize")
        .count();
    assert_eq!(opened, 2, "both calls found the one that was opened");
}

#[tokio::test]
async fn a_clients_own_session_is_opened_anew_with_its_own_words_and_after_that_it_begins_anew() {
    let server = Http::start(Script::Sessions).await;
    let mut played = up(server.local()).await;
    played.lead_http("c1").await;
    server.forget();
    let id = played.call_in("c1", "echo").await;
    assert_eq!(played.result(&id).await["name"], "echo");
    let openings: Vec<_> = server
        .seen()
        .into_iter()
        .filter(|seen| seen.body.contains(r#""name":"c""#))
        .collect();
    assert_eq!((openings.len(), &openings[0].body), (2, &openings[1].body));
    server.forget_always();
    let id = played.call_in("c1", "echo").await;
    assert_eq!(played.refusal(&id).await, RefusalCode::ConversationUnknown);
    played.notification("toolgate/closed").await;
}

#[tokio::test]
async fn what_comes_in_the_stream_of_a_call_is_on_its_account() {
    let server = Http::start(Script::Sessions).await;
    let mut played = up(server.local()).await;
    played.lead_http("c1").await;
    let hanging = played.call_in("c1", "hang").await;
    let id = played.call_in("c1", "ask").await;
    let log = played.notification("notifications/message").await;
    assert_eq!(log.header.about, Some(id.clone()));
    assert_eq!(log.header.conversation, FrameId::parse("c1"));
    let question = played.question().await;
    assert_eq!(question.header.about, Some(id.clone()));
    played
        .send(Frame::new(Kind::Response, question.header.id, r#"{"x": 1.0}"#))
        .await;
    assert_eq!(
        played.response(&id).await.body,
        r#"{"jsonrpc":"2.0","id":"q-1","result":{"x": 1.0}}"#
    );
    let listened = played.notification("notifications/tools/list_changed").await;
    assert_eq!(listened.header.about, None, "from the GET stream");
    played.send(Frame::new(Kind::Cancel, hanging.clone(), "")).await;
    assert_eq!(played.refusal(&hanging).await, RefusalCode::Cancelled);
    server.sees("notifications/cancelled").await;
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_taken_up_behind_its_last_event() {
    let server = Http::start(Script::Sessions).await;
    let mut played = up(server.local()).await;
    let id = played.call("break_off").await;
    assert_eq!(played.result(&id).await["content"][0]["text"], "after event-7");
}

#[tokio::test]
async fn stateless_requests_say_in_headers_what_their_body_says() {
    let server = Http::start(Script::Stateless).await;
    let mut played = up(server.local()).await;
    let params = r#"{"name":"echo ü","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}"#;
    let id = played.ask(Some("raw"), "tools/call", params).await;
    assert_eq!(played.response(&id).await.body, params, "untouched");
    let seen = server.seen();
    let call = seen
        .iter()
        .find(|seen| seen.method == "tools/call")
        .expect("seen");
    assert_eq!(call.session, None);
    assert_eq!(call.revision.as_deref(), Some("2026-07-28"));
    assert_eq!(call.mcp_method.as_deref(), Some("tools/call"));
    assert_eq!(call.mcp_name.as_deref(), Some("=?base64?ZWNobyDDvA==?="));
}

#[tokio::test]
async fn closing_the_stream_cancels_a_stateless_call() {
    let server = Http::start(Script::Stateless).await;
    let mut played = up(server.local()).await;
    let id = played.call("hang").await;
    server.sees("tools/call").await;
    played.send(Frame::new(Kind::Cancel, id.clone(), "")).await;
    assert_eq!(played.refusal(&id).await, RefusalCode::Cancelled);
    server.sees("hung up").await;
    assert!(
        !server
            .seen()
            .iter()
            .any(|seen| seen.method == "notifications/cancelled")
    );
}

#[tokio::test]
async fn errors_that_come_with_a_status_are_answers_all_the_same() {
    let server = Http::start(Script::Stateless).await;
    let mut played = up(server.local()).await;
    let id = played.ask(None, "no/such", "{}").await;
    let response = played.response(&id).await;
    assert_eq!(response.header.error, Some(RefusalCode::AnsweredWithError));
    assert_eq!(
        response.body,
        r#"{"code":-32601,"message":"no such method", "data":1.0}"#
    );
    for (name, code) in [
        ("credentials", RefusalCode::Failed),
        ("bad_gateway", RefusalCode::ServerDown),
        ("huge", RefusalCode::TooLarge),
        ("nothing", RefusalCode::Failed),
    ] {
        let id = played.call(name).await;
        assert_eq!(played.refusal(&id).await, code, "{name}");
    }
}

#[tokio::test]
async fn a_server_that_goes_away_fails_its_calls_and_is_found_when_it_is_back() {
    for script in [Script::Sessions, Script::Stateless, Script::Events] {
        let server = Http::start(script).await;
        let mut played = up(server.local()).await;
        let hanging = played.call("hang").await;
        server.sees("tools/call").await;
        let began = Instant::now();
        let address = server.kill().await;
        assert_eq!(
            played.refusal(&hanging).await,
            RefusalCode::ServerDown,
            "{script:?}"
        );
        let id = played.call("echo").await;
        assert_eq!(played.refusal(&id).await, RefusalCode::ServerDown, "{script:?}");
        assert!(
            began.elapsed() < Duration::from_secs(2),
            "{script:?}: {:?}",
            began.elapsed()
        );
        played.told("down").await;
        let _again = Http::start_at(script, address).await;
        played.told("up").await;
        let id = played.call("echo").await;
        assert_eq!(played.result(&id).await["name"], "echo", "{script:?}");
    }
}

#[tokio::test]
async fn a_server_cannot_send_the_relay_elsewhere() {
    let (elsewhere, server) = (
        Http::start(Script::Plain).await,
        Http::start(Script::Redirect).await,
    );
    server.redirect_to(elsewhere.url());
    let mut played = play(server.local());
    let told = played.told("down").await;
    assert_eq!(told["why"], "it answers HTTP 307");
    assert_eq!(elsewhere.seen().len(), 0);

    let server = Http::start(Script::Redirect).await;
    server.redirect_to("/there".to_owned());
    let mut played = up(server.local()).await;
    let id = played.call("echo").await;
    played.result(&id).await;

    let server = Http::start(Script::Events).await;
    server.redirect_to(elsewhere.url());
    let mut played = play(server.local());
    let told = played.told("down").await;
    assert_eq!(told["why"], "it wants messages sent to another server");
    assert_eq!(elsewhere.seen().len(), 0);
}

#[test]
fn only_http_urls_name_a_server() {
    for (url, is_one) in [
        ("http://127.0.0.1:3000/mcp", true),
        ("https://tools.example/mcp?x=1", true),
        ("http://user:secret@127.0.0.1/", false),
        ("ftp://127.0.0.1/", false),
        ("127.0.0.1:3000", false),
        ("http://127.0.0.1/#x", false),
        ("", false),
    ] {
        assert_eq!(client::url(url).is_ok(), is_one, "{url}");
    }
}

impl Played {
    async fn lead_http(&mut self, name: &str) {
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
        let id = self.ask(Some(name), "initialize", params.to_string()).await;
        assert_eq!(self.result(&id).await["protocolVersion"], "2025-06-18");
        self.notify(Some(name), "notifications/initialized", "{}").await;
    }
}
