use super::*;

fn given(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => panic!("an object"),
    }
}

#[test]
fn the_sub_path_of_a_server_stays_and_what_was_pasted_with_it_goes() {
    let check = |url: &str, expected: &str| {
        let stored = settings(given(json!({"baseUrl": url})), Defaults::default()).unwrap();
        assert_eq!(stored["baseUrl"], expected, "{url}");
    };
    check("https://git.example.org", "https://git.example.org");
    check("https://git.example.org/", "https://git.example.org");
    check("https://git.example.org/api/v1", "https://git.example.org");
    check("https://git.example.org/api/v1/", "https://git.example.org");
    check(
        "https://git.example.org/forge/api/v1",
        "https://git.example.org/forge",
    );
    check(
        "https://git.example.org:3000/forge//",
        "https://git.example.org:3000/forge",
    );
}

#[test]
fn settings_are_closed_and_say_where_they_are_wrong() {
    let check = |config: Value, place: &str| {
        let error = settings(given(config), Defaults::default())
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(place), "{error}");
    };
    check(json!({}), "config.baseUrl: is needed");
    check(json!({"baseUrl": "git.example.org"}), "config.baseUrl");
    check(json!({"baseUrl": "ftp://git.example.org"}), "config.baseUrl");
    check(
        json!({"baseUrl": "https://me:pw@git.example.org"}),
        "config.baseUrl",
    );
    check(
        json!({"baseUrl": "https://git.example.org?token=x"}),
        "config.baseUrl",
    );
    check(
        json!({"baseUrl": "http://git.example.org"}),
        "config.baseUrl: is plain HTTP",
    );
    check(
        json!({"baseUrl": "https://git.example.org", "base_ur": 1}),
        "config.base_ur",
    );
    check(
        json!({"baseUrl": "https://git.example.org", "token": "x"}),
        "config.token",
    );
}

#[test]
fn plain_http_is_taken_where_it_is_allowed() {
    let config = || given(json!({"base_url": "http://127.0.0.1:3000", "allowHttp": true}));
    let stored = settings(config(), Defaults::default()).unwrap();
    assert_eq!(
        (&stored["baseUrl"], &stored["allowHttp"]),
        (&json!("http://127.0.0.1:3000"), &json!(true))
    );
    let stored = settings(
        given(json!({"baseUrl": "http://127.0.0.1"})),
        Defaults { local: true },
    )
    .unwrap();
    assert_eq!(stored["allowLoopback"], true);
}

#[test]
fn a_credential_is_one_token_and_is_named_in_no_error() {
    assert_eq!(
        credential(&given(json!({"token": format!(" {TOKEN}\n")})))
            .unwrap()
            .reveal(),
        TOKEN.as_bytes()
    );
    for wrong in [
        json!({}),
        json!({"token": ""}),
        json!({"token": null}),
        json!({"token": format!("token {TOKEN}")}),
        json!({"token": "é"}),
        json!({"token": TOKEN.repeat(200)}),
        json!({"token": TOKEN, "user": "me"}),
    ] {
        let error = credential(&given(wrong.clone())).unwrap_err();
        assert!(error.to_string().starts_with("credential."), "{wrong}");
        assert!(!format!("{error:?}").contains(TOKEN), "{wrong}");
    }
}

#[tokio::test]
async fn everything_is_asked_below_the_sub_path() {
    let peer = Peer::answering(|_| Reply::json(&json!({"ok": true, "data": []})));
    for path in ["/forge", "/forge/", "/forge/api/v1", "/forge/api/v1/"] {
        let server = at(&format!("{}{path}", peer.base()), &json!({}));
        call(&server, "gitea.list_repos", json!({})).await.unwrap();
    }
    for path in asked(&peer) {
        assert!(path.starts_with("/forge/api/v1/repos/search?"), "{path}");
    }
}
