//! A tenant's own profiles: made, narrowed, pinned, removed, each on the record, seen by the next call.

use serde_json::{Value, json};
use toolgate_test_support::{Ground, Role, on_each_store};

on_each_store!(a_tenant_makes_profiles_of_its_own);

async fn a_tenant_makes_profiles_of_its_own(ground: Ground) {
    let world = ground
        .world()
        .unlimited()
        .host("web-1")
        .principal("reader", Role::Engineer)
        .stranger("elsewhere")
        .start()
        .await;
    let admin = world.admin();
    let put = async |body: Value| {
        let request = admin.request(reqwest::Method::PUT, "/api/profiles/nightly");
        admin.send(request.json(&body)).await
    };

    let wanted = json!({"name": "nightly", "description": "What runs at night",
        "tools": ["ssh_run_whitelisted_command", "github.list_repos"], "disclosure": "search", "resultCap": 800});
    let made = admin.post("/api/profiles", wanted.clone()).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let told = made.json()["profile"].clone();
    assert_eq!(
        (&told["builtIn"], &told["disclosure"], &told["resultCap"]),
        (&json!(false), &json!("search"), &json!(800)),
        "{told}"
    );
    assert_eq!(told["tools"].as_array().unwrap().len(), 2 + 4);
    assert_eq!(admin.post("/api/profiles", wanted).await.status, 409);
    let listed = world.as_principal("reader").get("/api/profiles").await.json();
    let names: Vec<_> = listed["profiles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| &p["name"])
        .collect();
    assert!(
        names.contains(&&json!("nightly")) && names.contains(&&json!("review")),
        "{names:?}"
    );
    assert!(names.is_sorted_by_key(|name| name.as_str()), "{names:?}");
    let foreign = world.as_principal("elsewhere").get("/api/profiles/nightly").await;
    assert_eq!(foreign.status, 404);

    // By search its tools are not listed, and are called all the same.
    let asking = admin.asking_for("nightly");
    let names = |listed: &Value| -> Vec<String> {
        let tools = listed["tools"].as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let listed = names(&asking.get("/api/mcp/tools").await.json());
    assert_eq!(listed, ["call_tool", "describe_tool", "fetch_rest", "find_tools"]);
    asking.run("uptime").await.unwrap();

    // Narrowed: at once, for whoever asks for it and for whoever is held to it.
    let (pin, pinned) = admin.make_pinned("pod", Role::Agent, "nightly").await.unwrap();
    let narrowed = put(json!({"tools": ["github.list_repos"]})).await;
    assert_eq!(narrowed.status, 200, "{}", narrowed.text);
    for caller in [&asking, &pinned] {
        assert_eq!(
            names(&caller.get("/api/mcp/tools").await.json()),
            ["github.list_repos"]
        );
        assert_eq!(caller.run("uptime").await.unwrap_err().reason, "TOOL_NOT_FOUND");
    }

    let over = put(json!({"tools": ["github.list_repos"], "tokenBudget": 10})).await;
    assert_eq!(
        (over.status, &over.json()["reason"]),
        (400, &json!("ARGUMENTS_INVALID")),
        "{}",
        over.text
    );
    let unknown = put(json!({"tools": ["github.list_repo"]})).await;
    assert_eq!(unknown.status, 400);
    assert!(
        unknown.text.contains("the nearest is github.list_repos"),
        "{}",
        unknown.text
    );

    let held = admin.delete("/api/profiles/nightly").await;
    assert_eq!(held.status, 409, "{}", held.text);
    assert!(held.text.contains("pod"), "{}", held.text);
    assert_eq!(admin.delete("/api/profiles/review").await.status, 409);
    for forbidden in [
        world.as_principal("reader").delete("/api/profiles/nightly").await,
        pinned.post("/api/profiles", json!({"name": "mine"})).await,
    ] {
        assert_eq!(forbidden.status, 403, "{}", forbidden.text);
    }
    admin.delete(&format!("/api/tokens/{pin}")).await;
    assert_eq!(admin.delete("/api/profiles/nightly").await.status, 204);
    assert_eq!(admin.get("/api/profiles/nightly").await.status, 404);
    // Unknown from now on, which opens.
    asking.run("uptime").await.unwrap();

    let changes: Vec<Value> = world
        .audit_of("profile.changed")
        .await
        .into_iter()
        .map(|row| match &row["detail"] {
            Value::String(text) => serde_json::from_str(text).unwrap(),
            detail => detail.clone(),
        })
        .collect();
    let told: Vec<_> = changes
        .iter()
        .map(|detail| detail["change"].as_str().unwrap())
        .collect();
    assert_eq!(told, ["created", "updated", "deleted"]);
    assert_eq!(changes[1]["before"], changes[0]["after"]);
    assert_eq!(changes[2]["before"], changes[1]["after"]);
    for kind in ["triageIssue", "nobody-knows"] {
        let resolved = admin.get(&format!("/api/profile-for-kind/{kind}")).await;
        let expected = if kind == "triageIssue" { "triage" } else { "" };
        assert_eq!(resolved.json()["profile"].as_str().unwrap_or_default(), expected);
    }
}
