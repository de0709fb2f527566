//! The fixtures of conformance runs, over a whole core that has them.

use tokio::time::Instant;
use toolgate_contract::v1::run_response::Event;

use super::*;
use crate::fixtures::{DYNAMIC, TOOLS};

impl World {
    async fn names(&self) -> Vec<String> {
        let asked = with(&self.admin, wire::ListToolsRequest::default());
        let list = self.broker().list_tools(asked).await.unwrap().into_inner();
        list.tools.into_iter().map(|tool| tool.name).collect()
    }

    async fn call(&self, name: &str, arguments: &str) -> Result<wire::CallResponse, Status> {
        let asked = wire::CallRequest {
            name: name.into(),
            arguments: arguments.to_owned().into(),
            target_id: None,
        };
        let answer = self.broker().call(with(&self.admin, asked)).await;
        answer.map(tonic::Response::into_inner)
    }

    async fn run(&self, name: &str, arguments: &str) -> tonic::Streaming<wire::RunResponse> {
        let asked = wire::RunRequest {
            name: name.into(),
            arguments: arguments.to_owned().into(),
            progress: true,
            log_level: Some("info".into()),
            target_id: None,
        };
        let events = self.broker().run(with(&self.admin, asked)).await;
        events.unwrap().into_inner()
    }
}

#[tokio::test]
async fn fixtures_are_shown_by_the_core_that_has_them_and_by_no_other() {
    let (with_them, without) = (World::with(Some(Fixtures::default())).await, World::new().await);
    let plain = without.names().await;
    let mut expected: Vec<String> = TOOLS
        .iter()
        .map(|tool| tool.name.to_owned())
        .filter(|name| name != DYNAMIC)
        .chain(plain.iter().cloned())
        .collect();
    expected.sort();
    assert_eq!(with_them.names().await, expected);
    assert!(plain.iter().all(|name| name.contains('.')), "{plain:?}");

    // To the core without them they are names like any other.
    let told = async |name: &str| {
        let refused = without.call(name, "{}").await.unwrap_err();
        let mut failure = Failure::from_status(&refused);
        assert_eq!(failure.reason(), ErrorReason::ToolNotFound);
        failure.metadata.remove("correlationId");
        failure
    };
    assert_eq!(told("test_simple_text").await, told("no_such_name_here").await);
}

#[tokio::test]
async fn each_fixture_answers_and_stands_on_the_record() {
    let world = World::with(Some(Fixtures::default())).await;
    for tool in TOOLS.iter().filter(|tool| tool.name != DYNAMIC) {
        let arguments = match tool.name {
            "json_schema_2020_12_tool" => r#"{"contactMethod":"phone","phone":"1"}"#,
            "test_big" => r#"{"bytes":3}"#,
            "test_slow" => r#"{"ms":1}"#,
            _ => "{}",
        };
        let answer = world.call(tool.name, arguments).await.unwrap();
        let result = answer.result.unwrap();
        assert_eq!(
            result.is_error,
            tool.name == "test_error_handling",
            "{}",
            tool.name
        );
        let blocks: Vec<Value> = serde_json::from_slice(&result.content).unwrap();
        assert!(!blocks.is_empty() && blocks.iter().all(|block| block["type"].is_string()));
    }
    let asked = wire::ListEventsRequest {
        event: Some("adapter.capability_invoked".into()),
        ..Default::default()
    };
    let rows = world.events(&world.admin, asked).await;
    assert_eq!(rows.len(), TOOLS.len() - 1);
    assert!(rows.iter().all(|row| row.adapter_type == "ssh"));
    let refused = world.call("test_slow", r#"{"ms":-1}"#).await.unwrap_err();
    assert_eq!(reason(&refused), ErrorReason::ArgumentsInvalid);
}

#[tokio::test]
async fn an_echo_keeps_every_digit_and_every_character() {
    let world = World::with(Some(Fixtures::default())).await;
    let arguments = "{\"big\":9007199254740993,\"text\":\"\u{2028}ä\u{1f600}\",\"z\":1.10}";
    let result = world.call("test_echo", arguments).await.unwrap().result.unwrap();
    assert_eq!(result.structured_content, arguments.as_bytes());
}

#[tokio::test]
async fn a_text_over_the_limit_is_told_as_one() {
    let world = World::with(Some(Fixtures::default())).await;
    let big = async |bytes: usize| world.call("test_big", &format!(r#"{{"bytes":{bytes}}}"#)).await;
    assert_eq!(
        big(1_000_000).await.unwrap().result.unwrap().content.len(),
        1_000_000 + r#"[{"type":"text","text":""}]"#.len()
    );
    let refused = big((8 << 20) + 1).await.unwrap_err();
    assert_eq!(reason(&refused), ErrorReason::UpstreamTooLarge);
}

#[tokio::test]
async fn progress_and_lines_come_before_the_outcome() {
    let world = World::with(Some(Fixtures::default())).await;
    let told = async |name: &str| {
        let mut events = world.run(name, "{}").await;
        let mut words = Vec::new();
        while let Some(event) = next(&mut events).await.unwrap() {
            words.push(match event.event.unwrap() {
                Event::Progress(progress) => format!("{}/{}", progress.progress, progress.total.unwrap()),
                Event::Log(log) => format!("{} {}", log.level, std::str::from_utf8(&log.data).unwrap()),
                Event::Outcome(_) => "outcome".into(),
                Event::Notification(said) => said.method,
            });
        }
        words
    };
    assert_eq!(
        told("test_tool_with_progress").await,
        ["0/100", "50/100", "100/100", "outcome"]
    );
    assert_eq!(
        told("test_tool_with_logging").await,
        [
            r#"info "Tool execution started""#,
            r#"info "Tool processing data""#,
            r#"info "Tool execution completed""#,
            "outcome"
        ]
    );
}

#[tokio::test]
async fn a_run_that_is_left_is_cancelled_at_its_target_within_a_tenth_of_a_second() {
    let fixtures = Fixtures::default();
    let world = World::with(Some(fixtures.clone())).await;
    for (door, calls) in [(Door::Facade, 1), (Door::Network, 2)] {
        let asked = wire::RunRequest {
            name: "test_slow".into(),
            arguments: r#"{"report":true}"#.into(),
            progress: true,
            ..Default::default()
        };
        let mut broker = BrokerServiceClient::new(world.core.service(door));
        let run = broker.run(with(&world.admin, asked)).await.unwrap();
        let mut events = run.into_inner();
        next(&mut events).await.unwrap().unwrap();
        fixtures.slow_begun(calls).await;
        let began = Instant::now();
        drop(events);
        fixtures.slow_left(calls).await;
        assert!(
            began.elapsed() < Duration::from_millis(100),
            "{door:?} {:?}",
            began.elapsed()
        );
    }
    // It told progress, so each is on the record.
    let asked = wire::ListEventsRequest {
        result: Some("cancelled".into()),
        ..Default::default()
    };
    let rows = tokio::time::timeout(Duration::from_secs(10), async {
        loop {
            let rows = world.events(&world.admin, asked.clone()).await;
            if rows.len() == 2 {
                return rows;
            }
            tokio::task::yield_now().await;
        }
    });
    let rows = rows.await.expect("two rows within ten seconds");
    assert!(rows.iter().all(|row| row.reason == "CANCELLED"), "{rows:?}");
}

#[tokio::test]
async fn a_changed_list_wakes_whoever_watches_it_at_once() {
    let world = World::with(Some(Fixtures::default())).await;
    let mut versions = world.versions(&world.admin).await;
    let first = next(&mut versions).await.unwrap().unwrap().version;
    let began = Instant::now();
    for shown in [true, false, true] {
        world.call("test_trigger_tool_change", "{}").await.unwrap();
        let version = next(&mut versions).await.unwrap().unwrap().version;
        assert_eq!(version == first, !shown);
        assert_eq!(world.names().await.iter().any(|name| name == DYNAMIC), shown);
    }
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "no look of its own was waited for"
    );
}
