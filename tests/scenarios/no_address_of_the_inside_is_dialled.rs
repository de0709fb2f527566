//! `security.md` §3, SSRF. Whatever spelling of an inside address a target is given, by name, number or redirect, nobody
//! who listens there hears anything; the admin is told which address it was and how a private one is allowed.

use std::net::SocketAddr;

use serde_json::json;
use toolgate_test_support::{Lab, World};
use toolgate_upstream_sim::{Reply, Server, github::Token};

#[tokio::test]
async fn no_address_of_the_inside_is_dialled() {
    let (world, trap) = (World::new().start().await, trap().await);
    let port = trap.address().port();

    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0.0.0.0",
        "[::]",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "localhost",
        "localhost.",
        "①②⑦.0.0.1",
        "169.254.169.254",
        "[fd00:ec2::254]",
        "100.100.100.200",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "100.64.0.1",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "[fe80::1]",
        "user@127.0.0.1",
    ] {
        for scheme in ["https", "http"] {
            let settings = json!({"baseUrl": format!("{scheme}://{host}:{port}")});
            let credential = json!({"token": "0123456789abcdef0123456789abcdef01234567"});
            let refusal = world
                .admin()
                .add_target("gitea", "inside", settings, credential)
                .await
                .unwrap_err();
            // Refused for what the address is: as text, or when it was about to be dialled.
            let as_text =
                refusal.status == 400 && refusal.problem["violations"][0]["pointer"] == "/config/baseUrl";
            let as_address = refusal.status == 502
                && refusal.reason == "UPSTREAM_UNREACHABLE"
                && refusal.problem["validation"]["stages"][0]["name"] == "reach";
            assert!(as_text || as_address, "{scheme} {host}: {:?}", refusal.problem);
        }
    }

    assert_eq!(trap.seen().count(), 0);
    let refusal = world
        .admin()
        .add_target(
            "gitea",
            "private",
            json!({"baseUrl": "https://10.1.2.3"}),
            json!({"token": "0123456789abcdef0123456789abcdef01234567"}),
        )
        .await
        .unwrap_err();
    assert!(
        refusal.problem.to_string().contains("10.1.2.3/32"),
        "{:?}",
        refusal.problem
    );
}

#[tokio::test]
async fn a_redirect_to_another_place_is_not_followed() {
    let (world, lab, trap) = (World::new().start().await, Lab::start().await, trap().await);
    lab.github
        .token("github_pat_11REDIRECTED_elsewhere", Token::least());
    let to = trap.url();
    let leading = Server::plain(SocketAddr::from(([127, 0, 0, 1], 0)), move |_| {
        std::future::ready(Reply::json(302, &json!({})).with("location", &format!("{to}/user")))
    })
    .await
    .unwrap();

    let settings = json!({"baseUrl": leading.url(), "allowHttp": true, "allowLoopback": true});
    let refusal = world
        .admin()
        .add_target(
            "github",
            "led",
            settings,
            json!({"token": "github_pat_11REDIRECTED_elsewhere"}),
        )
        .await
        .unwrap_err();

    assert!(refusal.status >= 400, "{:?}", refusal.problem);
    assert!(leading.seen().count() > 0);
    assert_eq!(trap.seen().count(), 0);
}

async fn trap() -> Server {
    Server::plain(SocketAddr::from(([127, 0, 0, 1], 0)), |_| {
        std::future::ready(Reply::json(200, &json!({})))
    })
    .await
    .unwrap()
}
