//! What the list of a profile costs a model is told for each profile and for none, and a profile whose list costs more
//! than its budget is not saved.

use serde_json::{Value, json};
use toolgate_test_support::World;

#[tokio::test]
async fn a_profile_says_what_it_costs_and_keeps_to_its_budget() {
    let world = World::new().start().await;
    let admin = world.admin();
    let cost = async |name: &str| admin.get(&format!("/api/profiles/{name}/cost")).await;
    let number = |cost: &Value, member: &str| cost["cost"][member].as_u64().unwrap();

    let all = cost("all").await.json();
    let review = cost("review").await.json();
    assert_eq!(number(&review, "toolCount"), 40);
    assert_eq!(number(&all, "savedTokens"), 0);
    assert_eq!(number(&review, "allTokens"), number(&all, "tokens"));
    assert_eq!(
        number(&review, "savedTokens"),
        number(&all, "tokens") - number(&review, "listedTokens")
    );
    let tools = review["tools"].as_array().unwrap();
    let each: Vec<u64> = tools
        .iter()
        .map(|tool| tool["tokens"].as_u64().unwrap())
        .collect();
    assert_eq!(each.iter().sum::<u64>(), number(&review, "tokens"));
    assert!(each.is_sorted_by(|one, other| one >= other), "the dearest first");
    assert_eq!(cost("no-such-profile").await.status, 404);

    let budget = number(&review, "tokens");
    let names: Vec<&Value> = tools.iter().map(|tool| &tool["name"]).collect();
    let wanted = |name: &str, tokens: u64, disclosure: &str| json!({"name": name, "description": "mine", "tools": names, "tokenBudget": tokens, "disclosure": disclosure});
    let over = admin
        .post("/api/profiles", wanted("over", budget - 1, "direct"))
        .await;
    assert_eq!(
        (over.status, over.json()["reason"].as_str()),
        (400, Some("ARGUMENTS_INVALID"))
    );
    for figure in [budget, budget - 1] {
        assert!(over.text.contains(&figure.to_string()), "{}", over.text);
    }
    for (name, tokens, disclosure) in [("just", budget, "direct"), ("by-search", budget / 4, "search")] {
        let made = admin
            .post("/api/profiles", wanted(name, tokens, disclosure))
            .await;
        assert_eq!(made.status, 201, "{}", made.text);
    }

    let costs = admin.get("/api/profile-costs").await.json();
    let costs = costs["costs"].as_array().unwrap();
    let line = |name: &str| costs.iter().find(|cost| cost["profile"] == name).unwrap();
    assert_eq!(costs[0]["profile"], "all");
    assert_eq!(line("just")["listedTokens"], budget);
    assert_eq!(line("by-search")["tokens"], budget);
    assert_eq!(
        line("by-search")["listedTokens"],
        line("by-search")["searchTokens"]
    );
    assert_eq!(line("by-search")["tokenBudget"], budget / 4);
}
