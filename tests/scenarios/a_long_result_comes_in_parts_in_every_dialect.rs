//! Under a profile with a cap, and in every dialect: a long result is cut, its parts put together are the whole, each part
//! is on the record, the host is asked once, and nobody else gets at the rest.

use serde_json::{Value, json};
use toolgate_test_support::{Caller, Dialect, Reply, Speaker, Told, World};

/// 100 tokens are 320 bytes.
const CAP: usize = 100;
const BYTES: usize = 320;
const SSH: &str = "ssh.run_whitelisted_command";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_result_comes_in_parts_in_every_dialect() {
    let world = World::new().unlimited().host("web-1").start().await;
    let line = "Nov 30 13:00:00 web-1 shop[42]: größer als erwartet: 300 € für eine Bestellung\n";
    let printed = line.repeat(30);
    world.host("web-1").replies(Reply::Prints(printed.clone()));
    let caller = capped(&world, "reader").await;
    let other = capped(&world, "other").await;
    let mut fetched = 0;
    for dialect in Dialect::ALL {
        let speaker = caller.by(dialect).await;
        let listed = speaker.tools().await;
        assert!(
            listed.iter().any(|name| name == "fetch_rest"),
            "{dialect:?}: {listed:?}"
        );

        let first = speaker.call(SSH, &json!({"command": "journalctl -n 30"})).await;
        let (mut whole, mut cursor) = part(&first);
        let stranger = other.by(dialect).await;
        while let Some(next) = cursor {
            assert!(is_nobodys(dialect, &stranger, &next).await, "{dialect:?}");
            let told = speaker.call("fetch_rest", &json!({"cursor": next})).await;
            let again = speaker.call("fetch_rest", &json!({"cursor": next})).await;
            assert_eq!(told, again, "{dialect:?}");
            let (text, after) = part(&told);
            assert!(text.len() <= BYTES, "{dialect:?}: {} bytes", text.len());
            (whole, cursor) = (whole + &text, after);
            fetched += 2;
        }
        // The text, and after it the structured part as text.
        let structured: Value =
            serde_json::from_str(whole.strip_prefix(&printed).unwrap().trim_start()).unwrap();
        assert_eq!(structured["stdout"], printed, "{dialect:?}");
        assert!(is_nobodys(dialect, &speaker, "no.0").await, "{dialect:?}");
    }
    assert_eq!(world.host("web-1").received().len(), Dialect::ALL.len());
    let rows = world.audit_of("adapter.capability_invoked").await;
    let of = |name: &str, result: &str| {
        let fits = |row: &&Value| row["capability"] == name && row["result"] == result;
        rows.iter().filter(fits).count()
    };
    assert_eq!(
        (of(SSH, "success"), of("fetch_rest", "success")),
        (Dialect::ALL.len(), fetched)
    );
    let nobodys = fetched / 2 + Dialect::ALL.len();
    assert_eq!(of("fetch_rest", "failure"), nobodys);
}

#[tokio::test]
async fn a_list_under_a_cap_promises_no_structured_results() {
    let world = World::new().host("web-1").start().await;
    let listed = |tools: Value| {
        let tools = tools["tools"].as_array().unwrap().clone();
        tools.into_iter().find(|tool| tool["name"] == SSH).unwrap()
    };
    let under = capped(&world, "reader").await.get("/api/mcp/tools").await.json();
    let without = world.admin().get("/api/mcp/tools").await.json();
    let promises = |tool: &Value| tool["outputSchema"].get("properties").is_some();
    assert!(!promises(&listed(under)));
    assert!(promises(&listed(without)));
}

/// Whether the tool says that nothing is held: as its result, for the model to read, and never as the end of a session.
async fn is_nobodys(dialect: Dialect, speaker: &Speaker, cursor: &str) -> bool {
    let told = speaker.call("fetch_rest", &json!({"cursor": cursor})).await;
    let text = format!("{told:?}");
    // Tool messages of OpenAI's have no mark for a no.
    let says_no = match told {
        Told::Result { is_error, .. } => is_error || matches!(dialect, Dialect::OpenAi(_)),
        Told::Refused { .. } => false,
    };
    says_no && text.contains("nothing of yours is held under this cursor")
}

/// The text of a part, and the cursor that its last block names.
fn part(told: &Told) -> (String, Option<String>) {
    let Told::Result {
        content, structured, ..
    } = told
    else {
        panic!("refused: {told:?}")
    };
    let text = match content {
        Some(content) => {
            assert!(structured.is_none(), "{told:?}");
            let blocks: Vec<Value> = serde_json::from_str(content).unwrap();
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        None => structured.clone().unwrap(),
    };
    match text.rsplit_once("\n[cut here: ") {
        None => (text, None),
        Some((part, trailer)) => {
            let (_, after) = trailer.split_once("with the cursor ").unwrap();
            let (cursor, _) = after.split_once(' ').unwrap();
            (part.to_owned(), Some(cursor.to_owned()))
        }
    }
}

async fn capped(world: &World, name: &str) -> Caller {
    let profile = json!({
        "name": "capped", "description": "short answers", "tools": [SSH], "resultCap": CAP,
    });
    let made = world.admin().post("/api/profiles", profile).await;
    assert!(matches!(made.status, 201 | 409), "{}", made.text);
    let token = json!({"name": name, "role": "agent", "profile": "capped"});
    let made = world.admin().post("/api/tokens", token).await;
    world
        .admin()
        .with_token(made.json()["token"].as_str().expect("a token"))
}
