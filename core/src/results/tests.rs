use super::*;
use crate::identity::Role;
use toolgate_contract::v1::{ErrorReason, WatchResponse, watch_response::Event};

fn principal(tenant: &TenantId, name: &str) -> Principal {
    Principal {
        tenant: tenant.clone(),
        name: name.into(),
        role: Role::Engineer,
        pinned: None,
    }
}

struct Given {
    clock: Clock,
    results: Results,
    owner: Principal,
}

impl Given {
    fn new() -> Self {
        let clock = Clock::manual(0);
        let owner = principal(&TenantId::mint(), "devon");
        Self {
            results: Results::new(clock.clone()),
            clock,
            owner,
        }
    }

    fn open(&self) -> (CallId, Arc<Stream>, CancellationToken) {
        let (call, cancel) = (CallId::mint(), CancellationToken::new());
        (call, self.results.open(call, &self.owner, cancel.clone()), cancel)
    }

    fn fail(&self, stream: &Stream) {
        self.results.finish(stream, failed());
    }

    fn watch(&self, call: CallId) -> Watcher {
        self.results.watch(&call.to_string(), None, &self.owner).unwrap()
    }
}

fn failed() -> Ended {
    Ended::Failed(Failure::new(ErrorReason::Overloaded, "busy"))
}

fn is_missing(watched: Result<Watcher, Error>) -> bool {
    matches!(watched, Err(Error::NotFound(Missing::Call)))
}

async fn all(mut watcher: Watcher) -> Vec<WatchResponse> {
    let mut events = Vec::new();
    while let Some(event) = watcher.next().await {
        events.push(event);
    }
    events
}

#[tokio::test]
async fn every_watcher_sees_every_event_once() {
    let given = Given::new();
    let (call, stream, _) = given.open();
    let before = tokio::spawn(all(given.watch(call)));
    given.fail(&stream);
    let (before, after) = (before.await.unwrap(), all(given.watch(call)).await);
    assert_eq!(before, after);
    assert_eq!(before.len(), 1);
    assert_eq!(before[0].id, format!("{call}-1"));
    assert!(matches!(before[0].event, Some(Event::Error(_))));
}

#[tokio::test]
async fn a_stream_goes_on_after_the_last_seen_event() {
    let given = Given::new();
    let (call, stream, _) = given.open();
    given.fail(&stream);
    let seen = format!("{call}-1");
    assert!(
        all(given
            .results
            .watch(&call.to_string(), Some(&seen), &given.owner)
            .unwrap())
        .await
        .is_empty()
    );
    for bad in [
        "",
        "1",
        "x-1",
        &format!("{call}-"),
        &format!("{call}--1"),
        &format!("{}-1", CallId::mint()),
    ] {
        assert!(matches!(
            given.results.watch(&call.to_string(), Some(bad), &given.owner),
            Err(Error::Invalid { .. })
        ));
    }
}

#[test]
fn only_the_owner_watches_and_others_learn_nothing() {
    let given = Given::new();
    let (call, _stream, _) = given.open();
    let call = call.to_string();
    assert!(is_missing(given.results.watch(
        &call,
        None,
        &principal(&given.owner.tenant, "casey")
    )));
    assert!(is_missing(given.results.watch(
        &call,
        None,
        &principal(&TenantId::mint(), "devon")
    )));
    assert!(is_missing(given.results.watch(
        &CallId::mint().to_string(),
        None,
        &given.owner
    )));
    assert!(is_missing(given.results.watch("no id", None, &given.owner)));
}

#[test]
fn the_call_is_cancelled_when_its_last_watcher_leaves_before_the_end() {
    let given = Given::new();
    let (call, _stream, cancel) = given.open();
    let (first, second) = (given.watch(call), given.watch(call));
    drop(first);
    assert!(!cancel.is_cancelled());
    drop(second);
    assert!(cancel.is_cancelled());
}

#[test]
fn a_watcher_that_leaves_after_the_end_cancels_nothing() {
    let given = Given::new();
    let (call, stream, cancel) = given.open();
    let watcher = given.watch(call);
    given.fail(&stream);
    drop(watcher);
    assert!(!cancel.is_cancelled());
}

#[test]
fn a_result_is_read_for_a_minute_and_then_gone() {
    let given = Given::new();
    let (call, stream, _) = given.open();
    given.clock.advance(KEPT_FOR * 2);
    given.watch(call);
    given.fail(&stream);
    given.clock.advance(KEPT_FOR - Duration::from_millis(1));
    given.watch(call);
    given.clock.advance(Duration::from_millis(1));
    given.results.sweep();
    assert!(is_missing(given.results.watch(
        &call.to_string(),
        None,
        &given.owner
    )));
    let kept = given.results.kept();
    assert!(
        kept.streams.is_empty() && kept.of_tenant.is_empty() && kept.finished.is_empty() && kept.bytes == 0
    );
}

#[test]
fn many_results_of_a_tenant_push_out_its_oldest_and_nobody_elses() {
    let given = Given::new();
    let other = principal(&TenantId::mint(), "casey");
    let theirs = CallId::mint();
    let stream = given.results.open(theirs, &other, CancellationToken::new());
    given.results.finish(&stream, failed());
    let calls: Vec<_> = (0..MAX_PER_TENANT + 2)
        .map(|_| {
            let (call, stream, _) = given.open();
            given.fail(&stream);
            call
        })
        .collect();
    let gone = calls
        .iter()
        .filter(|call| is_missing(given.results.watch(&call.to_string(), None, &given.owner)));
    assert_eq!(gone.count(), 2);
    given.results.watch(&theirs.to_string(), None, &other).unwrap();
}

#[test]
fn results_beyond_their_share_of_memory_push_out_the_oldest() {
    let given = Given::new();
    let owners: Vec<_> = (0..200)
        .map(|n| principal(&TenantId::mint(), &format!("user-{n}")))
        .collect();
    let big = "x".repeat(1 << 20);
    let calls: Vec<_> = owners
        .iter()
        .map(|owner| {
            let call = CallId::mint();
            let stream = given.results.open(call, owner, CancellationToken::new());
            let failure = Failure::new(ErrorReason::Internal, big.clone());
            given.results.finish(&stream, Ended::Failed(failure));
            (call, owner)
        })
        .collect();
    assert!(given.results.kept().bytes <= MAX_BYTES);
    let (oldest, newest) = (&calls[0], &calls[199]);
    assert!(is_missing(given.results.watch(
        &oldest.0.to_string(),
        None,
        oldest.1
    )));
    given
        .results
        .watch(&newest.0.to_string(), None, newest.1)
        .unwrap();
}
