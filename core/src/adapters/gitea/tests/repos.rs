use super::*;

const TOOL: &str = "gitea.list_repos";

fn repo(id: i64, owner: &str) -> Value {
    json!({
        "id": id, "name": format!("r{id}"), "full_name": format!("{owner}/r{id}"), "private": id % 2 == 0,
        "owner": {"id": 7, "login": owner, "email": ""}, "parent": null, "topics": ["a"], "language": "",
        "archived_at": "0001-01-01T00:00:00Z", "created_at": "2026-01-02T03:04:05Z", "default_branch": "main",
    })
}

/// Repositories of acme on a server that gives at most `cap` at once, counting as it says.
fn many(total: usize, cap: usize) -> Peer {
    Peer::answering(move |asked| {
        let number = |name: &str| {
            let query = asked.path_and_query.split_once('?').unwrap().1;
            let value = query
                .split('&')
                .find_map(|pair| pair.strip_prefix(&format!("{name}=")));
            value.unwrap().parse::<usize>().unwrap()
        };
        let (size, page) = (number("limit").min(cap), number("page"));
        let first = ((page - 1) * size).min(total);
        let rows: Vec<Value> = (first..(first + size).min(total))
            .map(|id| repo(id as i64 + 1, "acme"))
            .collect();
        Reply::json(&json!({"ok": true, "data": rows}))
            .header("x-total-count", &total.to_string())
            .header(
                "link",
                r#"<https://elsewhere.example/api/v1/repos/search?page=2>; rel="next""#,
            )
    })
}

#[tokio::test]
async fn a_repository_is_told_with_what_is_known_of_it() {
    let peer = many(1, 50);
    let answered = call(&server(&peer, "runs"), TOOL, json!({})).await.unwrap();
    let expected = json!({
        "repos": [{
            "id": 1, "name": "r1", "full_name": "acme/r1", "owner": "acme", "private": false, "default_branch": "main",
            "topics": ["a"], "created_at": "2026-01-02T03:04:05Z",
        }],
        "more": false, "total_count": 1,
    });
    assert_eq!(answered.structured, expected);
    assert_eq!(answered.text, "acme/r1");
}

#[tokio::test]
async fn every_repository_comes_once_however_much_a_server_lowers_the_limit() {
    for (total, cap, limit, questions) in [
        (61, 50, 50, 2),
        (61, 20, 50, 4),
        (60, 30, 30, 2),
        (61, 1000, 7, 9),
        (0, 50, 30, 1),
    ] {
        let peer = many(total, cap);
        let server = server(&peer, "runs");
        let (mut ids, mut cursor) = (vec![], Value::Null);
        loop {
            let mut arguments = json!({"limit": limit});
            if !cursor.is_null() {
                arguments["cursor"] = cursor;
            }
            let told = call(&server, TOOL, arguments).await.unwrap().structured;
            assert_eq!(told["total_count"], total);
            ids.extend(
                told["repos"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|repo| repo["id"].as_u64().unwrap()),
            );
            assert_eq!(told["more"], told.get("next_cursor").is_some());
            match told.get("next_cursor") {
                Some(next) => cursor = next.clone(),
                None => break,
            }
        }
        let expected: Vec<u64> = (1..=total as u64).collect();
        assert_eq!(
            (ids, asked(&peer).len()),
            (expected, questions),
            "{total} {cap} {limit}"
        );
    }
}

#[tokio::test]
async fn the_first_page_is_not_taken_for_everything_when_a_server_does_not_count() {
    let page = |rows: usize, link: bool| {
        Peer::answering(move |_| {
            let rows: Vec<Value> = (0..rows).map(|id| repo(id as i64, "acme")).collect();
            let reply = Reply::json(&json!({"ok": true, "data": rows}));
            if link {
                reply.header(
                    "link",
                    r#"<http://x/?page=2>; rel="next",<http://x/?page=3>; rel="last""#,
                )
            } else {
                reply
            }
        })
    };
    for (rows, link, more) in [
        (5, true, true),
        (10, false, true),
        (5, false, false),
        (0, true, false),
    ] {
        let peer = page(rows, link);
        let told = call(&server(&peer, "runs"), TOOL, json!({"limit": 10}))
            .await
            .unwrap()
            .structured;
        assert_eq!(told["more"], more, "{rows} {link}");
    }
}

#[tokio::test]
async fn an_odd_row_costs_no_other() {
    let peer = Peer::answering(|_| {
        Reply::json(&json!({"ok": true, "data": [
            null, 7, {"name": "without id"}, {"id": 9007199254740993_i64, "owner": null, "topics": null, "private": "yes"},
            {"id": 3, "full_name": "acme/\u{202e}x", "description": "a\u{1b}[2Jb", "html_url": "javascript:x"},
        ]}))
    });
    let answered = call(&server(&peer, "runs"), TOOL, json!({})).await.unwrap();
    assert_eq!(
        answered.structured["repos"],
        json!([{"id": 9007199254740993_i64}, {"id": 3, "full_name": "acme/\u{202e}x", "description": "a\u{1b}[2Jb"}])
    );
    assert_eq!(
        answered.text,
        "repository 9007199254740993\nacme/\\u{202e}x: a\\u{1b}[2Jb"
    );
}

#[tokio::test]
async fn an_owner_is_found_by_name_and_listed_by_id_without_asking_for_users() {
    let peer = Peer::answering(|asked| {
        let by_name = asked.path_and_query.contains("q=acme%2F");
        let rows = match by_name {
            true => json!([repo(1, "acme-two"), {"id": 2, "owner": {"id": 42, "login": "ACME"}}]),
            false => json!([{"id": 2, "owner": {"id": 42, "login": "ACME"}}, repo(1, "acme-two")]),
        };
        Reply::json(&json!({"ok": true, "data": rows})).header("x-total-count", "61")
    });
    let server = server(&peer, "runs");
    let told = call(&server, TOOL, json!({"owner": "acme", "limit": 2}))
        .await
        .unwrap()
        .structured;
    assert_eq!(told["repos"], json!([{"id": 2, "owner": "ACME"}]));
    let cursor = told["next_cursor"].clone();
    call(
        &server,
        TOOL,
        json!({"owner": "acme", "limit": 2, "cursor": cursor}),
    )
    .await
    .unwrap();
    assert_eq!(
        asked(&peer),
        [
            "/api/v1/repos/search?sort=id&order=asc&q=acme%2F&page=1&limit=50",
            "/api/v1/repos/search?sort=id&order=asc&exclusive=true&uid=42&page=1&limit=2",
            "/api/v1/repos/search?sort=id&order=asc&exclusive=true&uid=42&page=2&limit=2",
        ]
    );
}

#[tokio::test]
async fn an_owner_who_shows_nothing_is_said_to_show_nothing() {
    let peer =
        Peer::answering(|_| Reply::json(&json!({"ok": true, "data": []})).header("x-total-count", "0"));
    let answered = call(&server(&peer, "runs"), TOOL, json!({"owner": "nobody"}))
        .await
        .unwrap();
    assert!(
        answered.is_error && answered.text.starts_with("no repository of nobody is visible"),
        "{answered:?}"
    );
}

#[tokio::test]
async fn a_cursor_of_something_else_is_refused_before_anything_is_asked() {
    let peer = many(1, 50);
    let server = server(&peer, "runs");
    let of_runs = pages::Place::start('r', 10).cursor();
    let of_all = pages::Place::start('p', 10).cursor();
    for (cursor, owner) in [
        ("x", None),
        (of_runs.as_str(), None),
        (of_all.as_str(), Some("acme")),
    ] {
        let mut arguments = json!({"cursor": cursor});
        if let Some(owner) = owner {
            arguments["owner"] = owner.into();
        }
        let answered = call(&server, TOOL, arguments).await.unwrap();
        assert!(
            answered.is_error && answered.text.contains("cursor"),
            "{answered:?}"
        );
    }
    assert_eq!(asked(&peer).len(), 0);
}
