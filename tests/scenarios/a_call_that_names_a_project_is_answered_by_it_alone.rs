//! Gate C1 and C2. A call that names a project is answered by that project, in every dialect, and leaves the caller's own as
//! it was; a call that names none, or an empty one, goes there. The routing argument never arrives.

use serde_json::json;
use toolgate_test_support::{Dialect, Ground, McpClient, Revision, Told, on_each_store};

const WHO: &str = "who_are_you";

on_each_store!(a_call_that_names_a_project_is_answered_by_it_alone);

async fn a_call_that_names_a_project_is_answered_by_it_alone(ground: Ground) {
    let world = ground
        .world()
        .unlimited()
        .project("alpha")
        .project("beta")
        .default_project("alpha")
        .start()
        .await;
    for dialect in Dialect::ALL {
        let speaker = world.admin().by(dialect).await;
        for (arguments, project) in [
            (json!({"word": "w"}), "alpha"),
            (json!({"word": "w", "project": "beta"}), "beta"),
            (json!({"word": "w", "project": ""}), "alpha"),
            (json!({"project": "alpha", "word": "w"}), "alpha"),
            (json!({"word": "w"}), "alpha"),
        ] {
            let told = speaker.call(WHO, &arguments).await;
            if matches!(dialect, Dialect::OpenAi(_)) {
                // A model is told the text.
                assert!(
                    matches!(&told, Told::Result { structured: Some(text), .. } if text == project),
                    "{told:?}"
                );
                continue;
            }
            let expected = json!({"project": project, "tool": WHO, "arguments": {"word": "w"}});
            assert_eq!(told.structured(), expected, "{dialect:?} {arguments}: {told:?}");
        }
    }
    assert_eq!(
        active(&world.call("list_projects", json!({})).await.unwrap().result),
        ["alpha"]
    );

    // What is written around the routing argument arrives as it was written.
    let client = McpClient::open(world.admin(), "/mcp", Revision::November2025).await;
    world.project("beta").forget();
    for (sent, arrives) in [
        (
            r#"{"project":"beta", "z":1.0 ,"a":9007199254740993}"#,
            r#"{"z":1.0 ,"a":9007199254740993}"#,
        ),
        (
            r#"{ "z" : "\u00e9\/" , "project" : "beta" }"#,
            r#"{ "z" : "\u00e9\/"  }"#,
        ),
        (r#"{"project":"beta"}"#, "{}"),
    ] {
        let heard = client.call(WHO, sent).await;
        assert_eq!(heard.project(), "beta", "{}", heard.answer);
        let (tool, arguments) = world.project("beta").calls().pop().unwrap();
        assert_eq!((tool.as_str(), arguments.as_str()), (WHO, arrives), "{sent}");
    }

    // The record says whom each call was for.
    let rows = world.audit_of("adapter.capability_invoked").await;
    let of = |name: &str| {
        rows.iter()
            .filter(|row| row["targetId"] == world.target(name))
            .count()
    };
    assert_eq!(of("alpha"), 4 * Dialect::ALL.len());
    assert_eq!(of("beta"), Dialect::ALL.len() + 3);
}

fn active(result: &serde_json::Value) -> Vec<&str> {
    let projects = result["structuredContent"]["projects"]
        .as_array()
        .into_iter()
        .flatten();
    projects
        .filter(|project| project["active"] == true)
        .filter_map(|project| project["name"].as_str())
        .collect()
}
