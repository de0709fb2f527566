//! Gate C5. The list is ours and then the current project's, whose tools are listed as the project wrote them, byte for byte,
//! but for one optional argument that routes. Which of them is on a list is the project's word, not its order or our taste.

use std::time::Duration;

use serde_json::Value;
use toolgate_test_support::{McpClient, Revision, World, until};

/// Tools that a careless gateway would change.
const TOOLS: [&str; 6] = [
    // Unknown fields, order of keys, big numbers, white space, escapes.
    r##"{"x-last":1,"description":"\u00fcber \/ \"alles\"","name":"odd","inputSchema":{"required":["z"],"type":"object","$defs":{"n":{"const":9007199254740993}},"properties":{"z":{"$ref":"#/$defs/n"},"a":{"type":"number","minimum":1.0e2}},"x-order":["z","a"]},"_meta":{"b":1,"a":[1.10,null]},"execution":{"taskSupport":"forbidden"}}"##,
    r#"{ "name" : "spaced" , "inputSchema" : { "type" : "object" , "properties" : { } } , "annotations" : { "readOnlyHint" : true } }"#,
    // Nothing to put the argument into.
    r#"{"name":"bare","inputSchema":{"type":"object"}}"#,
    r#"{"name":"closed","inputSchema":{"type":"object","additionalProperties":false}}"#,
    r#"{"name":"told","title":"Told","inputSchema":{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]},"outputSchema":{"type":"object","properties":{"n":{"type":"integer","maximum":18446744073709551616}}},"icons":[{"src":"data:image/png;base64,AAAA"}]}"#,
    r#"{"name":"deep","inputSchema":{"type":"object","properties":{"o":{"type":"object","properties":{"project":{"type":"string"}}}},"allOf":[{"if":{},"then":{}}]}}"#,
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_project_is_listed_as_it_lists_itself_but_for_one_argument() {
    let world = World::new()
        .unlimited()
        .project_with("alpha", &TOOLS)
        .project("beta")
        .default_project("alpha")
        .start()
        .await;
    for revision in [Revision::June2025, Revision::November2025, Revision::July2026] {
        let client = McpClient::open(world.admin(), "/mcp", revision).await;
        let (names, listed) = (client.names().await, client.tools().await);
        assert!(names.contains(&"list_projects".to_owned()), "{names:?}");
        assert!(
            !names.contains(&"who_are_you".to_owned()),
            "that is another project's"
        );
        for original in TOOLS {
            let name: Value = serde_json::from_str(original).unwrap();
            let at = names
                .iter()
                .position(|listed| *listed == name["name"].as_str().unwrap());
            differs_in_one_argument(original, &listed[at.expect("it is listed")]);
        }
    }

    // Pages are fetched to their end, and a change is listed.
    let alpha = world.project("alpha");
    alpha.pages(2);
    alpha.offers(&TOOLS[1..]).await;
    let client = McpClient::open(world.admin(), "/mcp", Revision::November2025).await;
    let changed = until(Duration::from_secs(5), || async {
        let names = client.names().await;
        (!names.contains(&"odd".to_owned()) && names.contains(&"deep".to_owned())).then_some(())
    });
    changed.await.expect("the change is listed");
}

/// What was put in stands in one place, and is the argument; before and behind it stands the original.
fn differs_in_one_argument(original: &str, listed: &str) {
    let (one, other) = (original.as_bytes(), listed.as_bytes());
    assert!(other.len() > one.len(), "{listed}");
    let same = one
        .iter()
        .zip(other)
        .take_while(|(one, other)| one == other)
        .count();
    let end = one[same..]
        .iter()
        .rev()
        .zip(other[same..].iter().rev())
        .take_while(|(one, other)| one == other)
        .count();
    assert_eq!(
        same + end,
        one.len(),
        "more than one place differs:\n{original}\n{listed}"
    );

    let (was, is): (Value, Value) = (
        serde_json::from_str(original).unwrap(),
        serde_json::from_str(listed).unwrap(),
    );
    let mut without = is.clone();
    let properties = without["inputSchema"]["properties"].as_object_mut().unwrap();
    let argument = properties.shift_remove("project").unwrap();
    assert_eq!(argument["type"], "string", "{listed}");
    assert!(
        argument["description"]
            .as_str()
            .is_some_and(|text| !text.is_empty()),
        "{listed}"
    );
    if properties.is_empty() && was["inputSchema"].get("properties").is_none() {
        without["inputSchema"]
            .as_object_mut()
            .unwrap()
            .shift_remove("properties");
    }
    assert_eq!(without, was);
    assert_eq!(is["inputSchema"]["required"], was["inputSchema"]["required"]);
}
