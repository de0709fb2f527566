//! Cache, single flight, deadlines: what stands in front of every provider.

use std::{collections::HashSet, time::Duration};

use futures::future::{join_all, poll_immediate};

use super::{
    super::*,
    ground::{Does, Front, MANY},
};

#[tokio::test]
async fn a_secret_is_fetched_once_a_minute_however_often_it_is_asked_for() {
    let front = Front::new(Does::Give("one"), MANY).await;
    for _ in 0..5 {
        assert_eq!(front.text(&front.lend().await.unwrap()), "one");
    }
    assert_eq!(front.provider.fetches(), 1);
    front.provider.set(Does::Give("two"));
    front.clock.advance(Duration::from_millis(59_999));
    assert_eq!(front.text(&front.lend().await.unwrap()), "one");
    front.clock.advance(Duration::from_millis(1));
    assert_eq!(front.text(&front.lend().await.unwrap()), "two");
    assert_eq!(front.provider.fetches(), 2);
}

#[tokio::test]
async fn a_value_past_its_minute_is_not_used_though_the_provider_is_gone() {
    let front = Front::new(Does::Give("one"), MANY).await;
    front.lend().await.unwrap();
    front.provider.set(Does::Fail(Fault::Unavailable));
    front.clock.advance(Duration::from_secs(60));
    assert_eq!(front.lend().await.unwrap_err(), Fault::Unavailable);
}

#[tokio::test]
async fn a_no_is_remembered_for_five_seconds_and_a_fault_for_one() {
    for (fault, remembered) in [
        (Fault::NotFound, 5),
        (Fault::Deleted, 5),
        (Fault::Denied, 5),
        (Fault::Unavailable, 1),
        (Fault::Throttled, 1),
    ] {
        let front = Front::new(Does::Fail(fault), MANY).await;
        assert_eq!(front.lend().await.unwrap_err(), fault);
        front.provider.set(Does::Give("one"));
        front.clock.advance(Duration::from_millis(remembered * 1000 - 1));
        assert_eq!(front.lend().await.unwrap_err(), fault);
        assert_eq!(front.provider.fetches(), 1);
        front.clock.advance(Duration::from_millis(1));
        assert!(front.lend().await.is_ok());
    }
}

#[tokio::test]
async fn a_thousand_callers_at_once_are_one_fetch() {
    let front = Front::new(Does::Give("one"), 0).await;
    let callers = (0..1_000).map(|_| front.lend());
    let (answers, ()) = tokio::join!(join_all(callers), async {
        while front.provider.fetches() == 0 {
            tokio::task::yield_now().await;
        }
        front.provider.gate.add_permits(MANY);
    });
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(front.provider.fetches(), 1);
}

#[tokio::test]
async fn a_leader_that_leaves_takes_nobodys_answer_away() {
    let front = Front::new(Does::Give("one"), 0).await;
    let mut leader = Box::pin(front.lend());
    assert!(poll_immediate(&mut leader).await.is_none());
    let mut followers: Vec<_> = (0..999).map(|_| Box::pin(front.lend())).collect();
    for follower in &mut followers {
        assert!(poll_immediate(follower).await.is_none());
    }
    drop(leader);
    front.provider.gate.add_permits(MANY);
    let answers = join_all(followers).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(front.provider.fetches(), 1);
}

#[tokio::test]
async fn a_provider_that_hangs_is_given_up_after_five_seconds() {
    let front = Front::new(Does::Hang, MANY).await;
    // Only now: the store has a thread of its own, for which paused time does not wait.
    tokio::time::pause();
    let began = tokio::time::Instant::now();
    assert_eq!(front.lend().await.unwrap_err(), Fault::Timeout);
    assert_eq!(began.elapsed().as_secs(), 5);
    // The fetch gives up at the same moment; let it.
    for _ in 0..4 {
        tokio::task::yield_now().await;
    }
    // Whoever joins late waits for what is left of it, not for five seconds more.
    front.clock.advance(Duration::from_secs(1));
    let (first, second) = tokio::join!(front.lend(), async {
        tokio::time::sleep(Duration::from_secs(4)).await;
        let joined = tokio::time::Instant::now();
        (front.lend().await, joined.elapsed())
    });
    assert_eq!(first.unwrap_err(), Fault::Timeout);
    assert_eq!(second.0.unwrap_err(), Fault::Timeout);
    assert!(second.1 <= Duration::from_millis(1_010), "{:?}", second.1);
    assert_eq!(front.provider.fetches(), 2);
}

#[tokio::test]
async fn a_provider_that_panics_is_a_fault_and_asked_again() {
    let front = Front::new(Does::Panic, MANY).await;
    assert_eq!(front.lend().await.unwrap_err(), Fault::Unavailable);
    front.provider.set(Does::Give("one"));
    assert!(front.lend().await.is_ok());
}

#[tokio::test]
async fn a_rejected_secret_is_fetched_once_more_by_all_who_were_rejected() {
    let front = Front::new(Does::Give("old"), MANY).await;
    let old = front.lend().await.unwrap();
    front.provider.set(Does::Give("new"));
    let renewed = join_all((0..100).map(|_| front.secrets.renew(&old))).await;
    for lease in renewed {
        assert_eq!(front.text(&lease.unwrap().unwrap()), "new");
    }
    assert_eq!(front.provider.fetches(), 2);
    let new = front.lend().await.unwrap();
    assert!(
        front.secrets.renew(&new).await.unwrap().is_none(),
        "it was fetched because of just this"
    );
    assert_eq!(front.provider.fetches(), 2);
    front.clock.advance(Duration::from_secs(5));
    assert!(front.secrets.renew(&new).await.unwrap().is_some());
    assert_eq!(front.provider.fetches(), 3);
}

#[tokio::test]
async fn two_tenants_with_the_same_reference_have_two_secrets() {
    let front = Front::new(Does::Give("one"), MANY).await;
    let reference = SecretRef::vault("name", None).unwrap();
    let tenants: Vec<_> = (0..20).map(|_| TenantId::mint()).collect();
    let asked = (0..400).map(|n| {
        let (tenant, secrets, reference) = (&tenants[n % 20], &front.secrets, &reference);
        async move { (tenant, secrets.lend(tenant, reference).await.unwrap()) }
    });
    let mut seen = HashSet::new();
    for (tenant, lease) in join_all(asked).await {
        assert_eq!(lease.value().reveal(), format!("{tenant} one").as_bytes());
        seen.insert(tenant.clone());
    }
    assert_eq!((seen.len(), front.provider.fetches()), (20, 20));
}

#[tokio::test]
async fn nothing_that_is_shown_holds_the_secret_or_its_name() {
    const CANARY: &str = "c4n4ry-7f3b9e10d2a84c6688f1";
    let front = Front::new(Does::Give(CANARY), MANY).await;
    let lease = front.lend().await.unwrap();
    let reference = SecretRef::aws("prod/very-private-name").unwrap();
    let hashed = HashedId::of(&front.secrets.0.keys, &front.tenant, &reference);
    let mut shown = format!(
        "{lease:?} {:?} {reference:?} {hashed} {hashed:?} {:?} {:?}",
        lease.value(),
        front.secrets,
        Credential::Value(SecretValue::new(CANARY.as_bytes()).unwrap()),
    );
    for fault in Fault::ALL {
        let error = SecretError {
            provider: ProviderKind::Aws,
            fault,
        };
        let told = crate::error::Error::SecretUnavailable(error);
        shown += &format!("{error} {error:?} {told} {told:?}");
        shown += &format!("{:?}", told.into_failure(None));
    }
    assert!(
        !shown.contains(CANARY) && !shown.contains("very-private-name"),
        "{shown}"
    );
    assert_eq!(front.text(&lease), CANARY);
}

#[tokio::test]
async fn identifiers_are_hashed_under_the_tenants_key() {
    let front = Front::new(Does::Give("one"), MANY).await;
    let keys = &front.secrets.0.keys;
    let (one, other) = (SecretRef::aws("a").unwrap(), SecretRef::vault("a", None).unwrap());
    let of = |tenant: &TenantId, reference: &SecretRef| HashedId::of(keys, tenant, reference).to_string();
    assert_eq!(of(&front.tenant, &one), of(&front.tenant, &one));
    assert_ne!(
        of(&front.tenant, &one),
        of(&front.tenant, &other),
        "another provider"
    );
    assert_ne!(
        of(&front.tenant, &one),
        of(&TenantId::mint(), &one),
        "another tenant"
    );
    let versions = [None, Some(1)].map(|v| of(&front.tenant, &SecretRef::vault("a", v).unwrap()));
    assert_eq!(versions[0], versions[1], "a secret is the same in every version");
}

#[tokio::test]
async fn values_have_a_size() {
    assert!(SecretValue::new(b"").is_none());
    assert!(SecretValue::new(&vec![0; LONGEST]).is_some());
    assert!(SecretValue::new(&vec![0; LONGEST + 1]).is_none());
}
