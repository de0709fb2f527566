//! Gate C14. `/mcp/project/{name}` serves one project whole: every method raw and unprefixed, both ways. What the server says of a
//! request arrives with it, what it asks is asked of that client alone and answered, and what the client tells is told; each
//! request is on the record under its method, calls under their tools.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_test_support::{Does, McpClient, Revision, Role, World, project::WHO};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_project_behind_the_pipe_speaks_both_ways() {
    let world = World::new()
        .unlimited()
        .project("alpha")
        .project("beta")
        .start()
        .await;
    let alpha = world.project("alpha");
    let can = json!({"sampling": {}, "elicitation": {}, "roots": {"listChanged": true}, "x-own": {"a": 1}});
    let client = McpClient::open_with(
        world.admin(),
        "/mcp/project/alpha",
        Revision::November2025,
        can.clone(),
    )
    .await;
    let hello = client.hello().value();
    assert_eq!(hello["serverInfo"]["name"], "alpha", "{hello}");
    assert_eq!(hello["instructions"], "I am alpha.");
    assert!(hello["capabilities"]["prompts"].is_object(), "{hello}");
    let begun = alpha.seen();
    let began = begun
        .asked
        .iter()
        .rev()
        .find(|asked| asked.method == "initialize")
        .unwrap();
    let said: Value = serde_json::from_str(&began.params).unwrap();
    assert_eq!(
        said["capabilities"], can,
        "what the client can do is what the server is told"
    );
    let conversation = began.conversation.clone();
    assert!(conversation.is_some());

    // Unprefixed, raw, and with nothing put in.
    assert_eq!(client.tool("who_are_you").await.as_deref(), Some(WHO));
    for (method, params) in [
        ("prompts/list", "{}"),
        (
            "prompts/get",
            r#"{"name":"x","arguments":{"n":"9007199254740993"}}"#,
        ),
        ("resources/read", r#"{"uri":"test://x"}"#),
        ("resources/subscribe", r#"{"uri":"test://x"}"#),
        (
            "completion/complete",
            r#"{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a","value":"v"}}"#,
        ),
        ("x-vendor/strange", r#"{"a":1.0}"#),
    ] {
        let result = format!(r#"{{"of":"{method}","n":9007199254740993}}"#);
        alpha.when(method, Does::Answers(result.clone()));
        let heard = client.ask(method, params).await;
        assert_eq!(heard.result(), Some(result.as_str()), "{}", heard.answer);
        let seen = alpha.seen();
        let asked = seen.asked.last().unwrap();
        assert_eq!((asked.method.as_str(), asked.params.as_str()), (method, params));
        assert_eq!(asked.conversation, conversation, "{method}");
    }
    let unknown = client.ask("prompts/nothing", "{}").await;
    assert_eq!(unknown.code(), -32601, "{}", unknown.answer);

    // What is said of a request arrives before its answer, with the client's own token.
    let told = vec![
        (
            "notifications/progress",
            r#"{"progressToken":TOKEN,"progress":1.50,"total":2}"#.to_owned(),
        ),
        (
            "notifications/message",
            r#"{"level":"info","data":{"z":1,"a":9007199254740993}}"#.to_owned(),
        ),
    ];
    alpha.when("who_are_you", Does::Notifies(told, Box::new(Does::text("done"))));
    let params = r#"{"name":"who_are_you","arguments":{},"_meta":{"progressToken":"mine-7"}}"#;
    let heard = client.ask("tools/call", params).await;
    let said: Vec<&str> = heard.before.iter().map(String::as_str).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(
        said[0].contains(r#""params":{"progressToken":"mine-7","progress":1.50,"total":2}"#),
        "{said:?}"
    );
    assert!(
        said[1].contains(r#""params":{"level":"info","data":{"z":1,"a":9007199254740993}}"#),
        "{said:?}"
    );

    // What is told goes there.
    assert_eq!(client.tell("notifications/roots/list_changed", "{}").await, 202);
    let seen = alpha.wait(Duration::from_secs(5), |seen| {
        seen.notified
            .iter()
            .any(|told| told.method == "notifications/roots/list_changed")
    });
    let seen = seen.await;
    let told = seen
        .notified
        .iter()
        .find(|told| told.method.contains("roots"))
        .expect("it is told");
    assert_eq!(told.conversation, conversation);

    let rows = world.audit_of("adapter.capability_invoked").await;
    let of = |name: &str| rows.iter().filter(|row| row["capability"] == name).count();
    for (name, count) in [
        ("who_are_you", 1),
        ("prompts/get", 1),
        ("x-vendor/strange", 1),
        ("initialize", 1),
    ] {
        assert_eq!(of(name), count, "{name}: {rows:?}");
    }
    assert!(rows.iter().all(|row| row["targetId"] == alpha.target()));
    assert!(
        world
            .project("beta")
            .seen()
            .asked
            .iter()
            .all(|asked| asked.conversation.is_none())
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_asks_is_asked_of_the_client_it_concerns() {
    let world = World::new().unlimited().project("alpha").start().await;
    let alpha = world.project("alpha");
    let can = json!({"sampling": {}});
    let open = || {
        McpClient::open_with(
            world.admin(),
            "/mcp/project/alpha",
            Revision::November2025,
            can.clone(),
        )
    };
    let (client, other) = (open().await, open().await);
    alpha.when("who_are_you", Does::WhenTold(Box::new(Does::text("thank you"))));
    let mut other_hears = other.listen().await;
    let (_, mut hearing) = client
        .begin("tools/call", r#"{"name":"who_are_you","arguments":{}}"#)
        .await;
    let asked = alpha.called("who_are_you").await.expect("it is asked");

    let params = r#"{"messages":[],"maxTokens":9007199254740993}"#;
    let result = r#"{"role":"assistant","content":{"type":"text","text":"\u00e9"},"model":"none","n":1.0}"#;
    let (answer, ()) = tokio::join!(alpha.ask_about(&asked, "sampling/createMessage", params), async {
        let request = hearing
            .next_of("sampling/createMessage")
            .await
            .expect("the client is asked");
        assert!(request.contains(&format!(r#""params":{params}"#)), "{request}");
        let request: Value = serde_json::from_str(&request).unwrap();
        assert_eq!(client.answer(&request["id"].to_string(), result).await, 202);
    });
    let answer = answer.expect("an answer");
    assert_eq!(answer.body, result, "{answer:?}");
    alpha.tell();
    let told = hearing.whole().await;
    assert!(told.answer.contains("thank you"), "{}", told.answer);

    // Outside of any request it is asked on the stream of its own session, and answered with an error as well.
    let conversation = asked
        .conversation
        .as_deref()
        .and_then(toolgate_contract::frame::FrameId::parse);
    let mut hears = client.listen().await;
    let (answer, ()) = tokio::join!(alpha.ask("roots/list", "{}", conversation, None), async {
        let request = hears.next_of("roots/list").await.expect("the client is asked");
        let request: Value = serde_json::from_str(&request).unwrap();
        assert_eq!(
            client.answer(&request["id"].to_string(), r#"{"roots":[]}"#).await,
            202
        );
    });
    assert_eq!(answer.expect("an answer").body, r#"{"roots":[]}"#);
    // The shared conversation has no client to ask.
    let refused = alpha
        .ask("roots/list", "{}", None, None)
        .await
        .expect("an answer");
    assert!(refused.header.error.is_some(), "{refused:?}");
    let heard = tokio::time::timeout(Duration::from_millis(300), other_hears.next()).await;
    assert!(
        !matches!(heard, Ok(Some(_))),
        "another client was asked: {heard:?}"
    );

    // A client that leaves ends its conversation.
    assert!([200, 202, 204].contains(&client.leave().await));
    let closed = |seen: &toolgate_test_support::project::Witnessed| {
        seen.notified.iter().any(|told| told.method == "toolgate/close")
    };
    assert!(closed(&alpha.wait(Duration::from_secs(5), closed).await));
    assert_eq!(client.ask("ping", "{}").await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_pipe_is_for_those_who_may_call_and_for_projects_that_are_there() {
    let world = World::new()
        .unlimited()
        .project("alpha")
        .silent_project("gone")
        .principal("auditor", Role::Auditor)
        .stranger("other")
        .start()
        .await;
    let status = |caller: &toolgate_test_support::Caller, name: &str, revision| {
        let (caller, path) = (caller.clone(), format!("/mcp/project/{name}"));
        async move {
            let client = McpClient::open(&caller, &path, revision).await;
            let heard = match revision {
                Revision::July2026 => client.ask("tools/list", "{}").await,
                _ => client.hello().clone(),
            };
            (heard.status, heard.code(), heard.answer)
        }
    };
    for revision in [Revision::November2025, Revision::July2026] {
        let admin = world.admin();
        let (_, code, said) = status(admin, "gone", revision).await;
        assert_eq!(code, -32603, "{said}");
        let nobody = admin.with_token("tgk_nobody_AAAA");
        assert_eq!(status(&nobody, "alpha", revision).await.0, 401);
        // Hidden and not existing answer alike.
        let foreign = status(world.as_principal("other"), "alpha", revision).await;
        let missing = status(world.as_principal("other"), "nothing", revision).await;
        assert_eq!(
            (foreign.0, foreign.1),
            (missing.0, missing.1),
            "{foreign:?} {missing:?}"
        );
        assert_ne!(
            status(world.as_principal("auditor"), "alpha", revision).await.1,
            0
        );
    }
    assert!(world.project("alpha").calls().is_empty());
}
