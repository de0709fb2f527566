//! MCP over a pair of pipes (rows IO1, IO2, C1, C2, P1).

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::{
    io::{
        AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex, split,
    },
    task::JoinHandle,
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use toolgate_contract::v1::{
    CallProgress, ErrorReason, Failure, ListenResponse, RunResponse, ServerRequest, listen_response,
    run_response::Event,
};
use toolgate_facade::mcp::{Stdio, StdioError, stdio};

use crate::core::ScriptedCore;

const PATIENCE: Duration = Duration::from_secs(10);

/// A client at the other end of the pipe.
struct Client {
    says: Option<WriteHalf<DuplexStream>>,
    hears: Lines<BufReader<ReadHalf<DuplexStream>>>,
    served: JoinHandle<Result<(), StdioError>>,
    shutdown: CancellationToken,
}

impl Client {
    fn of(core: &ScriptedCore) -> Self {
        Self::with(core, Stdio::new("tgk_a_b").unwrap())
    }

    fn with(core: &ScriptedCore, settings: Stdio) -> Self {
        let (ours, theirs) = duplex(64 * 1024);
        let (input, output) = split(theirs);
        let shutdown = CancellationToken::new();
        let served = tokio::spawn(stdio(core.service(), settings, input, output, shutdown.clone()));
        let (hears, says) = split(ours);
        Self {
            says: Some(says),
            hears: BufReader::new(hears).lines(),
            served,
            shutdown,
        }
    }

    async fn bytes(&mut self, bytes: &[u8]) {
        let says = self.says.as_mut().expect("the pipe is open");
        timeout(PATIENCE, says.write_all(bytes))
            .await
            .expect("it is read")
            .unwrap();
    }

    async fn say(&mut self, message: &Value) {
        self.bytes(format!("{message}\n").as_bytes()).await;
    }

    async fn hear(&mut self) -> Value {
        let line = timeout(PATIENCE, self.hears.next_line())
            .await
            .expect("an answer comes");
        let line = line.unwrap().expect("the pipe is open");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    async fn ask(&mut self, message: &Value) -> Value {
        self.say(message).await;
        self.hear().await
    }

    async fn begins(mut self, revision: &str) -> Self {
        let answer = self.ask(&initialize(revision)).await;
        assert_eq!(answer["result"]["protocolVersion"], revision, "{answer}");
        self.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        self
    }

    /// What is still said until the other end closes.
    async fn leaves(mut self) -> (Result<(), StdioError>, Vec<String>) {
        drop(self.says.take());
        let mut rest = Vec::new();
        while let Some(line) = timeout(PATIENCE, self.hears.next_line())
            .await
            .expect("it ends")
            .unwrap()
        {
            rest.push(line);
        }
        (self.served.await.unwrap(), rest)
    }
}

fn initialize(revision: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}})
}

fn ping(id: impl Into<Value>) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": "ping"})
}

fn call(id: impl Into<Value>) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": "tools/call",
        "params": {"name": "ssh_run", "arguments": {"n": 1}}})
}

fn cancel(id: impl Into<Value>) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id.into()}})
}

fn modern(mut message: Value) -> Value {
    message["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}});
    message
}

/// The watch by which a pipe counts its tools, for as long as it is served.
const OWN: usize = 1;

#[tokio::test]
async fn both_eras_are_spoken_on_one_pipe() {
    let core = ScriptedCore::new();
    let mut client = Client::of(&core).begins("2025-06-18").await;
    let old = client.ask(&call(1)).await;
    assert_eq!(
        (&old["id"], &old["result"]["content"][0]["text"]),
        (&json!(1), &json!("up 3 days"))
    );
    assert_eq!(old["result"].get("resultType"), None);
    let new = client.ask(&modern(call("one"))).await;
    assert_eq!(
        (&new["id"], &new["result"]["resultType"]),
        (&json!("one"), &json!("complete"))
    );
    let discovered = client
        .ask(&modern(
            json!({"jsonrpc": "2.0", "id": 3, "method": "server/discover", "params": {}}),
        ))
        .await;
    assert!(
        discovered["result"]["supportedVersions"]
            .as_array()
            .unwrap()
            .contains(&json!("2026-07-28"))
    );

    let asked = core.asked("Call");
    assert_eq!(asked[0].metadata["authorization"], "Bearer tgk_a_b");
    assert_eq!(asked[0].metadata["toolgate-facade"], "mcp");
    // The older revisions are a conversation, which the core knows by its session; the newest is none.
    assert_eq!(
        asked[0].metadata["toolgate-session"],
        "2025-06-18.c2Vzc2lvbg.bWFj"
    );
    assert!(!asked[1].metadata.contains_key("toolgate-session"));
}

#[tokio::test]
async fn what_is_told_without_being_asked_belongs_to_the_conversation() {
    let core = ScriptedCore::new();
    let _client = Client::of(&core).begins("2025-06-18").await;
    core.until_open(OWN + 1).await;
    let watches = core.asked("WatchTools");
    let in_session = watches
        .iter()
        .filter(|asked| asked.metadata.contains_key("toolgate-session"));
    assert_eq!((watches.len(), in_session.count()), (2, 1));
}

/// A pipe outlives its session. What was switched in one would be lost without a word.
#[tokio::test(start_paused = true)]
async fn a_session_in_which_nothing_was_switched_is_followed_by_another_before_its_end() {
    let switch = |name: &str, arguments: Value| {
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": name, "arguments": arguments}})
    };
    for (said, expected) in [
        (call(1), 2),
        (switch("switch_project", json!({"project": "beta"})), 1),
        (switch("call_tool", json!({"name": "switch_project"})), 1),
    ] {
        let core = ScriptedCore::new();
        let mut client = Client::of(&core).begins("2025-06-18").await;
        client.ask(&said).await;
        assert_eq!(core.asked("OpenMcpSession").len(), 1);
        tokio::time::advance(Duration::from_secs(21 * 3600)).await;
        client.ask(&call(2)).await;
        client.ask(&call(3)).await;
        assert_eq!(core.asked("OpenMcpSession").len(), expected, "{said}");
        assert!(core.asked("Call")[2].metadata.contains_key("toolgate-session"));
    }
}

#[tokio::test]
async fn a_profile_of_the_process_goes_with_every_request() {
    let core = ScriptedCore::new();
    let mut settings = Stdio::new("tgk_a_b").unwrap();
    settings.profile = Some("hosts".into());
    let mut client = Client::with(&core, settings);
    client.ask(&call(1)).await;
    for rpc in ["GetSelf", "Call"] {
        assert_eq!(core.asked(rpc)[0].metadata["toolgate-profile"], "hosts", "{rpc}");
    }
}

#[tokio::test]
async fn what_is_no_message_is_answered_and_the_next_one_is_read() {
    let core = ScriptedCore::new();
    let mut client = Client::of(&core);
    let ten_megabytes = vec![b'x'; 10 << 20];
    let cases: [(&[u8], i64); 8] = [
        (b"{", -32700),
        (b"not json", -32700),
        (b"\xff\xfe{}", -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} {}", -32700),
        (b"[]", -32600),
        (b"42", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600),
        (&ten_megabytes, -32600),
    ];
    for (number, (line, code)) in cases.into_iter().enumerate() {
        client.bytes(line).await;
        client.bytes(b"\n").await;
        let answer = client.hear().await;
        assert_eq!(
            (&answer["error"]["code"], &answer["id"]),
            (&json!(code), &Value::Null),
            "{answer}"
        );
        let answer = client.ask(&ping(number)).await;
        assert_eq!(answer, json!({"jsonrpc": "2.0", "id": number, "result": {}}));
    }
}

#[tokio::test]
async fn what_editors_and_systems_put_around_lines_is_read_past() {
    let core = ScriptedCore::new();
    let mut client = Client::of(&core);
    client
        .bytes("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n\r\n   \n\n".as_bytes())
        .await;
    assert_eq!(client.hear().await["id"], 1);
    let text = "a\u{2028}b\u{85}c \u{1F600}";
    let mut message = call(2);
    message["params"]["arguments"] = json!({"text": text, "n": 1});
    client.ask(&message).await;
    let arguments = core.arguments.lock().unwrap().last().unwrap().clone();
    assert_eq!(serde_json::from_slice::<Value>(&arguments).unwrap()["text"], text);
}

#[tokio::test]
async fn numbers_are_not_touched_and_ids_come_back_as_they_were_written() {
    let core = ScriptedCore::new();
    let mut client = Client::of(&core);
    client.bytes(b"{\"jsonrpc\":\"2.0\",\"id\":\"7\",\"method\":\"tools/call\",\"params\":{\"name\":\"a_b\",\"arguments\":{\"n\": 9007199254740993}}}\n").await;
    assert_eq!(client.hear().await["id"], "7");
    assert_eq!(core.arguments.lock().unwrap()[0], "{\"n\": 9007199254740993}");
}

#[tokio::test]
async fn a_call_that_is_taken_back_is_stopped_at_once_and_not_answered() {
    let core = ScriptedCore::new();
    core.hang.send_replace(true);
    let mut client = Client::of(&core).begins("2025-11-25").await;
    for id in 0..20 {
        client.say(&call(format!("c{id}"))).await;
    }
    // The calls, the watch of the catalog for the client, and the pipe's own.
    core.until_open(20 + 1 + OWN).await;
    let began = Instant::now();
    client.say(&cancel("unknown")).await;
    client.say(&cancel("c7")).await;
    core.until_open(19 + 1 + OWN).await;
    assert!(
        began.elapsed() < Duration::from_millis(100),
        "{:?}",
        began.elapsed()
    );
    core.hang.send_replace(false);
    let mut answered = Vec::new();
    for _ in 0..19 {
        answered.push(client.hear().await["id"].as_str().unwrap().to_owned());
    }
    assert!(!answered.contains(&"c7".to_owned()));
    assert_eq!(client.ask(&ping(1)).await["id"], 1);
    assert_eq!(client.ask(&call("c7")).await["id"], "c7", "its id is free again");
}

#[tokio::test]
async fn a_second_request_of_the_same_id_is_refused_while_the_first_goes_on() {
    let core = ScriptedCore::new();
    core.hang.send_replace(true);
    let mut client = Client::of(&core);
    client.say(&call(1)).await;
    core.until_open(1 + OWN).await;
    let answer = client.ask(&call(1)).await;
    assert_eq!(
        (&answer["error"]["code"], &answer["id"]),
        (&json!(-32600), &json!(1))
    );
    core.hang.send_replace(false);
    assert!(client.hear().await["result"].is_object());
}

#[tokio::test]
async fn more_requests_than_there_is_room_for_are_told_to_wait_and_cancels_are_still_read() {
    let core = ScriptedCore::new();
    core.hang.send_replace(true);
    let mut client = Client::of(&core);
    for id in 0..128 {
        client.say(&call(id)).await;
    }
    core.until_open(128 + OWN).await;
    let answer = client.ask(&call(128)).await;
    assert_eq!(
        (&answer["id"], &answer["error"]["data"]["retryAfter"]),
        (&json!(128), &json!(1)),
        "{answer}"
    );
    client.say(&cancel(5)).await;
    core.until_open(127 + OWN).await;
}

#[tokio::test]
async fn progress_is_told_on_lines_of_its_own_before_the_answer() {
    let core = ScriptedCore::new();
    let (tell, events) = tokio::sync::mpsc::channel(4);
    core.runs.lock().unwrap().push_back(events);
    let mut client = Client::of(&core).begins("2025-06-18").await;
    let mut message = call(1);
    message["params"]["_meta"] = json!({"progressToken": "p"});
    client.say(&message).await;
    let event = Event::Progress(CallProgress {
        progress: 1.0,
        ..Default::default()
    });
    tell.send(Ok(RunResponse { event: Some(event) })).await.unwrap();
    let told = client.hear().await;
    assert_eq!(
        (&told["method"], &told["params"]["progressToken"]),
        (&json!("notifications/progress"), &json!("p"))
    );
    let outcome = Event::Outcome(core.result.lock().unwrap().clone());
    tell.send(Ok(RunResponse { event: Some(outcome) })).await.unwrap();
    assert_eq!(client.hear().await["result"]["isError"], false);
}

#[tokio::test]
async fn a_client_of_the_older_revisions_is_told_when_its_tools_are_others() {
    let core = ScriptedCore::new();
    let mut client = Client::of(&core).begins("2025-06-18").await;
    let watched = async {
        while core.versions.receiver_count() == 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, watched).await.expect("the catalog is watched");
    client.ask(&ping(1)).await;
    core.versions.send_replace("v2".into());
    let told = client.hear().await;
    assert_eq!(
        told,
        json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    );
}

#[tokio::test]
async fn the_end_of_the_input_ends_it_promptly_and_cancels_what_is_under_way() {
    let core = ScriptedCore::new();
    core.hang.send_replace(true);
    let mut client = Client::of(&core);
    client.say(&call(1)).await;
    core.until_open(1 + OWN).await;
    let began = Instant::now();
    let says = client.says.as_mut().unwrap();
    says.shutdown().await.unwrap();
    core.until_open(0).await;
    let (served, rest) = client.leaves().await;
    assert!(served.is_ok(), "{served:?}");
    assert_eq!(rest, Vec::<String>::new());
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_script_that_closes_its_end_after_its_last_request_is_answered() {
    let core = ScriptedCore::new();
    let mut client = Client::of(&core);
    let lines = [initialize("2025-11-25"), call(1), ping(2)].map(|message| message.to_string());
    // The last line has no end.
    client.bytes(lines.join("\n").as_bytes()).await;
    client.says.as_mut().unwrap().shutdown().await.unwrap();
    let (served, rest) = client.leaves().await;
    assert!(served.is_ok(), "{served:?}");
    let mut ids: Vec<Value> = rest
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone())
        .collect();
    ids.sort_by_key(Value::to_string);
    assert_eq!(ids, [json!(0), json!(1), json!(2)]);
}

#[tokio::test]
async fn told_to_stop_it_ends_and_cancels_what_is_under_way() {
    let core = ScriptedCore::new();
    core.hang.send_replace(true);
    let mut client = Client::of(&core);
    client.say(&call(1)).await;
    core.until_open(1 + OWN).await;
    client.shutdown.cancel();
    core.until_open(0).await;
    let served = timeout(PATIENCE, client.served).await.expect("it ends").unwrap();
    assert!(served.is_ok(), "{served:?}");
}

#[tokio::test]
async fn a_client_that_is_gone_ends_it() {
    let core = ScriptedCore::new();
    let client = Client::of(&core).begins("2025-06-18").await;
    drop((client.says, client.hears));
    let served = timeout(PATIENCE, client.served).await.expect("it ends").unwrap();
    assert!(served.is_ok(), "{served:?}");
}

#[tokio::test]
async fn a_credential_that_the_core_does_not_know_is_told_before_anything_is_read() {
    let core = ScriptedCore::failing(Failure::new(
        ErrorReason::CredentialInvalid,
        "the credential is not valid",
    ));
    let client = Client::of(&core);
    let served = timeout(PATIENCE, client.served).await.expect("it ends").unwrap();
    let Err(StdioError::Refused(failure)) = served else {
        panic!("{served:?}");
    };
    assert_eq!(failure.reason(), ErrorReason::CredentialInvalid);
}

#[tokio::test]
async fn a_core_that_does_not_answer_is_told_as_such() {
    let nobody = tower::service_fn(|_: http::Request<tonic::body::Body>| async {
        Err::<http::Response<tonic::body::Body>, tower::BoxError>("connection refused".into())
    });
    let core = tower::util::BoxCloneSyncService::new(nobody);
    let (ours, theirs) = duplex(1024);
    let (input, output) = split(theirs);
    let settings = Stdio::new("tgk_a_b").unwrap();
    assert!(!format!("{settings:?}").contains("tgk_a_b"));
    let served = stdio(core, settings, input, output, CancellationToken::new()).await;
    assert!(matches!(served, Err(StdioError::Unreachable(_))), "{served:?}");
    drop(ours);
}

/// Lines that are nearly messages, and bytes.
fn heard() -> impl Strategy<Value = Vec<u8>> {
    let near = [
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/list\",\"params\":{}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}",
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
    ];
    let part = prop_oneof![
        3 => proptest::sample::select(near.to_vec()).prop_map(|text| text.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
        2 => Just(b"\n".to_vec()),
        1 => Just("\u{feff}".as_bytes().to_vec()),
        1 => Just(b"\r\n".to_vec()),
    ];
    proptest::collection::vec(part, 0..30).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_is_said_is_answered_in_whole_lines_and_at_most_once_a_line(input in heard()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let mut said = Vec::new();
        let settings = Stdio::new("tgk_a_b").unwrap();
        let core = ScriptedCore::new().service();
        runtime
            .block_on(stdio(core, settings, &input[..], &mut said, CancellationToken::new()))
            .unwrap();
        let said = String::from_utf8(said).unwrap();
        prop_assert!(said.is_empty() || said.ends_with('\n'));
        prop_assert!(said.lines().count() <= input.split(|byte| *byte == b'\n').count());
        for line in said.lines() {
            let message: Value = serde_json::from_str(line).unwrap();
            prop_assert_eq!(&message["jsonrpc"], "2.0");
            prop_assert!(message.get("result").is_some() != message.get("error").is_some());
        }
    }
}

#[tokio::test]
async fn a_panic_answers_its_own_request_only() {
    let core = ScriptedCore::new();
    let mut client = Client::of(&core);
    assert_eq!(client.ask(&ping(1)).await["id"], 1);
    *core.panic.lock().unwrap() = true;
    let answer = client.ask(&call(2)).await;
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(2), &json!(-32603)),
        "{answer}"
    );
    *core.panic.lock().unwrap() = false;
    assert!(client.ask(&call(3)).await["result"].is_object());
}

fn of_project(core: &ScriptedCore) -> Client {
    let mut settings = Stdio::new("tgk_t_secret").unwrap();
    settings.project = Some("alpha".into());
    Client::with(core, settings)
}

#[tokio::test]
async fn the_server_of_a_project_is_spoken_to_through_a_pipe_as_it_is() {
    let core = ScriptedCore::new();
    *core.pipe.result.lock().unwrap() = Some(r#"{ "x":9007199254740993 }"#.into());
    let unasked = core.will_say();
    let mut client = of_project(&core);
    let early = client
        .ask(&json!({"jsonrpc": "2.0", "id": 1, "method": "prompts/list"}))
        .await;
    assert_eq!(early["error"]["code"], -32600);
    let begun = client.ask(&initialize("2025-11-25")).await;
    assert_eq!(begun["result"]["x"], 9_007_199_254_740_993_u64);
    client
        .say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized", "params": {"a": 1}}))
        .await;
    let answer = client
        .ask(&json!({"jsonrpc": "2.0", "id": "é", "method": "prompts/list", "params": {"b": 2}}))
        .await;
    assert_eq!(
        answer,
        json!({"jsonrpc": "2.0", "id": "é", "result": {"x": 9_007_199_254_740_993_u64}})
    );
    let asked = core.pipe.asked.lock().unwrap().clone();
    let session = asked[1].0.clone();
    assert!(session.is_some());
    assert_eq!(
        (asked[0].1.project.as_str(), &asked[1].1.params[..]),
        ("alpha", &br#"{"b":2}"#[..])
    );
    let request = ServerRequest {
        id: "r.1".into(),
        method: "roots/list".into(),
        params: Default::default(),
    };
    let message = Some(listen_response::Message::Request(request));
    unasked.send(Ok(ListenResponse { message })).await.unwrap();
    assert_eq!(
        client.hear().await,
        json!({"jsonrpc": "2.0", "id": "r.1", "method": "roots/list"})
    );
    client
        .say(&json!({"jsonrpc": "2.0", "id": "r.1", "result": {"roots": []}}))
        .await;
    let mut told = core.pipe.told.subscribe();
    timeout(PATIENCE, told.wait_for(|told| told.len() == 2))
        .await
        .unwrap()
        .unwrap();
    assert!(told.borrow().iter().all(|(of, _)| *of == session));
    client.says.as_mut().unwrap().shutdown().await.unwrap();
    let (served, rest) = client.leaves().await;
    assert!(served.is_ok() && rest.is_empty());
    assert_eq!(core.asked("HangUp").len(), 1);
    assert!(core.pipe.live.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_request_to_a_project_that_is_taken_back_ends_and_stateless_ones_need_no_beginning() {
    let core = ScriptedCore::new();
    let mut client = of_project(&core);
    let _script = core.will_answer();
    client.say(&modern(call(7))).await;
    core.until_open(1).await;
    client.say(&cancel(7)).await;
    core.until_open(0).await;
    let answer = client.ask(&modern(call(8))).await;
    assert_eq!(answer, json!({"jsonrpc": "2.0", "id": 8, "result": {}}));
    assert!(
        core.pipe
            .asked
            .lock()
            .unwrap()
            .iter()
            .all(|(of, asked)| of.is_none() && asked.stateless)
    );
    assert!(core.pipe.told.borrow().is_empty());
}
