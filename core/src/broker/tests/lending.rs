//! Calls whose target has a credential.

use std::sync::atomic::Ordering;

use tokio::time::{Instant, timeout};

use super::*;
use crate::{
    secrets::{Credential, Fault, PutError, SecretRef, SecretValue},
    store::StoreError,
};

const INTENTS: &str = "select count(*) from intent where tenant_id = $1";

impl World {
    async fn only_target(&self) -> TargetId {
        let snapshot = self
            .broker
            .rooms()
            .snapshots
            .get(&self.tenant)
            .await
            .unwrap()
            .unwrap();
        snapshot.targets_of("ssh").next().unwrap().id
    }

    /// Gives the one target a credential.
    async fn credential(&self, credential: Credential) {
        let target = self.only_target().await;
        let (secrets, owner) = (self.broker.rooms().secrets.clone(), self.tenant.clone());
        let given: Result<_, PutError> = self
            .store
            .with_tenant(&self.tenant, move |tx| {
                Box::pin(async move { secrets.give(tx, &owner, target, credential).await })
            })
            .await;
        given.unwrap();
        self.refresh().await;
    }

    async fn value(&self, text: &[u8]) {
        self.credential(Credential::Value(SecretValue::new(text).unwrap()))
            .await;
    }
}

#[tokio::test]
async fn a_target_gets_its_credential_with_the_call() {
    let world = World::new(Limits::default()).await;
    world.value(b"right").await;
    world.does(Does::Want(b"right"));
    world.call(&world.admin, SSH, UPTIME).await.unwrap();
    assert_eq!(world.rows().await, row("adapter.capability_invoked", "success"));
}

#[tokio::test]
async fn without_its_credential_a_target_is_left_alone_and_the_call_is_on_the_record() {
    let world = World::new(Limits::default()).await;
    world.value(b"right").await;
    let sql = "update secret set version = version + 1 where tenant_id = $1";
    execute(&world.store, &world.tenant, sql, vec![text(&world.tenant)]).await;

    let failed = world
        .broker
        .call(&ask(Some(&world.admin)), wish(SSH, UPTIME))
        .await
        .unwrap_err();

    assert_eq!(failed.error.reason(), ErrorReason::SecretUnavailable);
    assert!(matches!(&failed.error, Error::SecretUnavailable(error) if error.fault == Fault::Damaged));
    let told = format!("{:?}", failed.into_failure());
    assert!(
        !told.contains("changed or moved"),
        "the operator's text is not the caller's: {told}"
    );
    assert_eq!(world.contacts(), 0);
    assert_eq!(world.rows().await, row("adapter.capability_invoked", "failure"));
    assert_eq!(world.count(INTENTS).await, 0);
    let sql =
        "select count(*) from audit_event where tenant_id = $1 and instr(bytes, 'SECRET_UNAVAILABLE') > 0";
    assert_eq!(world.count(sql).await, 1);
}

#[tokio::test]
async fn an_invocation_without_its_credential_fails_before_it_has_a_correlation_id() {
    let world = World::new(Limits::default()).await;
    world
        .credential(Credential::Elsewhere(SecretRef::vault("a", None).unwrap()))
        .await;
    let failed = world
        .broker
        .invoke(&ask(Some(&world.admin)), wish(SSH, UPTIME))
        .await
        .unwrap_err();
    assert_eq!(failed.error.reason(), ErrorReason::SecretUnavailable);
    assert_eq!(world.contacts(), 0);
    assert_eq!(world.rows().await, row("adapter.capability_invoked", "failure"));
}

#[tokio::test]
async fn a_test_without_its_credential_is_a_failed_test() {
    let world = World::new(Limits::default()).await;
    world
        .credential(Credential::Elsewhere(SecretRef::aws("a").unwrap()))
        .await;
    let target = world.only_target().await.to_string();
    let failed = world
        .broker
        .test(&ask(Some(&world.admin)), &target)
        .await
        .unwrap_err();
    assert_eq!(failed.error.reason(), ErrorReason::SecretUnavailable);
    assert_eq!(
        world.rows().await,
        row("adapter.test_connection.failed", "failure")
    );
}

#[tokio::test]
async fn a_rotated_credential_is_used_by_the_next_call() {
    let world = World::new(Limits::default()).await;
    world.value(b"old").await;
    world.does(Does::Want(b"old"));
    world.call(&world.admin, SSH, UPTIME).await.unwrap();
    world.value(b"new").await;
    world.does(Does::Want(b"new"));
    world.call(&world.admin, SSH, UPTIME).await.unwrap();
    assert_eq!(world.contacts(), 2);
}

#[tokio::test]
async fn a_rejected_credential_is_fetched_anew_once_and_the_target_asked_again() {
    let world = World::new(Limits::default()).await;
    world.value(b"old").await;
    world.does(Does::Want(b"old"));
    world.call(&world.admin, SSH, UPTIME).await.unwrap();
    // Rotated by another instance: this one's snapshot and cache do not know yet.
    let (secrets, owner, target) = (
        world.broker.rooms().secrets.clone(),
        world.tenant.clone(),
        world.only_target().await,
    );
    let value = Credential::Value(SecretValue::new(b"new").unwrap());
    let given: Result<_, PutError> = world
        .store
        .with_tenant(&world.tenant, move |tx| {
            Box::pin(async move { secrets.give(tx, &owner, target, value).await })
        })
        .await;
    given.unwrap();
    world.does(Does::Want(b"new"));
    world.call(&world.admin, SSH, UPTIME).await.unwrap();
    assert_eq!(
        world.contacts(),
        3,
        "once with the old one, once with the new one"
    );

    // A credential that is simply wrong is not sent twice.
    world.does(Does::Want(b"another"));
    let rejected = world.call(&world.admin, SSH, UPTIME).await.unwrap_err();
    assert_eq!(rejected, ErrorReason::CredentialRejected);
    assert_eq!(world.contacts(), 4);
}

#[tokio::test]
async fn a_caller_that_leaves_while_its_credential_is_fetched_leaves_nothing_behind() {
    let world = World::hanging().await;
    world
        .credential(Credential::Elsewhere(SecretRef::vault("a", None).unwrap()))
        .await;
    let asked = ask(Some(&world.admin));
    let left = timeout(
        Duration::from_millis(200),
        world.broker.call(&asked, wish(SSH, UPTIME)),
    );
    assert!(left.await.is_err());
    let gone = async {
        while world.count(INTENTS).await > 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(5), gone).await.unwrap();
    assert_eq!(world.host.contacts.load(Ordering::SeqCst), 0);
    assert!(world.rows().await.is_empty());
    let closed = "select count(*) from intent_closed where tenant_id = $1";
    assert_eq!(world.count(closed).await, 0);
}

#[tokio::test]
async fn a_caller_in_a_hurry_waits_for_no_credential_longer_than_it_has() {
    let world = World::hanging().await;
    world
        .credential(Credential::Elsewhere(SecretRef::vault("a", None).unwrap()))
        .await;
    let asked = Ask {
        deadline: Some(Duration::from_millis(300)),
        ..ask(Some(&world.admin))
    };
    let began = Instant::now();
    let failed = world.broker.call(&asked, wish(SSH, UPTIME)).await.unwrap_err();
    assert_eq!(failed.error.reason(), ErrorReason::DeadlineExceeded);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!(world.contacts(), 0);
    assert_eq!(world.rows().await, row("adapter.capability_invoked", "failure"));
}

#[tokio::test]
async fn what_this_version_cannot_read_as_a_reference_hides_its_target() {
    let world = World::new(Limits::default()).await;
    let sql = "update target set secret = '{\"provider\":\"tomorrow\"}' where tenant_id = $1";
    execute(&world.store, &world.tenant, sql, vec![text(&world.tenant)]).await;
    world.refresh().await;
    let refused = world.call(&world.admin, SSH, UPTIME).await.unwrap_err();
    assert_eq!(refused, ErrorReason::TargetNotFound);
    assert_eq!(world.contacts(), 0);
}

#[tokio::test]
async fn a_target_takes_its_credential_along() {
    let world = World::new(Limits::default()).await;
    world.value(b"right").await;
    let (owner, target) = (world.tenant.clone(), world.only_target().await);
    let deleted: Result<u64, StoreError> = world
        .store
        .with_tenant(&world.tenant, move |tx| {
            Box::pin(async move {
                let sql = "delete from target where tenant_id = $1 and id = $2";
                tx.execute(sql, params![&owner, target]).await
            })
        })
        .await;
    deleted.unwrap();
    assert_eq!(
        world
            .count("select count(*) from secret where tenant_id = $1")
            .await,
        0
    );
}
