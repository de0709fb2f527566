//! The local provider over a real store, and someone who can write the database and has no key.

use std::{os::unix::fs::PermissionsExt, time::Duration};

use toolgate_contract::ids::TargetId;

use super::{super::*, ground::Ground};
use crate::{
    keys::{self, KeyError},
    store::{StoreError, params},
};

/// Each behaviour on both back ends.
macro_rules! on_both {
    ($($behaviour:ident)+) => {
        mod embedded {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $behaviour() {
                super::$behaviour(super::Ground::new().await).await;
            })+
        }

        mod postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $behaviour() {
                let test = concat!("secrets_on_postgres_", stringify!($behaviour));
                if let Some(ground) = super::Ground::on_postgres(test).await {
                    super::$behaviour(ground).await;
                }
            })+
        }
    };
}

on_both! {
    a_credential_is_lent_as_it_was_given_and_the_database_does_not_hold_it
    a_new_credential_is_the_next_version_and_the_old_one_is_gone
    a_change_that_fails_leaves_credential_and_reference_as_they_were
    a_secret_goes_with_its_target_and_when_it_is_taken_away_or_kept_elsewhere
    only_targets_that_are_there_get_a_credential_and_references_are_not_forged
    a_row_under_another_tenant_id_version_or_root_does_not_open
    sealed_bytes_of_two_secrets_of_one_tenant_cannot_be_swapped
    an_older_row_that_was_put_back_is_refused
    a_key_file_that_stands_open_refuses_the_start
    a_lost_root_is_told_apart_from_a_damaged_secret
    a_root_is_rotated_under_readers_and_writers_without_one_error
    a_secret_that_does_not_open_is_left_alone_by_a_rotation_and_counted
    what_was_lent_is_wiped_by_the_sweep_and_fetched_anew
}

async fn a_credential_is_lent_as_it_was_given_and_the_database_does_not_hold_it(ground: Ground) {
    const CANARY: &str = "c4n4ry-51d0c0ffee7b44aa9e02";
    let reference = ground.give(CANARY).await;
    let lease = ground.secrets.lend(&ground.tenant, &reference).await.unwrap();
    assert_eq!(lease.value().reveal(), CANARY.as_bytes());

    let holds = |bytes: &[u8]| {
        bytes
            .windows(CANARY.len())
            .any(|window| window == CANARY.as_bytes())
    };
    let rows = ground
        .rows(
            &ground.tenant,
            "select wrapped, sealed from secret where tenant_id = $1",
        )
        .await;
    assert!(!holds(rows[0].blob(0).unwrap()) && !holds(rows[0].blob(1).unwrap()));
    ground.store.check().await.unwrap();
    for entry in std::fs::read_dir(ground.dir.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            assert!(!holds(&bytes), "{}", path.display());
        }
    }
}

async fn a_new_credential_is_the_next_version_and_the_old_one_is_gone(ground: Ground) {
    let first = ground.give("one").await;
    let second = ground.give("two").await;
    assert_eq!(first.in_store().unwrap().0, second.in_store().unwrap().0);
    assert_eq!(
        (first.in_store().unwrap().1, second.in_store().unwrap().1),
        (1, 2)
    );
    let rows = ground
        .rows(&ground.tenant, "select version from secret where tenant_id = $1")
        .await;
    assert_eq!(rows.len(), 1);
    assert_eq!(ground.fetch(&ground.tenant, &second).await, Ok("two".into()));
    // A call that still has the reference of before gets what is there now.
    assert_eq!(ground.fetch(&ground.tenant, &first).await, Ok("two".into()));
}

async fn a_change_that_fails_leaves_credential_and_reference_as_they_were(ground: Ground) {
    let before = ground.give("one").await;
    let (secrets, owner, target) = (ground.secrets.clone(), ground.tenant.clone(), ground.target);
    let value = SecretValue::new(b"two").unwrap();
    let failed: Result<(), PutError> = ground
        .store
        .with_tenant(&ground.tenant, move |tx| {
            Box::pin(async move {
                secrets.give(tx, &owner, target, Credential::Value(value)).await?;
                Err(PutError::Store(StoreError::Closed))
            })
        })
        .await;
    assert!(failed.is_err());
    assert_eq!(
        ground.reference(&ground.tenant, ground.target).await,
        Some(before.clone())
    );
    assert_eq!(ground.fetch(&ground.tenant, &before).await, Ok("one".into()));
}

async fn a_secret_goes_with_its_target_and_when_it_is_taken_away_or_kept_elsewhere(ground: Ground) {
    const LEFT: &str = "select id from secret where tenant_id = $1";
    let removed = ground.give("one").await;
    ground
        .tamper(&ground.tenant, "delete from target where tenant_id = $1")
        .await;
    assert!(ground.rows(&ground.tenant, LEFT).await.is_empty());
    assert_eq!(ground.fetch(&ground.tenant, &removed).await, Err(Fault::NotFound));

    let target = ground.target(&ground.tenant).await;
    ground.give_to(&ground.tenant, target, "two").await;
    let elsewhere = SecretRef::vault("proxmox", None).unwrap();
    let given = Credential::Elsewhere(elsewhere.clone());
    ground.credential(&ground.tenant, target, given).await.unwrap();
    assert_eq!(
        ground.reference(&ground.tenant, target).await,
        Some(elsewhere.clone())
    );
    assert!(ground.rows(&ground.tenant, LEFT).await.is_empty());
    let error = ground.secrets.lend(&ground.tenant, &elsewhere).await.unwrap_err();
    assert_eq!(error.fault, Fault::NotConfigured);

    ground.give_to(&ground.tenant, target, "three").await;
    let (secrets, owner) = (ground.secrets.clone(), ground.tenant.clone());
    let taken: Result<(), StoreError> = ground
        .store
        .with_tenant(&ground.tenant, move |tx| {
            Box::pin(async move { secrets.take_away(tx, &owner, target).await })
        })
        .await;
    taken.unwrap();
    assert_eq!(ground.reference(&ground.tenant, target).await, None);
    assert!(ground.rows(&ground.tenant, LEFT).await.is_empty());
}

async fn only_targets_that_are_there_get_a_credential_and_references_are_not_forged(ground: Ground) {
    let value = || Credential::Value(SecretValue::new(b"one").unwrap());
    let nobody = ground.credential(&ground.tenant, TargetId::mint(), value()).await;
    assert!(matches!(nobody, Err(PutError::NoTarget)), "{nobody:?}");
    let (other, _) = ground.tenant_with_target().await;
    let foreign = ground.credential(&other, ground.target, value()).await;
    assert!(matches!(foreign, Err(PutError::NoTarget)), "{foreign:?}");
    let mine = ground.give("one").await;
    let forged = ground
        .credential(&ground.tenant, ground.target, Credential::Elsewhere(mine))
        .await;
    assert!(matches!(forged, Err(PutError::NotElsewhere)), "{forged:?}");
}

async fn a_row_under_another_tenant_id_version_or_root_does_not_open(ground: Ground) {
    let reference = ground.give("one").await;
    let (other, target) = ground.tenant_with_target().await;
    let theirs = ground.give_to(&other, target, "theirs").await;

    // The other tenant's whole row gets this tenant's sealed bytes.
    let mine = ground
        .rows(
            &ground.tenant,
            "select wrapped, sealed from secret where tenant_id = $1",
        )
        .await;
    let (wrapped, sealed) = (
        mine[0].blob(0).unwrap().to_vec(),
        mine[0].blob(1).unwrap().to_vec(),
    );
    let owner = other.clone();
    let swapped: Result<u64, StoreError> = ground
        .store
        .with_tenant(&other, move |tx| {
            Box::pin(async move {
                let sql = "update secret set wrapped = $2, sealed = $3 where tenant_id = $1";
                tx.execute(sql, params![&owner, &wrapped, &sealed]).await
            })
        })
        .await;
    assert_eq!(swapped.unwrap(), 1);
    assert_eq!(ground.fetch(&other, &theirs).await, Err(Fault::Damaged));
    // And the reference of one tenant means nothing to another.
    assert_eq!(ground.fetch(&other, &reference).await, Err(Fault::NotFound));

    let second = ground.target(&ground.tenant).await;
    let neighbour = ground.give_to(&ground.tenant, second, "two").await;
    for (sql, expected) in [
        (
            "update secret set version = version + 1 where tenant_id = $1",
            Fault::Damaged,
        ),
        (
            "update secret set version = version - 1 + 1, format = 2 where tenant_id = $1",
            Fault::Unfit,
        ),
        (
            "update secret set format = 1, kek_id = '01ARZ3NDEKTSV4RRFFQ69G5FAV' where tenant_id = $1",
            Fault::KeyMissing,
        ),
    ] {
        ground.tamper(&ground.tenant, sql).await;
        assert_eq!(
            ground.fetch(&ground.tenant, &reference).await,
            Err(expected),
            "{sql}"
        );
        assert_eq!(
            ground.fetch(&ground.tenant, &neighbour).await,
            Err(expected),
            "{sql}"
        );
    }
}

async fn sealed_bytes_of_two_secrets_of_one_tenant_cannot_be_swapped(ground: Ground) {
    let one = ground.give("one").await;
    let target = ground.target(&ground.tenant).await;
    let two = ground.give_to(&ground.tenant, target, "two").await;
    let rows = ground
        .rows(
            &ground.tenant,
            "select id, wrapped, sealed from secret where tenant_id = $1",
        )
        .await;
    let owner = ground.tenant.clone();
    let swapped: Result<(), StoreError> = ground
        .store
        .with_tenant(&ground.tenant, move |tx| {
            Box::pin(async move {
                let sql = "update secret set wrapped = $3, sealed = $4 where tenant_id = $1 and id = $2";
                for (to, from) in [(0, 1), (1, 0)] {
                    let from = &rows[from];
                    let values = params![&owner, rows[to].text(0)?, from.blob(1)?, from.blob(2)?];
                    tx.execute(sql, values).await?;
                }
                Ok(())
            })
        })
        .await;
    swapped.unwrap();
    for reference in [one, two] {
        assert_eq!(
            ground.fetch(&ground.tenant, &reference).await,
            Err(Fault::Damaged)
        );
    }
}

async fn an_older_row_that_was_put_back_is_refused(ground: Ground) {
    ground.give("old").await;
    let kept = ground
        .rows(
            &ground.tenant,
            "select id, target_id, format, version, kek_id, wrapped, sealed from secret where tenant_id = $1",
        )
        .await;
    let current = ground.give("new").await;

    let (owner, old) = (ground.tenant.clone(), kept.into_iter().next().unwrap());
    let restored: Result<u64, StoreError> = ground
        .store
        .with_tenant(&ground.tenant, move |tx| {
            Box::pin(async move {
                tx.execute("delete from secret where tenant_id = $1", params![&owner]).await?;
                let sql = "insert into secret (tenant_id, id, target_id, format, version, kek_id, wrapped, sealed, created_us, updated_us) \
                     values ($1, $2, $3, $4, $5, $6, $7, $8, 0, 0)";
                let values = params![
                    &owner, old.text(0)?, old.text(1)?, old.int(2)?, old.int(3)?, old.text(4)?, old.blob(5)?, old.blob(6)?
                ];
                tx.execute(sql, values).await
            })
        })
        .await;
    assert_eq!(restored.unwrap(), 1);
    assert_eq!(
        ground.fetch(&ground.tenant, &current).await,
        Err(Fault::RolledBack)
    );
    ground
        .tamper(
            &ground.tenant,
            "update secret set version = 2 where tenant_id = $1",
        )
        .await;
    assert_eq!(ground.fetch(&ground.tenant, &current).await, Err(Fault::Damaged));

    // The way out is a new credential, and its version is above both.
    let next = ground.give("newer").await;
    assert_eq!(next.in_store().unwrap().1, 3);
    assert_eq!(ground.fetch(&ground.tenant, &next).await, Ok("newer".into()));
}

async fn a_key_file_that_stands_open_refuses_the_start(ground: Ground) {
    ground.give("one").await;
    let id = ground.keys.newest_id();
    let path = ground.dir.path().join(format!("keys/root-{id}.key"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let refused = Keyring::open(ground.dir.path()).unwrap_err();
    assert!(matches!(refused, KeyError::Mode { .. }), "{refused}");
}

async fn a_lost_root_is_told_apart_from_a_damaged_secret(ground: Ground) {
    let reference = ground.give("one").await;
    let id = ground.keys.newest_id();
    std::fs::remove_file(ground.dir.path().join(format!("keys/root-{id}.key"))).unwrap();
    let others = Arc::new(Keyring::open(ground.dir.path()).unwrap());
    let local = Local::new(ground.store.clone(), others);
    let fault = local.fetch(&ground.tenant, &reference).await.unwrap_err();
    assert_eq!(fault, Fault::KeyMissing);
}

async fn a_root_is_rotated_under_readers_and_writers_without_one_error(ground: Ground) {
    let ground = Arc::new(ground);
    let mut places = Vec::new();
    for _ in 0..4 {
        let (tenant, _) = ground.tenant_with_target().await;
        for n in 0..40 {
            let target = ground.target(&tenant).await;
            let reference = ground.give_to(&tenant, target, &format!("secret {n}")).await;
            places.push((tenant.clone(), target, reference, format!("secret {n}")));
        }
    }
    let places = Arc::new(places);
    let old = ground.keys.newest_id();
    let stop = tokio_util::sync::CancellationToken::new();
    let readers: Vec<_> = (0..4)
        .map(|reader| {
            let (ground, places, stop) = (Arc::clone(&ground), Arc::clone(&places), stop.clone());
            tokio::spawn(async move {
                let mut reads = 0;
                for n in reader.. {
                    if stop.is_cancelled() && reads > 100 {
                        return reads;
                    }
                    let (tenant, _, reference, text) = &places[n % places.len()];
                    assert_eq!(ground.fetch(tenant, reference).await.as_ref(), Ok(text));
                    reads += 1;
                }
                reads
            })
        })
        .collect();
    for round in 0..3 {
        keys::rotate_root(ground.dir.path()).unwrap();
        assert!(ground.keys.take_up_newer().unwrap());
        assert!(!ground.keys.take_up_newer().unwrap());
        let (tenant, target, ..) = &places[round];
        let value = SecretValue::new(places[round].3.as_bytes()).unwrap();
        let (given, rewrapped) = tokio::join!(
            ground.credential(tenant, *target, Credential::Value(value)),
            ground.local.rewrap_all(2_000_000)
        );
        given.unwrap();
        let rewrapped = rewrapped.unwrap();
        assert_eq!(rewrapped.stuck, 0);
        assert!((159..=160).contains(&rewrapped.done), "{rewrapped:?}");
    }
    stop.cancel();
    for reader in readers {
        assert!(reader.await.unwrap() > 100);
    }
    let newest = ground.keys.newest_id().to_string();
    assert_eq!(Local::roots_in_use(&ground.store).await.unwrap(), [newest]);
    assert_eq!(
        ground.local.rewrap_all(0).await.unwrap(),
        local::Rewrapped::default()
    );

    // Nothing is wrapped with it any more: it can go, and everything still opens.
    keys::retire_root(ground.dir.path(), &old).unwrap();
    let later = Arc::new(Keyring::open(ground.dir.path()).unwrap());
    let local = Local::new(ground.store.clone(), later);
    for (tenant, _, reference, text) in places.iter() {
        let value = local.fetch(tenant, reference).await.unwrap();
        assert_eq!(value.reveal(), text.as_bytes());
    }
}

async fn a_secret_that_does_not_open_is_left_alone_by_a_rotation_and_counted(ground: Ground) {
    let damaged = ground.give("one").await;
    ground
        .tamper(
            &ground.tenant,
            "update secret set version = 7 where tenant_id = $1",
        )
        .await;
    for _ in 0..40 {
        let target = ground.target(&ground.tenant).await;
        ground.give_to(&ground.tenant, target, "sound").await;
    }
    keys::rotate_root(ground.dir.path()).unwrap();
    ground.keys.take_up_newer().unwrap();
    let rewrapped = ground.local.rewrap_all(0).await.unwrap();
    assert_eq!((rewrapped.done, rewrapped.stuck), (40, 1));
    assert_eq!(ground.fetch(&ground.tenant, &damaged).await, Err(Fault::Damaged));
}

async fn what_was_lent_is_wiped_by_the_sweep_and_fetched_anew(ground: Ground) {
    let reference = ground.give("one").await;
    let lease = ground.secrets.lend(&ground.tenant, &reference).await.unwrap();
    let cached = Arc::downgrade(&lease.held.value);
    drop(lease);
    // The fetch hands over what it has and ends a moment after its answer.
    while cached.strong_count() > 1 {
        tokio::task::yield_now().await;
    }
    ground.secrets.sweep();
    assert!(cached.upgrade().is_some());
    ground.clock.advance(Duration::from_secs(60));
    ground.secrets.sweep();
    assert!(cached.upgrade().is_none());
    assert!(ground.secrets.lend(&ground.tenant, &reference).await.is_ok());
}
