//! What a start does with keys that are gone, and a running gateway with new ones.

use std::{ffi::OsString, fs};

use toolgate_contract::ids::TargetId;

use super::*;
use crate::{
    audit::Verdict,
    keys,
    proof::verify_directory,
    secrets::{Credential, SecretRef, SecretValue},
    store::params,
};

async fn start(dir: &Path, accept_lost_keys: bool) -> Result<Core, StartError> {
    let config = CoreConfig {
        accept_lost_keys,
        ..CoreConfig::new(dir)
    };
    Core::start(config, Clock::system()).await
}

async fn starts(dir: &Path, accept_lost_keys: bool) {
    start(dir, accept_lost_keys).await.unwrap().shutdown().await;
}

fn files(dir: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(dir.join("keys")).into_iter().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

fn remove(dir: &Path, prefix: &str) {
    for name in files(dir) {
        if name.to_string_lossy().starts_with(prefix) {
            fs::remove_file(dir.join("keys").join(name)).unwrap();
        }
    }
}

#[tokio::test]
async fn a_lost_key_keeps_the_gateway_from_starting_and_is_not_replaced() {
    for gone in ["root-", "gateway.ed25519", ""] {
        let dir = tempfile::tempdir().unwrap();
        starts(dir.path(), false).await;
        remove(dir.path(), gone);
        if gone.is_empty() {
            fs::remove_dir(dir.path().join("keys")).unwrap();
        }
        let left = files(dir.path());
        for _ in 0..2 {
            let told = start(dir.path(), false).await.unwrap_err().to_string();
            assert!(
                told.contains(gone) && told.contains("restore the folder from its backup"),
                "{told}"
            );
            assert!(told.contains("accept_lost_keys"), "{told}");
        }
        assert_eq!(files(dir.path()), left, "nothing was made");
    }
}

#[tokio::test]
async fn an_accepted_loss_is_asked_about_once_and_the_next_loss_anew() {
    let dir = tempfile::tempdir().unwrap();
    starts(dir.path(), false).await;
    remove(dir.path(), "");
    starts(dir.path(), true).await;
    // The first rows are those of the lost root for ever.
    let core = start(dir.path(), false).await.unwrap();
    // A row sealed with the new root, so that losing it is a loss.
    drop(core.built_in_host("here", false).await.unwrap());
    core.shutdown().await;
    let newest = files(dir.path());
    let newest = newest
        .iter()
        .filter_map(|name| name.to_str())
        .find(|name| name.ends_with(".key"));
    fs::remove_file(dir.path().join("keys").join(newest.unwrap())).unwrap();
    start(dir.path(), false).await.unwrap_err();
}

#[tokio::test]
async fn restored_keys_are_taken_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    starts(dir.path(), false).await;
    let (keys, backup) = (dir.path().join("keys"), dir.path().join("backup"));
    fs::rename(&keys, &backup).unwrap();
    start(dir.path(), false).await.unwrap_err();
    fs::rename(&backup, &keys).unwrap();
    starts(dir.path(), false).await;
}

#[tokio::test]
async fn the_last_row_is_under_a_checkpoint_when_the_gateway_has_ended() {
    let dir = tempfile::tempdir().unwrap();
    let core = start(dir.path(), false).await.unwrap();
    let tenant = core.first_run().unwrap().tenant_id.to_string();
    core.shutdown().await;
    let connection = rusqlite::Connection::open(dir.path().join("toolgate.db")).unwrap();
    let last: i64 = connection
        .query_row(
            "select seq from audit_head where tenant_id = ?1",
            [&tenant],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(newest(dir.path(), &tenant), last);
}

#[tokio::test]
async fn a_record_that_was_cut_while_no_gateway_ran_is_an_alarm_on_the_record_at_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let core = start(dir.path(), false).await.unwrap();
    let tenant = core.first_run().unwrap().tenant_id.to_string();
    core.shutdown().await;
    let connection = rusqlite::Connection::open(dir.path().join("toolgate.db")).unwrap();
    connection
        .execute_batch(
            "drop trigger if exists audit_event_no_delete;
             update audit_head set seq = 1, hash = (select hash from audit_event
                 where audit_event.tenant_id = audit_head.tenant_id and seq = 1)",
        )
        .unwrap();
    drop(connection);
    let signed = newest(dir.path(), &tenant);
    assert!(signed > 1);

    let core = start(dir.path(), false).await.unwrap();
    let store = core.broker.rooms().journal.clone();
    let alarm = time::timeout(Duration::from_secs(20), async {
        loop {
            let listed = alarms_of(dir.path());
            if let Some(alarm) = listed.into_iter().next() {
                return alarm;
            }
            store.check().await.unwrap();
        }
    });
    let alarm = alarm.await.unwrap();
    assert!(
        alarm.contains("RECORD_REGRESSED") && alarm.contains(&tenant),
        "{alarm}"
    );
    core.shutdown().await;
    assert_eq!(newest(dir.path(), &tenant), signed);
}

/// Place of the newest checkpoint of a tenant.
fn newest(dir: &Path, tenant: &str) -> i64 {
    let folder = crate::anchor::folder(dir);
    let keys = crate::anchor::public_keys(&folder).unwrap();
    let survey = crate::anchor::survey(&folder, &keys).unwrap();
    survey.newest[tenant].seq
}

fn alarms_of(dir: &Path) -> Vec<String> {
    let connection = rusqlite::Connection::open(dir.join("toolgate.db")).unwrap();
    let mut rows = connection
        .prepare(
            "select bytes from audit_event where tenant_id = 'system' and kind = 'audit.checkpoint_failed'",
        )
        .unwrap();
    let rows = rows.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
    rows.map(|bytes| String::from_utf8_lossy(&bytes.unwrap()).into_owned())
        .collect()
}

const TARGET: &str = "insert into target (tenant_id, id, type, name, config, validation, created_us, updated_us) \
     values ($1, $2, 'ssh', 'web', '{}', '{}', 0, 0)";

/// Gives a new target of the first tenant a credential, and says how it is referred to.
async fn secret(core: &Core) -> (toolgate_contract::ids::TenantId, SecretRef) {
    let rooms = core.broker.rooms();
    let tenant = core.first_run().unwrap().tenant_id.clone();
    let (secrets, owner, target) = (rooms.secrets.clone(), tenant.clone(), TargetId::mint());
    let store = rooms.snapshots.store().clone();
    let given: Result<String, crate::secrets::PutError> = store
        .with_tenant(&tenant, move |tx| {
            Box::pin(async move {
                tx.execute(TARGET, params![&owner, target]).await?;
                let value = SecretValue::new(b"a secret").ok_or(crate::secrets::PutError::CannotSeal)?;
                secrets.give(tx, &owner, target, Credential::Value(value)).await?;
                let sql = "select secret from target where tenant_id = $1 and id = $2";
                let row = tx.query_opt(sql, params![&owner, target]).await?;
                Ok(row
                    .map(|row| row.text(0).map(str::to_owned))
                    .transpose()?
                    .unwrap_or_default())
            })
        })
        .await;
    (tenant, SecretRef::read(&given.unwrap()).unwrap())
}

#[tokio::test]
async fn a_running_gateway_takes_up_a_new_root_and_wraps_every_secret_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let core = start(dir.path(), false).await.unwrap();
    let (tenant, reference) = secret(&core).await;
    let store = core.broker.rooms().snapshots.store().clone();
    let made = keys::rotate_root(dir.path()).unwrap();

    let wrapped = async {
        let mut again = time::interval(Duration::from_millis(20));
        while Local::roots_in_use(&store).await.unwrap() != [made.clone()] {
            again.tick().await;
        }
    };
    time::timeout(Duration::from_secs(20), wrapped).await.unwrap();
    assert_eq!(*core.broker.rooms().keys.newest_id(), *made);
    let lease = core
        .broker
        .rooms()
        .secrets
        .lend(&tenant, &reference)
        .await
        .unwrap();
    assert_eq!(lease.value().reveal(), b"a secret");
    // The next row is sealed with it, and the chain over both roots is intact.
    drop(core.built_in_host("here", false).await.unwrap());
    assert!(store.sealed_with().await.unwrap().contains(&made));
    core.shutdown().await;
    let reports = verify_directory(dir.path(), None).await.unwrap();
    assert!(
        reports
            .iter()
            .all(|report| report.verification.verdict == Verdict::Intact)
    );
}

#[tokio::test]
async fn a_root_that_only_secrets_need_is_missed_as_well() {
    let dir = tempfile::tempdir().unwrap();
    let core = start(dir.path(), false).await.unwrap();
    keys::rotate_root(dir.path()).unwrap();
    core.broker.rooms().keys.take_up_newer().unwrap();
    secret(&core).await;
    let newest = core.broker.rooms().keys.newest_id();
    core.shutdown().await;
    fs::remove_file(dir.path().join(format!("keys/root-{newest}.key"))).unwrap();
    let told = start(dir.path(), false).await.unwrap_err().to_string();
    assert!(told.contains(&*newest), "{told}");
}
