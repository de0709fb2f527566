//! Gate J1-3. A Proxmox VE token that is not exactly an auditor's is refused, the refusal names what is too much or too
//! little, nothing is stored, and its secret is nowhere.

use serde_json::json;
use toolgate_test_support::{Lab, World, proxmox_settings};
use toolgate_upstream_sim::proxmox::Token;

const SECRET: &str = "0badc0de-dead-4000-8000-0000000ca11a";

#[tokio::test]
async fn a_token_that_may_more_or_less_than_an_auditor_is_not_accepted() {
    let (world, lab) = (World::new().start().await, Lab::start().await);
    let Some(proxmox) = lab.proxmox() else {
        return;
    };
    proxmox.role("VmReader", &["VM.Audit"]);
    let everywhere = |role: &str| Token::with(SECRET, role);
    let mut nothing = everywhere("PVEAuditor");
    nothing.acl.clear();
    let mut like_its_owner = everywhere("Administrator");
    like_its_owner.acl.clear();
    like_its_owner.privsep = false;
    let mut deeper = everywhere("PVEAuditor");
    for list in [&mut deeper.acl, &mut deeper.owner] {
        list.push(("/vms/100".into(), "Administrator".into()));
    }
    let cases = [
        ("less@pve!gate", everywhere("VmReader"), "Sys.Audit"),
        (
            "more@pve!gate",
            everywhere("Administrator"),
            "Datastore.Allocate on /",
        ),
        ("none@pve!gate", nothing, "nothing"),
        ("owner@pve!gate", like_its_owner, "Datastore.Allocate on /"),
        ("deep@pve!gate", deeper, "on /vms/100"),
    ];

    for (id, token, named) in cases {
        proxmox.token(id, token);
        let credential = json!({"tokenId": id, "tokenSecret": SECRET});
        let refusal = world
            .admin()
            .add_target("proxmox", "cluster", proxmox_settings(proxmox), credential)
            .await
            .unwrap_err();
        assert_eq!(
            (refusal.status, refusal.reason.as_str()),
            (422, "ROLE_VIOLATION"),
            "{id}"
        );
        assert_eq!(
            refusal.problem["type"], "urn:toolgate:error:role-violation",
            "{id}"
        );
        assert_eq!(
            refusal.problem["validation"]["verdict"], "failed",
            "{id}: {:?}",
            refusal.problem
        );
        assert!(
            refusal.problem.to_string().contains(named),
            "{id}: {:?}",
            refusal.problem
        );
        assert!(!refusal.problem.to_string().contains(SECRET), "{id}");
    }
    let unknown = json!({"tokenId": "nobody@pve!gate", "tokenSecret": SECRET});
    let refusal = world
        .admin()
        .add_target("proxmox", "cluster", proxmox_settings(proxmox), unknown)
        .await
        .unwrap_err();
    assert_eq!(refusal.status, 422, "{:?}", refusal.problem);

    let targets = world.admin().get("/api/mcp/adapter?type=proxmox").await.json();
    assert_eq!(targets["targets"], json!([]), "{targets}");
    assert_eq!(world.audit_of("adapter.configuration_refused").await.len(), 6);
    assert_eq!(world.audit_of("adapter.configured").await.len(), 0);
    assert_eq!(proxmox.seen().writes(), [""; 0]);
    let folder = world.stop().await;
    let store = rusqlite::Connection::open(folder.path().join("toolgate.db")).unwrap();
    let kept: i64 = store
        .query_row("select count(*) from secret", [], |row| row.get(0))
        .unwrap();
    assert_eq!(kept, 0);
}
