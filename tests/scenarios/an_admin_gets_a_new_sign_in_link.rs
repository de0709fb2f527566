//! After the first start people get sign-in links from the command line: for themselves, and from an admin for others.

use serde_json::{Value, json};
use toolgate_test_support::{Caller, Gateway, Role, run};

#[tokio::test]
async fn an_admin_gets_a_new_sign_in_link() {
    let gateway = Gateway::start(&["--relay-built-in=false"]).await.unwrap();
    let admin = gateway.admin();
    let printed = sign_in(&gateway, &admin, &[]).await;
    assert_eq!(printed.status.code(), Some(0), "{printed:?}");
    let link = String::from_utf8(printed.stdout).unwrap();
    let start = format!("{}/sign-in#code=", gateway.url());
    let code = link
        .trim_end()
        .strip_prefix(&start)
        .expect("one link and nothing else");

    let signed_in = admin.post("/api/sign-in", json!({"code": code})).await;
    assert_eq!(signed_in.status, 201, "{}", signed_in.text);
    let session = admin.with_token(signed_in.json()["token"].as_str().unwrap());
    assert_eq!(session.get("/api/self").await.json()["role"], "admin");
    let again = admin.post("/api/sign-in", json!({"code": code})).await;
    assert_eq!(again.status, 401, "a code works once");

    let made: Vec<Value> = admin
        .audit()
        .await
        .unwrap()
        .into_iter()
        .filter(|row| row["event"] == "token.created" && row["principal"] == "admin")
        .collect();
    assert_eq!(made.len(), 1, "{made:?}");
    assert!(!made[0].to_string().contains(code));

    let (id, engineer) = admin.make_token("ed", Role::Engineer).await.unwrap();
    let own = session_of(&gateway, &engineer, &[]).await;
    let given = session_of(&gateway, &admin, &["--token", "ed"]).await;
    for session in [&own, &given] {
        let me = session.get("/api/self").await.json();
        assert_eq!(
            (&me["principal"], &me["role"]),
            (&json!("ed"), &json!("engineer"))
        );
    }
    for (caller, more) in [
        (admin.make_token("pod", Role::Agent).await.unwrap().1, &[][..]),
        (engineer, &["--token", "admin"][..]),
    ] {
        let refused = sign_in(&gateway, &caller, more).await;
        assert_eq!(refused.status.code(), Some(3), "{refused:?}");
        assert!(refused.stdout.is_empty());
    }
    assert_eq!(admin.delete(&format!("/api/tokens/{id}")).await.status, 204);
    for session in [&own, &given] {
        assert_eq!(
            session.get("/api/self").await.status,
            401,
            "it outlives its token"
        );
    }
}

/// Whoever opens the link that is printed.
async fn session_of(gateway: &Gateway, caller: &Caller, more: &[&str]) -> Caller {
    let printed = sign_in(gateway, caller, more).await;
    assert_eq!(printed.status.code(), Some(0), "{printed:?}");
    let link = String::from_utf8(printed.stdout).unwrap();
    let (_, code) = link.trim_end().split_once("#code=").expect("a link");
    let signed_in = caller.post("/api/sign-in", json!({"code": code})).await;
    caller.with_token(signed_in.json()["token"].as_str().unwrap())
}

async fn sign_in(gateway: &Gateway, caller: &Caller, more: &[&str]) -> std::process::Output {
    let environment = [
        ("TOOLGATE_URL", gateway.url()),
        ("TOOLGATE_TOKEN", caller.token()),
    ];
    run(&[&["sign-in"], more].concat(), &environment, gateway.folder())
        .await
        .unwrap()
}
