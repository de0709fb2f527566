//! After the first start an admin gets a new sign-in link from the command line; nobody else does.

use serde_json::{Value, json};
use toolgate_test_support::{Caller, Gateway, Role, run};

#[tokio::test]
async fn an_admin_gets_a_new_sign_in_link() {
    let gateway = Gateway::start(&["--relay-built-in=false"]).await.unwrap();
    let admin = gateway.admin();
    let printed = sign_in(&gateway, &admin).await;
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

    let (_, engineer) = admin.make_token("ed", Role::Engineer).await.unwrap();
    let refused = sign_in(&gateway, &engineer).await;
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    assert!(refused.stdout.is_empty());
}

async fn sign_in(gateway: &Gateway, caller: &Caller) -> std::process::Output {
    let environment = [
        ("TOOLGATE_URL", gateway.url()),
        ("TOOLGATE_TOKEN", caller.token()),
    ];
    run(&["sign-in"], &environment, gateway.folder()).await.unwrap()
}
