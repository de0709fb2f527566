//! Targets whose credential is held again against what it may be: by calls after a day, and by tests.

use super::{
    stand_in::{Finding, LIST, STATUS, told, until},
    *,
};

const DRIFTED: &str =
    "select count(*) from audit_event where tenant_id = $1 and instr(bytes, 'CREDENTIAL_DRIFTED') > 0";

impl World {
    fn finds(&self, finding: Finding) {
        *self.cluster.finding.lock().unwrap() = finding;
    }

    async fn validation(&self, target: TargetId) -> serde_json::Value {
        let snapshots = &self.broker.rooms().snapshots;
        let snapshot = snapshots.get(&self.tenant).await.unwrap().unwrap();
        snapshot.target(target).unwrap().validation.clone()
    }

    /// Tests a target: whether it passed, its stages as (name, passed), and the reason of an error.
    async fn tested(&self, target: TargetId) -> Result<(bool, Vec<(&'static str, bool)>), ErrorReason> {
        self.tested_within(target, None).await
    }

    async fn tested_within(
        &self,
        target: TargetId,
        deadline: Option<Duration>,
    ) -> Result<(bool, Vec<(&'static str, bool)>), ErrorReason> {
        let asked = Ask {
            deadline,
            ..ask(Some(&self.admin))
        };
        let settled = self.broker.test(&asked, &target.to_string()).await;
        let settled = settled.map_err(|failed| failed.error.reason())?;
        let stages = settled.tested().unwrap().stages.iter();
        let stages = stages.map(|stage| (stage.name, stage.failed.is_none())).collect();
        Ok((!settled.result().is_error, stages))
    }
}

#[tokio::test]
async fn a_target_that_was_checked_within_a_day_is_used_at_once() {
    let world = World::at_hand().await;
    world.proxmox("lab").await;
    world.finds(Finding::Wider);
    world.clock.advance(Duration::from_secs(86_400));
    world.status().await.unwrap();
    assert_eq!(world.cluster.validations(), 0);
    world.clock.advance(Duration::from_micros(1));
    assert_eq!(world.status().await.unwrap_err(), ErrorReason::CredentialDrifted);
}

#[tokio::test]
async fn a_credential_that_became_wider_is_refused_marked_and_not_used_again() {
    for tool in [LIST, STATUS] {
        let world = World::at_hand().await;
        let target = world.proxmox_of_yesterday("lab").await;
        world.finds(Finding::Wider);
        let failed = world.caller(tool).await.unwrap().unwrap_err();
        assert_eq!(failed.error.reason(), ErrorReason::CredentialDrifted);
        assert_eq!((world.cluster.validations(), world.cluster.reads()), (1, 0));
        assert_eq!(world.validation(target).await["verdict"], "drifted");
        let rows = [
            row("adapter.configured", "success"),
            row("adapter.write_rejected", "failure"),
        ];
        assert_eq!(world.rows().await, rows.concat());

        // From now on without contact.
        let failed = world.caller(tool).await.unwrap().unwrap_err();
        assert_eq!(failed.error.reason(), ErrorReason::CredentialDrifted);
        assert_eq!((world.cluster.validations(), world.cluster.reads()), (1, 0));
        let rows = [rows.concat(), row("adapter.write_rejected", "refused")];
        assert_eq!(world.rows().await, rows.concat());
        assert_eq!(world.count(DRIFTED).await, 2);
    }
}

#[tokio::test]
async fn an_answer_that_was_kept_is_not_told_once_the_credential_drifted() {
    let world = World::at_hand().await;
    let target = world.proxmox("lab").await;
    world.list().await.unwrap();
    world.finds(Finding::Wider);
    world.tested(target).await.unwrap();
    assert_eq!(world.list().await.unwrap_err(), ErrorReason::CredentialDrifted);
}

#[tokio::test]
async fn a_credential_that_is_as_it_was_is_used_and_good_for_another_day() {
    let world = World::at_hand().await;
    let target = world.proxmox_of_yesterday("lab").await;
    assert_eq!(told(&world.status().await.unwrap()), "lab");
    assert_eq!(world.validation(target).await["checkedUs"], NOW_US);
    world.clock.advance(Duration::from_secs(80_000));
    world.status().await.unwrap();
    assert_eq!((world.cluster.validations(), world.cluster.reads()), (1, 2));
}

#[tokio::test]
async fn what_says_nothing_against_a_call_lets_it_go_on() {
    for (finding, again) in [(Finding::Narrower, 1), (Finding::NoAnswer, 2)] {
        let world = World::at_hand().await;
        world.proxmox_of_yesterday("lab").await;
        world.finds(finding);
        world.status().await.unwrap();
        world.status().await.unwrap();
        assert_eq!(
            (world.cluster.validations(), world.cluster.reads()),
            (1, 2),
            "{finding:?}"
        );
        // Where nothing was found out, it is tried again after a while.
        world.clock.advance(Duration::from_secs(61));
        world.status().await.unwrap();
        assert_eq!(world.cluster.validations(), again, "{finding:?}");
    }
}

#[tokio::test]
async fn a_recheck_without_an_end_leaves_the_call_its_half_of_the_time() {
    let world = World::at_hand().await;
    world.proxmox_of_yesterday("lab").await;
    world.finds(Finding::Silence);
    let caller = world.caller_within(STATUS, Some(Duration::from_millis(1_000)));
    assert_eq!(told(&caller.await.unwrap().unwrap()), "lab");
}

#[tokio::test]
async fn however_many_calls_come_the_recheck_is_done_once() {
    let world = World::at_hand().await;
    world.proxmox_of_yesterday("lab").await;
    world.finds(Finding::Wider);
    world.cluster.hold();
    let callers: Vec<_> = (0..20)
        .map(|n| world.caller(if n % 2 == 0 { STATUS } else { LIST }))
        .collect();
    let intents = "select count(*) from intent where tenant_id = $1";
    until(async || world.count(intents).await == 20 && world.cluster.validations() == 1).await;
    world.cluster.release();
    for caller in callers {
        let failed = caller.await.unwrap().unwrap_err();
        assert_eq!(failed.error.reason(), ErrorReason::CredentialDrifted);
    }
    assert_eq!((world.cluster.validations(), world.cluster.reads()), (1, 0));
    assert_eq!(world.count(intents).await, 0);
}

#[tokio::test]
async fn whoever_began_a_recheck_may_leave_it_to_the_others() {
    let world = World::at_hand().await;
    world.proxmox_of_yesterday("lab").await;
    world.cluster.hold();
    let first = world.caller(STATUS);
    until(async || world.cluster.validations() == 1).await;
    let second = world.caller(STATUS);
    until(async || world.broker.rooms().rechecks.waiting() == 2).await;
    first.abort();
    until(async || world.broker.rooms().rechecks.waiting() == 1).await;
    world.cluster.release();
    assert_eq!(told(&second.await.unwrap().unwrap()), "lab");
    assert_eq!((world.cluster.validations(), world.cluster.reads()), (1, 1));
    let closed = "select count(*) from intent_closed where tenant_id = $1";
    until(async || world.count(closed).await == 1).await;
}

#[tokio::test]
async fn a_test_answers_with_its_stages_and_stands_on_the_record() {
    let ok = vec![
        ("reach", true),
        ("tls", true),
        ("authenticate", true),
        ("privileges", true),
    ];
    let privileges = vec![
        ("reach", true),
        ("tls", true),
        ("authenticate", true),
        ("privileges", false),
    ];
    let cases = [
        (Finding::Passed, true, ok, "succeeded", "passed"),
        (Finding::Narrower, false, privileges.clone(), "failed", "failed"),
        (Finding::Wider, false, privileges, "failed", "drifted"),
        (
            Finding::NoAnswer,
            false,
            vec![("reach", false)],
            "failed",
            "passed",
        ),
    ];
    for (finding, passes, stages, row, verdict) in cases {
        let world = World::at_hand().await;
        let target = world.proxmox("lab").await;
        world.finds(finding);
        assert_eq!(world.tested(target).await, Ok((passes, stages)), "{finding:?}");
        let last = world.rows().await.pop().unwrap().0;
        assert_eq!(last, format!("adapter.test_connection.{row}"), "{finding:?}");
        assert_eq!(world.validation(target).await["verdict"], verdict, "{finding:?}");
        assert_eq!(world.cluster.reads(), 0);
    }
}

#[tokio::test]
async fn a_test_that_passes_lets_a_drifted_target_be_used_again() {
    let world = World::at_hand().await;
    let target = world.proxmox("lab").await;
    world.finds(Finding::Wider);
    assert!(!world.tested(target).await.unwrap().0);
    assert_eq!(world.status().await.unwrap_err(), ErrorReason::CredentialDrifted);
    world.finds(Finding::Passed);
    assert!(world.tested(target).await.unwrap().0);
    world.status().await.unwrap();
}

#[tokio::test]
async fn a_test_that_finds_what_is_known_leaves_its_own_row_only() {
    let world = World::at_hand().await;
    let target = world.proxmox("lab").await;
    world.tested(target).await.unwrap();
    assert_eq!(
        world.rows().await,
        row("adapter.test_connection.succeeded", "success")
    );
}

#[tokio::test]
async fn a_test_of_a_silent_target_ends_in_time_with_a_stage() {
    let world = World::at_hand().await;
    let target = world.proxmox("lab").await;
    world.finds(Finding::Silence);
    let tested = world
        .tested_within(target, Some(Duration::from_millis(200)))
        .await;
    assert_eq!(tested, Ok((false, vec![("reach", false)])));
    assert_eq!(
        world.rows().await,
        row("adapter.test_connection.failed", "failure")
    );
}

#[tokio::test]
async fn a_test_with_a_credential_that_was_rotated_elsewhere_tries_the_new_one() {
    let world = World::at_hand().await;
    let target = world.proxmox("old").await;
    world.status().await.unwrap();
    world.give(target, "new").await;
    *world.cluster.accepts.lock().unwrap() = Some("new");
    assert!(world.tested(target).await.unwrap().0);
    assert_eq!(world.cluster.validations(), 2);
}
