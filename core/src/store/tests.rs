//! The contract suite on the embedded store, and what only that one has.

use futures::FutureExt;

use super::*;

async fn embedded() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(StoreConfig::sqlite(dir.path().join("toolgate.db")))
        .await
        .unwrap();
    (dir, store)
}

async fn contracted(_: &str) -> Option<(tempfile::TempDir, Store)> {
    Some(embedded().await)
}

suite::contract!(contracted);

#[tokio::test]
async fn the_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (dir, _store) = embedded().await;
    for file in std::fs::read_dir(dir.path()).unwrap() {
        let file = file.unwrap();
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", file.path().display());
    }
}

#[tokio::test]
async fn a_database_of_a_newer_version_or_with_another_history_is_refused() {
    for (sql, expected) in [
        (
            "insert into schema_migration values (99, 'future', '', 0)",
            StoreError::Newer {
                found: 99,
                known: i64::try_from(migrations::SQLITE.len()).unwrap(),
            },
        ),
        (
            "update schema_migration set checksum = 'other'",
            StoreError::Altered(1),
        ),
    ] {
        let (dir, store) = embedded().await;
        drop(store);
        let path = dir.path().join("toolgate.db");
        rusqlite::Connection::open(&path)
            .unwrap()
            .execute_batch(sql)
            .unwrap();
        assert_eq!(
            Store::open(StoreConfig::sqlite(&path)).await.err(),
            Some(expected)
        );
    }
}

#[tokio::test]
async fn a_store_of_before_projects_is_brought_up_to_date_with_what_it_holds() {
    let (dir, store) = embedded().await;
    let tenant = suite::tenant(&store).await;
    drop(store);
    let path = dir.path().join("toolgate.db");
    let back = "drop table project_tools; drop table project_default; \
        alter table token drop column method; alter table token drop column last_used_us; \
        delete from schema_migration where version >= 4";
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch(back)
        .unwrap();
    let store = Store::open(StoreConfig::sqlite(&path)).await.unwrap();
    assert!(store.tenant(&tenant).await.unwrap().is_some());
    let owner = tenant.clone();
    let lists: Result<_, StoreError> = store
        .with_tenant_read(&tenant, move |tx| {
            Box::pin(async move {
                tx.query(
                    "select hash from project_tools where tenant_id = $1",
                    params![&owner],
                )
                .await
            })
        })
        .await;
    assert!(lists.unwrap().is_empty());
}

#[tokio::test]
async fn a_closed_store_is_one_file() {
    for _ in 0..20 {
        let (dir, store) = embedded().await;
        store.tenants().await.unwrap();
        drop(store);
        let mut files: Vec<_> = std::fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        files.retain(|name| name.to_string_lossy().starts_with("toolgate.db"));
        assert_eq!(files, ["toolgate.db"]);
    }
}

#[tokio::test]
async fn a_damaged_database_is_named_with_what_to_do() {
    let (dir, store) = embedded().await;
    drop(store);
    let path = dir.path().join("toolgate.db");
    let sound = std::fs::read(&path).unwrap();
    let mut torn = sound.clone();
    torn[100..4_096].fill(0xff);
    for content in [b"no database, whatever its name says".repeat(100), torn] {
        std::fs::write(&path, content).unwrap();
        for config in [
            StoreConfig::sqlite(&path),
            StoreConfig::sqlite_read_only(path.clone()),
        ] {
            let read_only = config.read_only;
            match Store::open(config).await {
                Err(error) => {
                    let told = error.to_string();
                    assert!(told.contains(&path.display().to_string()), "{told}");
                    assert!(told.contains("restore it from a backup"), "{told}");
                }
                // A reader finds a torn page when it reads it.
                Ok(_) => assert!(read_only),
            }
        }
    }
}

#[tokio::test]
async fn a_path_that_cannot_be_opened_is_named() {
    let error = Store::open(StoreConfig::sqlite("/proc/nowhere/toolgate.db"))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("/proc/nowhere/toolgate.db"), "{error}");
}

#[tokio::test]
async fn a_store_opened_for_reading_only_reads_and_makes_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("toolgate.db");
    assert!(Store::open(StoreConfig::sqlite_read_only(&path)).await.is_err());
    assert!(!path.exists());
    drop(Store::open(StoreConfig::sqlite(&path)).await.unwrap());

    let store = Store::open(StoreConfig::sqlite_read_only(&path)).await.unwrap();

    assert_eq!(store.tenants().await.unwrap().len(), 1);
    let written: Result<(), StoreError> = store
        .with_tenant(&TenantId::mint(), |tx| {
            Box::pin(async move { tx.create_tenant("acme", 0).await })
        })
        .await;
    assert_eq!(written, Err(StoreError::Closed));
}

#[tokio::test]
async fn replacing_a_row_of_the_record_is_refused_as_well() {
    let (_dir, store) = embedded().await;
    let tenant = suite::tenant_with_a_row(&store).await;
    let owner = tenant.clone();
    let replaced: Result<_, StoreError> = store
        .with_tenant(&tenant, move |tx| {
            Box::pin(async move {
                const REPLACE: &str = "insert into audit_event (tenant_id, seq, event_id, prev, bytes, hash, mac, \
                    algorithm, key_id, time_us, kind, principal, capability, result) \
                    values ($1, 1, 'e', x'', x'01', x'', x'', 1, '', 0, '', '', '', '') \
                    on conflict (tenant_id, seq) do update set bytes = excluded.bytes";
                tx.execute(REPLACE, params![&owner]).await
            })
        })
        .await;
    assert!(matches!(replaced, Err(StoreError::Guard(_))), "{replaced:?}");
}

#[tokio::test]
async fn a_full_queue_is_overload_and_work_nobody_waits_for_is_not_begun() {
    const ADD: &str = "insert into policy (tenant_id, tool) values ($1, 'a')";
    const COUNT: &str = "select count(*) from policy where tenant_id = $1";
    let dir = tempfile::tempdir().unwrap();
    let config = StoreConfig {
        queue: 1,
        ..StoreConfig::sqlite(dir.path().join("toolgate.db"))
    };
    let store = Store::open(config).await.unwrap();
    let tenant = suite::tenant(&store).await;
    let (started, has_started) = tokio::sync::oneshot::channel();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let mut holding = Box::pin(store.with_tenant(&tenant, move |_| {
        Box::pin(async move {
            started.send(()).unwrap();
            released.recv().unwrap();
            Ok::<_, StoreError>(())
        })
    }));
    assert!((&mut holding).now_or_never().is_none());
    has_started.await.unwrap();

    let add = |owner: TenantId| {
        store.with_tenant(&tenant, move |tx| {
            Box::pin(async move { tx.execute(ADD, params![&owner]).await })
        })
    };
    let mut queued = Box::pin(add(tenant.clone()));
    assert!((&mut queued).now_or_never().is_none());
    assert_eq!(add(tenant.clone()).await, Err(StoreError::Overloaded));
    drop(queued);
    release.send(()).unwrap();
    holding.await.unwrap();

    // Behind what nobody waits for: there is a place once the writer has passed it over.
    let count = async {
        loop {
            let owner = tenant.clone();
            let count: Result<_, StoreError> = store
                .with_tenant(&tenant, move |tx| {
                    Box::pin(async move { tx.query(COUNT, params![&owner]).await?[0].int(0) })
                })
                .await;
            if count != Err(StoreError::Overloaded) {
                return count;
            }
            tokio::task::yield_now().await;
        }
    };
    let count = tokio::time::timeout(std::time::Duration::from_secs(10), count).await;
    assert_eq!(count, Ok(Ok(0)));
}
