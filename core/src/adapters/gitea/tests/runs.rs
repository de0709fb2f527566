use super::*;

const TOOL: &str = "gitea.get_recent_ci_runs";

/// Answers by path below the repository acme/site; whatever is not there is not found.
fn site(answers: &[(&'static str, Reply)]) -> Peer {
    let answers = answers.to_vec();
    Peer::answering(move |asked| {
        let below = asked
            .path()
            .strip_prefix("/api/v1/repos/acme/site")
            .unwrap_or("?");
        let known = answers.iter().find(|(path, _)| *path == below);
        known.map_or_else(|| no(404, "not found"), |(_, reply)| reply.clone())
    })
}

fn repo() -> Reply {
    Reply::json(&json!({"id": 1, "full_name": "acme/site", "default_branch": "main", "empty": false}))
}

async fn recent(peer: &Peer, source: &str, more: Value) -> Answered {
    let mut arguments = json!({"owner": "acme", "repo": "site"});
    for (key, value) in more.as_object().unwrap() {
        arguments[key] = value.clone();
    }
    call(&server(peer, source), TOOL, arguments).await.unwrap()
}

fn below(peer: &Peer) -> Vec<String> {
    asked(peer)
        .iter()
        .map(|path| path.replace("/api/v1/repos/acme/site", ""))
        .collect()
}

#[tokio::test]
async fn a_run_of_gitea_is_told_with_exact_ids_and_without_what_it_lacks() {
    let peer = site(&[(
        "/actions/runs",
        Reply::json(&json!({"total_count": 2, "workflow_runs": [
            {
                "id": 9007199254740993_i64, "run_number": 12, "run_attempt": 0, "display_title": "Fix it",
                "path": "ci.yml@refs/heads/main", "event": "push", "status": "in_progress", "head_branch": "main",
                "head_sha": "0123456789abcdef0123456789abcdef01234567", "actor": {"login": "ann"},
                "html_url": "https://git.example/acme/site/actions/runs/12", "started_at": "2026-11-29T10:00:00+01:00",
                "completed_at": "1970-01-01T00:00:00Z", "repository": {"full_name": "acme/site"},
            },
            {
                "id": 2167882875_i64, "name": null, "head_branch": null, "event": "workflow_dispatch",
                "status": "completed", "conclusion": "success", "actor": null,
            },
        ]})),
    )]);
    let answered = recent(&peer, "runs", json!({})).await;
    let expected = json!({
        "source": "runs", "more": false, "total_count": 2, "repository": "acme/site",
        "runs": [
            {
                "id": 9007199254740993_i64, "run_number": 12, "display_title": "Fix it", "workflow": "ci.yml",
                "event": "push", "status": "in_progress", "head_branch": "main",
                "head_sha": "0123456789abcdef0123456789abcdef01234567", "actor": "ann",
                "html_url": "https://git.example/acme/site/actions/runs/12", "started_at": "2026-11-29T10:00:00+01:00",
            },
            {
                "id": 2167882875_i64, "event": "workflow_dispatch", "status": "completed", "conclusion": "success",
            },
        ],
    });
    assert_eq!(answered.structured, expected);
    assert_eq!(
        answered.text,
        "#12 (id 9007199254740993) in_progress ci.yml push main 0123456789 2026-11-29T10:00:00+01:00 \"Fix it\"\n\
         (id 2167882875) completed success workflow_dispatch"
    );
    assert_eq!(below(&peer), ["/actions/runs?page=1&limit=10"]);
}

#[tokio::test]
async fn a_run_of_forgejo_is_told_in_the_same_words() {
    let peer = site(&[(
        "/actions/runs",
        Reply::json(&json!({"total_count": 1, "workflow_runs": [{
            "id": 77, "index_in_repo": 5, "title": "Release", "status": "failure", "event": "push",
            "commit_sha": "abc", "prettyref": "v1.0", "trigger_user": {"login": "bob"}, "workflow_id": "rel.yml",
            "created": "2026-11-29T10:00:00Z", "started": "0001-01-01T00:00:00Z", "stopped": "2026-11-29T10:05:00Z",
            "updated": "2026-11-29T10:05:00Z", "html_url": "https://git.example/acme/site/actions/runs/5",
        }]})),
    )]);
    let told = recent(&peer, "runs", json!({})).await.structured;
    assert_eq!(
        told["runs"],
        json!([{
            "id": 77, "run_number": 5, "display_title": "Release", "workflow": "rel.yml", "event": "push",
            "status": "failure", "conclusion": "failure", "head_branch": "v1.0", "head_sha": "abc", "actor": "bob",
            "html_url": "https://git.example/acme/site/actions/runs/5", "created_at": "2026-11-29T10:00:00Z",
            "updated_at": "2026-11-29T10:05:00Z", "completed_at": "2026-11-29T10:05:00Z",
        }])
    );
}

#[tokio::test]
async fn filters_travel_as_values_and_cannot_become_anything_else() {
    let peer = site(&[(
        "/actions/runs",
        Reply::json(&json!({"total_count": 0, "workflow_runs": null})),
    )]);
    let filters = json!({"branch": "a/b?x=1&y#z", "event": "push&sudo", "status": "running", "limit": 3});
    let answered = recent(&peer, "runs", filters).await;
    assert_eq!(answered.text, "No runs.");
    let query = "branch=a%2Fb%3Fx%3D1%26y%23z&event=push%26sudo&status=in_progress";
    let asked: Vec<String> = peer
        .asked()
        .iter()
        .map(|asked| asked.path_and_query.clone())
        .collect();
    assert_eq!(
        asked,
        [format!(
            "/api/v1/repos/acme/site/actions/runs?{query}&page=1&limit=3"
        )]
    );
}

#[tokio::test]
async fn forgejo_is_asked_in_its_own_words_and_its_rows_are_looked_at_for_the_rest() {
    let peer = Peer::answering(|_| {
        Reply::json(&json!({"total_count": 3, "workflow_runs": [
            {"id": 3, "status": "running", "prettyref": "main"},
            {"id": 2, "status": "success", "prettyref": "main"},
            {"id": 1, "status": "failure", "prettyref": "dev"},
        ]}))
    });
    let server = at(&peer.base(), &json!({"product": "forgejo", "ciSource": "runs"}));
    let mut ids = vec![];
    for filters in [
        json!({"status": "completed"}),
        json!({"status": "in_progress"}),
        json!({"branch": "dev"}),
    ] {
        let mut arguments = filters;
        arguments["owner"] = "acme".into();
        arguments["repo"] = "site".into();
        let told = call(&server, TOOL, arguments).await.unwrap().structured;
        ids.push(
            told["runs"]
                .as_array()
                .unwrap()
                .iter()
                .map(|run| run["id"].as_i64().unwrap())
                .collect::<Vec<_>>(),
        );
    }
    assert_eq!(ids, [vec![2, 1], vec![3, 2, 1], vec![1]]);
    assert_eq!(
        below(&peer),
        [
            "/actions/runs?page=1&limit=50",
            "/actions/runs?status=running&page=1&limit=50",
            "/actions/runs?branch=dev&page=1&limit=50",
        ]
    );
}

#[tokio::test]
async fn a_server_that_does_not_know_a_filter_is_not_believed() {
    let runs: Vec<Value> = (1..=8)
        .map(|id| json!({"id": id, "event": "push", "head_branch": if id % 2 == 0 { "main" } else { "dev" }}))
        .collect();
    let peer = site(&[(
        "/actions/runs",
        Reply::json(&json!({"total_count": 8, "workflow_runs": runs})),
    )]);
    let told = recent(&peer, "runs", json!({"branch": "main"})).await.structured;
    let ids: Vec<i64> = told["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["id"].as_i64().unwrap())
        .collect();
    assert_eq!(ids, [2, 4, 6, 8]);
}

#[tokio::test]
async fn runs_go_on_where_the_former_page_ended() {
    let peer = Peer::answering(|asked| {
        let page = if asked.path_and_query.contains("page=2") {
            2
        } else {
            1
        };
        let first = (page - 1) * 10;
        let runs: Vec<Value> = (first..(first + 10).min(13))
            .map(|n| json!({"id": 100 - n}))
            .collect();
        Reply::json(&json!({"total_count": 13, "workflow_runs": runs}))
    });
    let first = recent(&peer, "runs", json!({})).await.structured;
    assert_eq!(
        (&first["more"], first["runs"].as_array().unwrap().len()),
        (&json!(true), 10)
    );
    assert_eq!(peer.asked().len(), 1);
    let second = recent(&peer, "runs", json!({"cursor": first["next_cursor"]}))
        .await
        .structured;
    assert_eq!(
        (&second["more"], &second["runs"]),
        (&json!(false), &json!([{"id": 90}, {"id": 89}, {"id": 88}]))
    );
}

#[tokio::test]
async fn jobs_are_grouped_by_run_and_waiting_runs_are_said_to_be_missing() {
    let job = |id: i64, run: i64, name: &str, status: &str, started: &str| {
        json!({
            "id": id, "name": name, "run_number": run, "status": status, "head_branch": "main", "event": "push",
            "workflow_id": "ci.yml", "display_title": "Fix", "url": format!("https://git.example/r/{run}"),
            "created_at": "2026-11-29T09:00:00Z", "updated_at": started, "run_started_at": started,
        })
    };
    let peer = site(&[(
        "/actions/tasks",
        Reply::json(&json!({"total_count": 5, "workflow_runs": [
            job(9, 7, "test", "running", "2026-11-29T10:02:00Z"),
            job(8, 7, "build", "success", "2026-11-29T11:01:00+01:00"),
            job(7, 6, "test", "failure", "2026-11-29T09:02:00Z"),
            job(6, 6, "build", "success", "1970-01-01T00:00:00Z"),
            job(5, 5, "docs", "skipped", "0001-01-01T00:00:00Z"),
        ]})),
    )]);
    let answered = recent(&peer, "tasks", json!({})).await;
    let told = &answered.structured;
    assert_eq!(
        (&told["source"], &told["total_count"]),
        (&json!("tasks"), &json!(5))
    );
    assert!(
        told["note"]
            .as_str()
            .unwrap()
            .contains("wait for a runner may be missing")
    );
    assert!(answered.text.contains("Note: "), "{}", answered.text);
    let runs = told["runs"].as_array().unwrap();
    let brief: Vec<String> = runs
        .iter()
        .map(|run| {
            format!(
                "{} {} {} {}",
                run["run_number"],
                run["status"],
                run["conclusion"],
                run["jobs"].as_array().unwrap().len()
            )
        })
        .collect();
    assert_eq!(
        brief,
        [
            r#"7 "running" null 2"#,
            r#"6 "failure" "failure" 2"#,
            r#"5 "skipped" "skipped" 1"#
        ]
    );
    // The run has no id of its own here, and began with the first of its jobs, wherever that wrote its time.
    assert!(runs[0].get("id").is_none());
    assert_eq!(runs[0]["started_at"], "2026-11-29T11:01:00+01:00");
    assert_eq!(runs[0]["updated_at"], "2026-11-29T10:02:00Z");
    assert!(runs[2].get("started_at").is_none() && runs[2]["jobs"][0].get("started_at").is_none());
    assert_eq!(below(&peer), ["/actions/tasks?page=1&limit=50"]);
}

/// Runs 40 … 1 of three jobs each, on a server that gives `cap` rows at once.
fn long_list(cap: usize) -> Peer {
    Peer::answering(move |asked| {
        let query = asked.path_and_query.split_once('?').unwrap().1;
        let number = |name: &str| {
            query
                .split('&')
                .find_map(|pair| pair.strip_prefix(name))
                .unwrap()
                .parse::<usize>()
                .unwrap()
        };
        let (size, page) = (number("limit=").min(cap), number("page="));
        let row = |n: usize| {
            let run = 40 - n / 3;
            let status = if run.is_multiple_of(4) {
                "failure"
            } else {
                "success"
            };
            let branch = if run.is_multiple_of(10) { "main" } else { "dev" };
            json!({"id": 1000 - n, "run_number": run, "status": status, "head_branch": branch})
        };
        let rows: Vec<Value> = ((page - 1) * size..(page * size).min(120)).map(row).collect();
        Reply::json(&json!({"total_count": 120, "workflow_runs": rows}))
    })
}

async fn all_numbers(peer: &Peer, mut arguments: Value) -> Vec<(i64, usize)> {
    let mut all = vec![];
    loop {
        let told = recent(peer, "tasks", arguments.clone()).await.structured;
        for run in told["runs"].as_array().unwrap() {
            all.push((
                run["run_number"].as_i64().unwrap(),
                run["jobs"].as_array().unwrap().len(),
            ));
        }
        match told.get("next_cursor") {
            Some(cursor) => arguments["cursor"] = cursor.clone(),
            None => return all,
        }
    }
}

#[tokio::test]
async fn every_run_comes_whole_and_once_across_pages_of_jobs() {
    for (limit, cap) in [(10, 50), (7, 50), (50, 50), (10, 20), (1, 7)] {
        let all = all_numbers(&long_list(cap), json!({"limit": limit})).await;
        let expected: Vec<(i64, usize)> = (1..=40).rev().map(|run| (run, 3)).collect();
        assert_eq!(all, expected, "{limit} {cap}");
    }
}

#[tokio::test]
async fn runs_of_jobs_are_filtered_here_in_the_words_of_either() {
    let check = async |filters: Value, expected: &[i64]| {
        let all: Vec<i64> = all_numbers(&long_list(50), filters.clone())
            .await
            .iter()
            .map(|(run, _)| *run)
            .collect();
        assert_eq!(all, expected, "{filters}");
    };
    check(json!({"branch": "main"}), &[40, 30, 20, 10]).await;
    check(json!({"branch": "main", "status": "failure"}), &[40, 20]).await;
    check(
        json!({"status": "failure", "limit": 3}),
        &[40, 36, 32, 28, 24, 20, 16, 12, 8, 4],
    )
    .await;
    check(json!({"status": "in_progress"}), &[]).await;
    check(json!({"event": "push"}), &[]).await;
    assert_eq!(
        all_numbers(&long_list(50), json!({"status": "completed"}))
            .await
            .len(),
        40
    );
}

#[tokio::test]
async fn where_there_are_no_runs_the_states_of_the_newest_commit_are_told() {
    let peer = site(&[
        ("", repo()),
        (
            "/commits/main/status",
            Reply::json(
                &json!({"state": "failure", "total_count": 2, "sha": "abc", "statuses": [
                    {"id": 1, "status": "success", "context": "ci/build", "target_url": "https://ci.example/1", "description": "ok", "created_at": "2026-11-29T10:00:00Z"},
                    {"id": 2, "status": "failure", "context": "ci/test", "target_url": "", "description": null},
                ]}),
            ),
        ),
    ]);
    let answered = recent(&peer, "statuses", json!({})).await;
    let told = &answered.structured;
    assert_eq!(
        told["statuses"],
        json!([
            {"context": "ci/build", "status": "success", "description": "ok", "target_url": "https://ci.example/1", "created_at": "2026-11-29T10:00:00Z"},
            {"context": "ci/test", "status": "failure"},
        ])
    );
    assert_eq!(
        (&told["source"], &told["runs"], &told["repository"]),
        (&json!("statuses"), &json!([]), &json!("acme/site"))
    );
    assert!(
        answered.text.starts_with("success ci/build ok"),
        "{}",
        answered.text
    );
    assert_eq!(below(&peer), ["", "/commits/main/status?page=1&limit=10"]);
    let filtered = recent(&peer, "statuses", json!({"status": "failure", "event": "push"}))
        .await
        .structured;
    assert_eq!(filtered["statuses"].as_array().unwrap().len(), 1);
    assert!(
        filtered["note"]
            .as_str()
            .unwrap()
            .contains("event was not applied")
    );
}

#[tokio::test]
async fn no_reported_state_means_no_ci_and_never_one_that_waits() {
    for state in ["", "pending"] {
        let status = json!({"state": state, "total_count": 0, "statuses": null});
        let peer = site(&[("", repo()), ("/commits/main/status", Reply::json(&status))]);
        let answered = recent(&peer, "statuses", json!({})).await;
        assert!(answered.structured.get("statuses").is_none());
        assert!(answered.text.contains("no CI has reported anything") && !answered.text.contains("pending"));
    }
    let empty =
        Reply::json(&json!({"id": 1, "full_name": "acme/site", "empty": true, "default_branch": "main"}));
    let peer = site(&[("", empty)]);
    assert!(
        recent(&peer, "statuses", json!({}))
            .await
            .text
            .contains("nothing has been pushed")
    );
}

#[tokio::test]
async fn a_route_that_a_server_lacks_is_stood_in_for_by_the_next_best() {
    let jobs = Reply::json(
        &json!({"total_count": 1, "workflow_runs": [{"id": 1, "run_number": 1, "status": "success"}]}),
    );
    let peer = site(&[("", repo()), ("/actions/tasks", jobs)]);
    assert_eq!(
        recent(&peer, "runs", json!({})).await.structured["source"],
        "tasks"
    );
    assert_eq!(
        below(&peer),
        [
            "/actions/runs?page=1&limit=10",
            "",
            "/actions/tasks?page=1&limit=50"
        ]
    );

    let states = Reply::json(&json!({"state": "", "total_count": 0, "statuses": []}));
    let peer = site(&[("", repo()), ("/commits/main/status", states)]);
    for source in ["runs", "tasks", "statuses"] {
        assert_eq!(
            recent(&peer, source, json!({})).await.structured["source"],
            "statuses"
        );
    }
}

#[tokio::test]
async fn a_repository_that_is_not_shown_is_not_found_whatever_the_source() {
    for source in ["runs", "tasks", "statuses"] {
        let peer = site(&[]);
        let answered = recent(&peer, source, json!({})).await;
        assert!(
            answered.is_error && answered.text.contains("acme/site: not found, or not visible"),
            "{answered:?}"
        );
        assert!(peer.asked().len() <= 2, "{:?}", below(&peer));
    }
}

#[tokio::test]
async fn actions_that_are_switched_off_are_no_fault_of_the_token() {
    let off = no(
        403,
        "user should have specific read permission or be a repo admin or a site admin",
    );
    let states = Reply::json(
        &json!({"state": "success", "total_count": 1, "statuses": [{"status": "success", "context": "ci"}]}),
    );
    let peer = site(&[
        ("", repo()),
        ("/actions/runs", off.clone()),
        ("/actions/tasks", off),
        ("/commits/main/status", states),
    ]);
    for source in ["runs", "tasks"] {
        let told = recent(&peer, source, json!({})).await.structured;
        assert_eq!(told["source"], "statuses");
        assert!(
            told["note"]
                .as_str()
                .unwrap()
                .starts_with("Actions are switched off"),
            "{told}"
        );
    }
}

#[tokio::test]
async fn what_cannot_be_asked_for_is_said_with_a_way_on() {
    let peer = site(&[("", repo()), ("/actions/runs", no(400, "Invalid status x"))]);
    let answered = recent(&peer, "runs", json!({"status": "x"})).await;
    assert!(
        answered.is_error && answered.text.contains("it knows queued"),
        "{answered:?}"
    );
    let scope = no(
        403,
        "token does not have at least one of required scope(s), required=[read:repository], token scope=read:user",
    );
    let peer = site(&[("/actions/runs", scope)]);
    let answered = recent(&peer, "runs", json!({})).await;
    assert!(
        answered.is_error && answered.text.contains("lacks read:repository"),
        "{answered:?}"
    );
    let peer = site(&[("", repo())]);
    for branch in ["nope", "..", "."] {
        let answered = recent(&peer, "statuses", json!({"branch": branch})).await;
        assert!(
            answered.is_error && answered.text.contains(&format!("no branch {branch}")),
            "{answered:?}"
        );
    }
    let answered = recent(&peer, "runs", json!({"cursor": "made-up"})).await;
    assert!(
        answered.is_error && answered.text.contains("cursor"),
        "{answered:?}"
    );
}

#[tokio::test]
async fn a_renamed_repository_is_followed_within_the_server_and_named_anew() {
    for status in [301, 307] {
        let peer = Peer::answering(move |asked| match asked.path() {
            "/forge/api/v1/repos/acme/site/actions/runs" => {
                let query = asked.path_and_query.split_once('?').unwrap().1;
                Reply::status(status).header(
                    "location",
                    &format!("/forge/api/v1/repos/acme/web/actions/runs?{query}"),
                )
            }
            "/forge/api/v1/repos/acme/web/actions/runs" => {
                Reply::json(&json!({"total_count": 1, "workflow_runs": [{"id": 1}]}))
            }
            _ => no(404, "not found"),
        });
        let server = at(&format!("{}/forge", peer.base()), &json!({"ciSource": "runs"}));
        let told = call(&server, TOOL, json!({"owner": "acme", "repo": "site"}))
            .await
            .unwrap()
            .structured;
        assert_eq!(
            (&told["repository"], &told["runs"]),
            (&json!("acme/web"), &json!([{"id": 1}])),
            "{status}"
        );
    }
}

#[tokio::test]
async fn a_redirect_to_elsewhere_is_not_followed_with_the_token() {
    let trap = Peer::answering(|_| Reply::json(&json!({"total_count": 0, "workflow_runs": []})));
    let elsewhere = format!("{}/api/v1/repos/acme/site/actions/runs", trap.base());
    let peer = Peer::answering(move |_| Reply::status(301).header("location", &elsewhere));
    let answered = call(
        &server(&peer, "runs"),
        TOOL,
        json!({"owner": "acme", "repo": "site"}),
    )
    .await;
    assert!(answered.is_err(), "{answered:?}");
    assert_eq!(trap.asked().len(), 0);
}
