//! Relays: enrolled once, known by their key, forgotten.

use toolgate_contract::frame::GoAwayReason;

use super::*;
use crate::{
    uplinks::{Standing, UplinkEvents},
    upstream::UpstreamError,
};

#[tokio::test]
async fn an_enrolment_is_redeemed_once_however_many_try_at_once() {
    let room = room().await;
    let (target, token) = room.add("web").await;

    let tries = (0..100_u8).map(|n| room.redeem_with(&token.tenant, &token, Octets([n; 32])));
    let relays: Vec<_> = futures::future::join_all(tries)
        .await
        .into_iter()
        .flatten()
        .collect();

    assert_eq!(relays.len(), 1);
    assert_eq!(relays[0].target, target.id);
    assert_eq!(
        room.relay(room.ground.tenant(), target.id).await.as_ref(),
        Some(&relays[0])
    );
    let record = room.ground.record().await;
    let enrolled: Vec<_> = record
        .iter()
        .filter(|row| row.kind == EventKind::RelayEnrolled)
        .collect();
    assert_eq!(enrolled.len(), 1);
    let key = json!(relays[0].public_key.to_string());
    assert_eq!(
        (enrolled[0].target_id, &detail(enrolled[0])["key"]),
        (Some(target.id), &key)
    );

    let target = room.get(target.id).await;
    assert_eq!(
        (room.targets.status(&target), &target.validation["verdict"]),
        ("offline", &json!("passed"))
    );
    room.sockets.connect(target.id);
    assert_eq!(room.targets.status(&target), "ready");
}

#[tokio::test]
async fn an_enrolment_ends_after_fifteen_minutes_or_with_the_next_one() {
    let room = room().await;
    let (target, first) = room.add("web").await;
    let second = room.enrol_again(target.id).await;
    assert_eq!(room.redeem(&first).await, None);

    room.ground.clock.advance(Duration::from_secs(15 * 60));
    assert_eq!(room.redeem(&second).await, None, "the token has no end");
}

#[tokio::test]
async fn a_hosts_enrolment_enrols_no_project_and_is_not_spent_by_one() {
    let room = room().await;
    let (_, token) = room.add("web").await;
    let hash = secret_hash(&token.secret);
    let tried = room.relays.redeem(&token.tenant, hash, KEY, Offer::Project).await;
    assert_eq!(tried.unwrap_err(), RedeemError::Refused);
    assert!(room.redeem(&token).await.is_some());
}

#[tokio::test]
async fn an_enrolment_of_another_tenant_is_unknown() {
    let room = room().await;
    let (target, token) = room.add("web").await;
    let stranger = room.ground.stranger().await;
    for tenant in [&stranger.tenant, &TenantId::mint()] {
        assert_eq!(room.redeem_with(tenant, &token, KEY).await, None);
    }

    room.redeem(&token).await.unwrap();
    assert_eq!(room.relay(&stranger.tenant, target.id).await, None);
    let id = target.id.to_string();
    let refused = [
        room.targets.get(&stranger, &id).await.map(drop),
        room.targets.update(stranger.clone(), &id, edit()).await.map(drop),
        room.targets.delete(stranger.clone(), &id).await,
        room.targets.enrol(stranger.clone(), &id).await.map(drop),
        room.targets.revoke_relay(stranger.clone(), &id).await,
        room.targets.get(&room.ground.admin(), "no-id").await.map(drop),
    ];
    let told: HashSet<_> = refused
        .into_iter()
        .map(|it| it.unwrap_err().to_string())
        .collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(room.get(target.id).await.relay_key, Some(KEY));
}

#[tokio::test]
async fn a_revoked_relay_is_forgotten_and_cut_off() {
    let room = room().await;
    let (target, token) = room.add("web").await;
    let id = target.id.to_string();
    let none = room
        .targets
        .revoke_relay(room.ground.admin(), &id)
        .await
        .unwrap_err();
    assert_eq!(none.reason(), ErrorReason::ResourceNotFound);

    room.redeem(&token).await.unwrap();
    room.sockets.connect(target.id);
    room.targets.revoke_relay(room.ground.admin(), &id).await.unwrap();

    assert!(!room.sockets.is_connected(target.id));
    assert_eq!(room.relay(room.ground.tenant(), target.id).await, None);
    let target = room.get(target.id).await;
    assert_eq!(
        (room.targets.status(&target), &target.validation["verdict"]),
        ("revoked", &json!("pending"))
    );
    assert_eq!(room.redeem(&token).await, None, "a used token works again");
    assert_eq!(
        room.ground.since_start().await,
        ["adapter.configured", "relay.enrolled", "relay.revoked"]
    );
}

#[tokio::test]
async fn a_relay_is_cut_off_although_the_admin_who_revoked_it_left() {
    let room = room().await;
    let (target, token) = room.add("web").await;
    room.redeem(&token).await.unwrap();
    room.sockets.connect(target.id);

    let id = target.id.to_string();
    // Asked once, so that the change is under way, and dropped.
    let asked = futures::poll!(Box::pin(room.targets.revoke_relay(room.ground.admin(), &id)));
    assert!(asked.is_pending());
    room.ground.settle().await;

    assert_eq!(room.relay(room.ground.tenant(), target.id).await, None);
    assert!(!room.sockets.is_connected(target.id));
}

#[tokio::test]
async fn a_host_can_be_enrolled_anew_and_the_former_relay_stays_until_then() {
    let room = room().await;
    let (target, token) = room.add("web").await;
    room.redeem(&token).await.unwrap();
    let again = room.enrol_again(target.id).await;
    assert_eq!(
        room.relay(room.ground.tenant(), target.id)
            .await
            .map(|it| it.public_key),
        Some(KEY)
    );

    let newer = Octets([6; 32]);
    room.redeem_with(&again.tenant, &again, newer).await.unwrap();
    assert_eq!(
        room.relay(room.ground.tenant(), target.id)
            .await
            .map(|it| it.public_key),
        Some(newer)
    );
    let record = room.ground.record().await;
    assert_eq!(detail(record.last().unwrap())["replaces"], KEY.to_string());
}

#[tokio::test]
async fn a_suspected_clone_is_on_the_record_and_locks_until_a_relay_enrols_anew() {
    let room = room().await;
    let (target, token) = room.add("web").await;
    let relay = room.redeem(&token).await.unwrap();

    room.relays.clone_suspected(&relay);
    room.tasks.close();
    room.tasks.wait().await;

    let record = room.ground.record().await;
    let row = record.last().unwrap();
    assert_eq!(
        (row.kind, row.target_id),
        (EventKind::RelayCloneSuspected, Some(target.id))
    );
    let standing = || async {
        let relay = room.relay(room.ground.tenant(), target.id).await.unwrap();
        (relay.standing, room.targets.status(&room.get(target.id).await))
    };
    assert_eq!(standing().await, (Standing::Locked, "locked"));

    let again = room.enrol_again(target.id).await;
    assert_eq!(
        standing().await,
        (Standing::Locked, "locked"),
        "a token is no relay"
    );
    room.redeem_with(&again.tenant, &again, Octets([6; 32]))
        .await
        .unwrap();
    assert_eq!(standing().await, (Standing::Active, "offline"));
}

#[tokio::test]
async fn an_alarm_that_comes_late_does_not_lock_the_relay_that_has_enrolled_since() {
    let room = room().await;
    let (target, token) = room.add("web").await;
    let old = room.redeem(&token).await.unwrap();
    let again = room.enrol_again(target.id).await;
    room.redeem_with(&again.tenant, &again, Octets([6; 32]))
        .await
        .unwrap();

    room.relays.clone_suspected(&old);
    room.tasks.close();
    room.tasks.wait().await;

    assert_eq!(room.targets.status(&room.get(target.id).await), "offline");
}

#[tokio::test]
async fn calls_to_a_host_without_a_relay_say_which_of_the_ways_leads_out() {
    let room = room().await;
    let (target, token) = room.add("web").await;
    let uplinks = crate::uplinks::Uplinks::closed(Arc::clone(&room.ground.keys));
    let adapters = crate::adapters::Adapters::new(uplinks, crate::clock::Clock::manual(0));
    let told = || async {
        let snapshot = room.ground.snapshot().await;
        adapters
            .upstream(&snapshot.target(target.id).unwrap(), None)
            .unwrap_err()
    };
    assert_eq!(told().await, UpstreamError::RelayNotEnrolled);
    room.redeem(&token).await.unwrap();
    assert_eq!(told().await, UpstreamError::RelayOffline);
    room.targets
        .revoke_relay(room.ground.admin(), &target.id.to_string())
        .await
        .unwrap();
    assert_eq!(told().await, UpstreamError::RelayRevoked);
}

#[tokio::test]
async fn refused_relays_are_counted_where_no_tenant_is_known() {
    let room = room().await;
    for _ in 0..3 {
        room.relays
            .refused(room.ground.tenant(), GoAwayReason::TokenRefused);
    }
    room.relays
        .refused(room.ground.tenant(), GoAwayReason::Unavailable);
    room.ground.journal.check().await.unwrap();

    let system = TenantId::system();
    let counted = room.ground.store.with_tenant_read(&system, |tx| {
        Box::pin(async move {
            let count = "select principal, reason, count from refusal_counter where tenant_id = $1";
            tx.query(count, crate::store::params!["system"]).await
        })
    });
    let rows: Result<Vec<_>, crate::store::StoreError> = counted.await;
    let rows = rows.unwrap();
    let told: Vec<_> = rows
        .iter()
        .map(|row| (row.text(0), row.text(1), row.int(2)))
        .collect();
    assert_eq!(told, [(Ok("relay"), Ok("CREDENTIAL_INVALID"), Ok(3))]);
}
