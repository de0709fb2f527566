use http::HeaderMap;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

const SECRET: &str = "0123456789abcdef0123456789abcdef01234567";

fn state(version: Version, token: Token) -> State {
    State {
        setup: Setup::of(version),
        began: Instant::now(),
        began_at: 1_796_000_000,
        tokens: Mutex::new(BTreeMap::from([(SECRET.to_owned(), token)])),
        repos: repos::all(),
    }
}

fn asked(state: &State, method: &str, path_and_query: &str, secret: Option<&str>) -> (u16, Value, Reply) {
    let (path, query) = path_and_query.split_once('?').unwrap_or((path_and_query, ""));
    let mut headers = HeaderMap::new();
    if let Some(secret) = secret {
        headers.insert("authorization", format!("token {secret}").parse().unwrap());
    }
    let reply = state.answer(&Request {
        method: method.to_owned(),
        path: format!("{}/api/v1{path}", state.setup.sub_path),
        query: query.to_owned(),
        headers,
        body: bytes::Bytes::new(),
    });
    let body = serde_json::from_slice(&reply.body).unwrap_or(Value::Null);
    (reply.status.as_u16(), body, reply)
}

fn get(state: &State, path: &str) -> (u16, Value, Reply) {
    asked(state, "GET", path, Some(SECRET))
}

#[test]
fn each_version_has_the_routes_of_its_own() {
    for version in Version::ALL {
        let state = state(version, Token::least());
        let status = |path: &str| get(&state, path).0;
        let there = |is: bool| if is { 200 } else { 404 };
        assert_eq!(
            status("/repos/acme/website/actions/tasks"),
            there(version.tells_jobs()),
            "{version:?}"
        );
        assert_eq!(
            status("/repos/acme/website/actions/runs"),
            there(version.tells_runs()),
            "{version:?}"
        );
        assert_eq!(
            status("/repos/acme/website/commits/main/status"),
            200,
            "{version:?}"
        );
        let hidden = if version.hides_version() { 403 } else { 200 };
        assert_eq!(status("/version"), hidden, "{version:?}");
        assert_eq!(
            asked(&state, "GET", "/version", None).1["version"],
            version.text()
        );
    }
}

#[test]
fn a_missing_scope_is_refused_in_the_words_of_the_version() {
    let text = |version, token| {
        get(&state(version, token), "/user").1["message"]
            .as_str()
            .unwrap_or("")
            .to_owned()
    };
    let old = "token does not have at least one of required scope(s): [read:user]";
    for version in [
        Version::Gitea1_20,
        Version::Gitea1_22,
        Version::Forgejo11,
        Version::Forgejo15,
    ] {
        assert_eq!(text(version, Token::least()), old);
    }
    assert_eq!(
        text(
            Version::Gitea1_23,
            Token::with(&["public-only", "read:repository"])
        ),
        "token does not have at least one of required scope(s), required=[read:user], token scope=public-only,read:repository"
    );
    assert_eq!(text(Version::Gitea1_25, Token::with(&["write:user"])), "");
    assert_eq!(text(Version::Gitea1_19, Token::least()), "");
}

#[test]
fn an_unknown_token_is_refused_except_by_the_oldest() {
    let search = |version| {
        asked(
            &state(version, Token::least()),
            "GET",
            "/repos/search",
            Some("unknown"),
        )
        .0
    };
    assert_eq!(
        (
            search(Version::Gitea1_19),
            search(Version::Gitea1_20),
            search(Version::Forgejo15)
        ),
        (200, 401, 401)
    );
    assert_eq!(
        asked(
            &state(Version::Gitea1_19, Token::least()),
            "GET",
            "/user",
            Some("unknown")
        )
        .0,
        401
    );
}

#[test]
fn pages_are_as_long_as_the_server_allows_and_linked_to_its_own_address() {
    let mut state = state(Version::Gitea1_25, Token::least());
    state.setup.most = 20;
    let (_, body, reply) = get(&state, "/repos/search?limit=50&page=2");
    assert_eq!(body["data"].as_array().unwrap().len(), 20);
    assert_eq!(reply.headers["x-total-count"], "61");
    assert!(
        reply.headers["link"]
            .to_str()
            .unwrap()
            .starts_with("<https://git.acme.example/api/v1/repos/search?")
    );
}

#[test]
fn a_private_repository_is_shown_to_its_readers_only() {
    let least = state(Version::Gitea1_25, Token::least());
    assert_eq!(get(&least, "/repos/acme/shop").0, 200);
    assert_eq!(asked(&least, "GET", "/repos/acme/shop", None).0, 404);
    let public = state(
        Version::Gitea1_25,
        Token::with(&["public-only", "read:repository"]),
    );
    assert_eq!(
        (
            get(&public, "/repos/acme/shop").0,
            get(&public, "/repos/acme/website").0
        ),
        (404, 200)
    );
}

#[test]
fn a_renamed_repository_is_redirected_below_the_sub_path() {
    let mut state = state(Version::Gitea1_25, Token::least());
    state.setup.sub_path = "/forge";
    let (status, _, reply) = get(&state, "/repos/acme/homepage/actions/runs?limit=5");
    assert_eq!(status, 307);
    assert_eq!(
        reply.headers["location"],
        "/forge/api/v1/repos/acme/website/actions/runs?limit=5"
    );
}

#[test]
fn nothing_but_reading_is_answered() {
    let state = state(Version::Gitea1_25, Token::without_scopes());
    for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
        assert_eq!(asked(&state, method, "/repos/acme/shop", Some(SECRET)).0, 405);
    }
}

#[test]
fn a_run_waits_goes_on_and_ends_and_its_jobs_come_with_a_runner() {
    let mut state = state(Version::Gitea1_25, Token::least());
    let mut newest = |age: u64| {
        state.began = Instant::now().checked_sub(Duration::from_secs(age)).unwrap();
        let runs = get(&state, "/repos/acme/website/actions/runs?limit=50").1;
        let jobs = get(&state, "/repos/acme/website/actions/tasks?limit=50").1;
        let run = runs["workflow_runs"]
            .as_array()
            .unwrap()
            .iter()
            .find(|run| run["run_number"] == 46)
            .unwrap()
            .clone();
        let of_it = jobs["workflow_runs"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|job| job["run_number"] == 46)
            .count();
        (
            run["status"].as_str().unwrap().to_owned(),
            run.get("conclusion").is_some(),
            of_it,
        )
    };
    assert_eq!(newest(1), ("queued".to_owned(), false, 0));
    assert_eq!(newest(20), ("in_progress".to_owned(), false, 2));
    assert_eq!(newest(90), ("completed".to_owned(), true, 3));
}

#[tokio::test]
async fn what_was_asked_is_kept_with_its_method() {
    let gitea = Gitea::start(([127, 0, 0, 1], 0).into(), Setup::of(Version::Gitea1_25))
        .await
        .unwrap();
    let address = gitea.url().replace("http://", "");
    for (method, status) in [("GET", "HTTP/1.1 200"), ("POST", "HTTP/1.1 405")] {
        let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
        let head = format!("{method} /api/v1/version HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with(status), "{answer}");
    }
    assert_eq!(gitea.seen().writes(), ["POST /api/v1/version"]);
    assert_eq!(gitea.seen().count(), 2);
}
