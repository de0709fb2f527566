use super::*;
use crate::{
    profiles::{Disclosure, Profile},
    registry,
};

/// Memory of this process that no file holds, in KiB.
fn anonymous_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn every_tool_is_counted_and_the_tokeniser_does_not_stay() {
    let before = anonymous_kib();
    let counts = counts().await.unwrap();
    let grown = anonymous_kib().saturating_sub(before);
    println!("{grown} KiB after the count");
    for tool in toolgate_contract::registry::TOOLS {
        let (tokens, bytes) = (counts.of(tool.name) as usize, definition(tool).len());
        assert!(
            (bytes / 8..bytes).contains(&tokens),
            "{}: {tokens} tokens of {bytes} bytes",
            tool.name
        );
    }
    assert_eq!(counts.of("no.such_tool"), 0);
}

#[test]
fn a_definition_is_what_a_model_reads_of_a_tool() {
    let tool = registry::tool("ssh.run_whitelisted_command").unwrap();
    let text = definition(tool);
    let read: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(read["name"], "ssh_run_whitelisted_command");
    assert_eq!(read["description"], tool.description);
    assert!(text.ends_with(&format!("\"inputSchema\":{}}}", tool.input_schema)));
    assert_eq!(read.as_object().unwrap().len(), 3);
}

#[test]
fn an_estimate_and_its_bytes_go_together() {
    for tokens in [0, 1, 7, 1_000, 123_456] {
        assert_eq!(estimated(bytes_of(tokens)), tokens as usize);
    }
    assert!(estimated(usize::MAX) > 0);
}

/// Results of the kinds there are, for checkouts that have no recorded ones beside them.
const RESULTS: [&str; 6] = [
    r#"[{"id":"m-81","text":"the staging database is reset every night at 02:00 UTC","metadata":{"source":"incident-42","by":"agent-7"},"created_at":"2026-11-03T07:12:44.120394Z"}]"#,
    r#"{"task":{"id":"t-4711","project":"shop","kind":"implement","phase":"Running","title":"retry uploads","turns":12,"subtasks":[{"id":"s-1","title":"find the retry loop","order":1,"phase":"done"}]}}"#,
    r#"{"nodes":[{"id":"rs:shop::cart::total","kind":"function","file":"src/cart.rs","line":118,"degree":14},{"id":"rs:shop::cart::Cart","kind":"struct","file":"src/cart.rs","line":21,"degree":31}],"truncated":false}"#,
    " 12:00:00 up 41 days,  2:03,  1 user,  load average: 0.08, 0.03, 0.01\nMem:            7820        1523         412          88        5884        5900\n",
    "100 web-1 running node pve1, 4 CPUs at 12 %, 8.0 GiB of 16.0 GiB memory, up 41 days\n101 db-1 stopped node pve2, 8 CPUs, 32.0 GiB memory\n",
    "The cart keeps its lines sorted so that totals can be summed in one pass. Prices are whole cents; a discount is a line of its own with a negative price, and is never split over others.\n",
];

#[test]
fn an_estimate_is_within_its_factor_of_what_o200k_counts() {
    let o200k = tiktoken_rs::o200k_base().unwrap();
    let mut results: Vec<(String, String)> = RESULTS
        .iter()
        .map(|text| ("our own".into(), (*text).to_owned()))
        .collect();
    for folder in ["github", "linux", "proxmox"] {
        let beside = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/spec/data");
        let files = std::fs::read_dir(beside.join(folder)).into_iter().flatten();
        for path in files.map(|file| file.unwrap().path()) {
            let name = path.display().to_string();
            // Descriptions of APIs are no results.
            let is_result = !name.contains("openapi") && !name.contains("subset");
            if is_result && let Ok(text) = std::fs::read_to_string(&path) {
                results.push((name, text));
            }
        }
    }
    let mut worst = 1.0_f64;
    for (name, text) in &results {
        // Of a few tokens the estimate means nothing, and nobody minds.
        if text.len() < 80 {
            continue;
        }
        let counted = o200k.count_ordinary(text) as f64;
        let off = estimated(text.len()) as f64 / counted;
        let off = off.max(1.0 / off);
        worst = worst.max(off);
        assert!(off <= estimate::FACTOR, "{name}: off by {off:.2}");
    }
    println!("{} results, at most off by a factor of {worst:.2}", results.len());
}

#[tokio::test]
async fn a_profile_costs_what_it_lists_and_saves_the_rest() {
    let all = of_profile(None).await.unwrap();
    assert_eq!((all.tokens, all.listed_tokens), (all.all_tokens, all.all_tokens));
    let review = Profile::built_in("review").unwrap();
    let cost = of_profile(Some(&review)).await.unwrap();
    assert_eq!(cost.tools.len(), 40);
    assert_eq!(cost.listed_tokens, cost.tokens);
    assert_eq!(cost.saved_tokens(), all.tokens - cost.tokens);
    let mut by_search = Profile::clone(&review);
    by_search.disclosure = Disclosure::Search;
    let searched = of_profile(Some(&by_search)).await.unwrap();
    assert_eq!((searched.tokens, &searched.tools), (cost.tokens, &cost.tools));
    assert_eq!(searched.listed_tokens, cost.search_tokens);
    assert!(searched.listed_tokens * 5 < cost.tokens, "{searched:?}");
    by_search.result_cap = Some(1_000);
    let with_rest = of_profile(Some(&by_search)).await.unwrap();
    assert!(with_rest.listed_tokens > searched.listed_tokens);
    assert_eq!(with_rest.listed_tokens, with_rest.search_tokens);
}

#[tokio::test]
async fn a_profile_over_its_budget_is_refused_with_both_figures() {
    let review = Profile::built_in("review").unwrap();
    let cost = of_profile(Some(&review)).await.unwrap().listed_tokens;
    let with = |token_budget| {
        let mut profile = Profile::clone(&review);
        profile.token_budget = token_budget;
        profile
    };
    check_budget(&with(None)).await.unwrap();
    check_budget(&with(Some(cost))).await.unwrap();
    let told = check_budget(&with(Some(cost - 1))).await.unwrap_err().to_string();
    assert!(
        told.contains(&cost.to_string()) && told.contains(&(cost - 1).to_string()),
        "{told}"
    );
    // Disclosed by search it lists less.
    let mut by_search = with(Some(cost - 1));
    by_search.disclosure = Disclosure::Search;
    check_budget(&by_search).await.unwrap();
}
