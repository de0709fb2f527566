use std::{fs, os::unix::fs::PermissionsExt};

use super::*;
use crate::changes::tests::ground::{Ground, detail};

#[tokio::test]
async fn an_empty_store_gets_one_tenant_with_an_admin() {
    let ground = Ground::new().await;
    let live = ground.live(ground.first.admin_token.reveal()).await.unwrap();
    assert_eq!(
        (&*live.name, live.role, live.expires_us),
        ("admin", Role::Admin, None)
    );

    let record = ground.record().await;
    let kinds: Vec<_> = record
        .iter()
        .map(|row| (row.kind.as_str(), row.facade.as_str()))
        .collect();
    let expected = [
        ("tenant.created", "system"),
        ("token.created", "system"),
        ("token.created", "system"),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(detail(&record[0])["name"], "default");
    assert_eq!(
        (
            detail(&record[1])["kind"].as_str(),
            detail(&record[2])["kind"].as_str()
        ),
        (None, Some("sign_in"))
    );

    assert!(
        first_run(&ground.changes, ground.dir.path())
            .await
            .unwrap()
            .is_none()
    );
    assert_eq!(ground.record().await.len(), 3);
}

#[tokio::test]
async fn the_admin_token_is_in_a_file_for_its_owner_alone() {
    let ground = Ground::new().await;
    let path = ground.dir.path().join("admin-token");
    assert_eq!(
        fs::read_to_string(&path).unwrap().trim_end(),
        ground.first.admin_token.reveal()
    );
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let drafts = fs::read_dir(ground.dir.path()).unwrap().filter(|entry| {
        entry
            .as_ref()
            .unwrap()
            .file_name()
            .to_string_lossy()
            .contains("admin-token.")
    });
    assert_eq!(drafts.count(), 0);
}

#[tokio::test]
async fn a_start_that_died_before_its_commit_is_begun_anew() {
    let ground = Ground::new().await;
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(".admin-token.new"), "half").unwrap();
    fs::write(dir.path().join("admin-token"), "opens nothing").unwrap();
    token_file::write(dir.path(), &ground.first.admin_token).unwrap();
    let text = fs::read_to_string(dir.path().join("admin-token")).unwrap();
    assert_eq!(text.trim_end(), ground.first.admin_token.reveal());
}

#[tokio::test]
async fn an_admin_token_that_stands_open_to_others_is_closed_at_the_next_start() {
    let ground = Ground::new().await;
    let path = ground.dir.path().join("admin-token");
    for open in [0o644, 0o660, 0o666, 0o604] {
        fs::set_permissions(&path, fs::Permissions::from_mode(open)).unwrap();
        let again = first_run(&ground.changes, ground.dir.path()).await.unwrap();
        assert!(again.is_none());
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600,
            "{open:o}"
        );
    }
    fs::remove_file(&path).unwrap();
    first_run(&ground.changes, ground.dir.path()).await.unwrap();
    assert!(
        !path.exists(),
        "a lost token is not made anew behind its owner's back"
    );
}
