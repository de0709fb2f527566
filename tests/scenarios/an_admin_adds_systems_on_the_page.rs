//! Journey 1 of the gate, in a real browser at the real binary: what is missing and what may too much is refused at its field and
//! nothing of it stored, what fits is saved, tested, switched and removed, and a host comes in by its line.

use serde_json::{Value, json};
use toolgate_test_support::{Browser, Gateway, Lab, binary};
use toolgate_upstream_sim::{github, proxmox};

const WIDE_PAT: &str = "github_pat_ZZWIDE_mayReadContentsToo";
const WIDE_ID: &str = "wide@pve!toolgate";
const WIDE_SECRET: &str = "77777777-aaaa-4000-8000-00000000aaaa";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_admin_adds_systems_on_the_page() {
    let Some(browser) = Browser::here("an_admin_adds_systems_on_the_page") else {
        return;
    };
    let (gateway, lab) = (Gateway::start(&[]).await.unwrap(), Lab::start().await);
    lab.github.token(
        WIDE_PAT,
        github::Token::with(&["metadata", "actions", "contents"]),
    );
    let mut refused = vec![json!({
        "type": "github", "reason": "SCOPE_VIOLATION", "marked": "credential-token",
        "fields": {"config-baseUrl": lab.github.url(), "credential-token": WIDE_PAT},
    })];
    if let Some(cluster) = lab.proxmox() {
        cluster.token(WIDE_ID, proxmox::Token::with(WIDE_SECRET, "PVEAdmin"));
        refused.push(json!({
            "type": "proxmox", "reason": "ROLE_VIOLATION", "marked": "credential-tokenId",
            "fields": {
                "config-host": "127.0.0.1", "config-port": cluster.address().port().to_string(),
                "config-fingerprints": cluster.fingerprint(), "credential-tokenId": WIDE_ID,
                "credential-tokenSecret": WIDE_SECRET,
            },
        }));
    }
    let steps = 7 + refused.len();
    let told = json!({"refused": refused, "good": good(&lab), "binary": binary()});

    let walked = browser
        .walk("adding.mjs", gateway.url(), &gateway.token(), told)
        .await;

    let walked = walked.unwrap_or_else(|complaint| panic!("{complaint}\n{}", gateway.log()));
    assert_eq!(walked.steps.len(), steps, "{walked:?}");
    for (adapter, seen) in lab.seen() {
        assert_eq!(seen.writes(), [""; 0], "{adapter}");
    }
}

fn good(lab: &Lab) -> Value {
    let (_, settings, credential) = lab
        .targets()
        .into_iter()
        .find(|(adapter, ..)| *adapter == "gitea")
        .expect("a Gitea");
    json!({"type": "gitea", "fields": {"config-baseUrl": settings["baseUrl"], "credential-token": credential["token"]}})
}
