use super::*;

/// Ten seconds into a minute.
const START_US: i64 = 1_767_225_610_000_000;
const MINUTE: Duration = Duration::from_secs(60);

fn figures() -> (Figures, Clock, TenantId) {
    let clock = Clock::manual(START_US);
    (Figures::new(clock.clone()), clock, TenantId::mint())
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn calls_stand_in_their_minute_by_tool_the_most_called_first() {
    let (figures, clock, tenant) = figures();
    figures.settled(&tenant, "a", Outcome::Success, ms(10));
    figures.settled(&tenant, "b", Outcome::Failure, ms(10));
    clock.advance(MINUTE);
    figures.settled(&tenant, "b", Outcome::Unknown, ms(20));
    figures.settled(&tenant, "b", Outcome::Cancelled, ms(20));

    let told = figures.overview(&tenant, 3);
    assert_eq!(told.start_us, START_US - 10_000_000 - 60_000_000);
    assert_eq!(told.since_us, START_US);
    assert_eq!((&*told.calls, &*told.failed), (&[0, 2, 2][..], &[0, 1, 1][..]));
    let names: Vec<_> = told
        .tools
        .iter()
        .map(|tool| (&*tool.name, &*tool.calls))
        .collect();
    assert_eq!(names, [("b", &[0, 1, 2][..]), ("a", &[0, 1, 0][..])]);
    assert_eq!(told.tools[0].p95[0], None);
    let p95 = told.tools[0].p95[2].unwrap();
    assert!(p95 >= ms(18) && p95 <= ms(23), "{p95:?}");
    // A shorter look sees less.
    assert_eq!(figures.overview(&tenant, 1).calls, [2]);
}

#[test]
fn a_wall_clock_that_jumps_moves_no_step() {
    let (figures, clock, tenant) = figures();
    figures.settled(&tenant, "a", Outcome::Success, ms(1));
    clock.set_wall_us(START_US - 86_400_000_000);
    figures.settled(&tenant, "a", Outcome::Success, ms(1));
    assert_eq!(figures.overview(&tenant, 2).calls, [0, 2]);
}

#[test]
fn refusals_are_counted_by_reason_and_of_no_other_tenant() {
    let (figures, clock, tenant) = figures();
    figures.refused(&tenant, ErrorReason::RateLimited);
    clock.advance(MINUTE);
    figures.refused(&tenant, ErrorReason::ToolNotFound);
    figures.refused(&tenant, ErrorReason::ToolNotFound);
    figures.refused(&TenantId::mint(), ErrorReason::Internal);
    let told = figures.overview(&tenant, 2);
    assert_eq!(told.refused, [1, 2]);
    assert_eq!(
        told.refusals,
        [(ErrorReason::ToolNotFound, 2), (ErrorReason::RateLimited, 1)]
    );
    assert!(told.tools.is_empty() && told.calls == [0, 0]);
}

#[test]
fn a_tenant_that_never_called_has_zeros_since_the_start() {
    let (figures, clock, tenant) = figures();
    clock.advance(MINUTE);
    let told = figures.overview(&tenant, 60);
    assert_eq!((told.since_us, told.calls), (START_US, vec![0; 60]));
}

#[test]
fn tools_beyond_those_told_apart_are_counted_together() {
    let (figures, _, tenant) = figures();
    for number in 0..200 {
        figures.settled(&tenant, &format!("tool_{number}"), Outcome::Success, ms(1));
    }
    let told = figures.overview(&tenant, 1);
    assert_eq!((told.tools.len(), &*told.tools[0].name), (65, OTHER));
    assert_eq!((told.tools[0].calls[0], told.calls[0]), (136, 200));
}

#[test]
fn what_is_older_than_the_steps_is_forgotten() {
    let (figures, clock, tenant) = figures();
    figures.settled(&tenant, "a", Outcome::Success, ms(1));
    figures.refused(&tenant, ErrorReason::Internal);
    figures.sweep();
    assert_eq!(figures.0.cells.load(Ordering::Relaxed), 2);
    clock.advance(MINUTE * STEPS);
    figures.sweep();
    assert_eq!(figures.0.cells.load(Ordering::Relaxed), 0);
    let shards = figures.0.shards.iter();
    assert!(
        shards
            .into_iter()
            .all(|shard| shard.lock().unwrap().tenants.is_empty())
    );
}

#[test]
fn a_tenant_pays_for_the_bound_with_its_own_past_and_says_so() {
    let (figures, clock, tenant) = figures();
    let other = TenantId::mint();
    figures.settled(&other, "a", Outcome::Success, ms(1));
    figures.settled(&tenant, "a", Outcome::Success, ms(1));
    clock.advance(MINUTE);
    figures.settled(&tenant, "a", Outcome::Success, ms(1));
    figures.0.cells.store(MOST_CELLS, Ordering::Relaxed);
    clock.advance(MINUTE);
    figures.settled(&tenant, "a", Outcome::Success, ms(1));

    let told = figures.overview(&tenant, 3);
    assert_eq!(told.calls, [0, 1, 1]);
    assert_eq!(told.since_us, told.start_us + of_tenant::STEP_US);
    assert_eq!(figures.overview(&other, 3).calls, [1, 0, 0]);
}

#[test]
fn the_tenant_that_is_silent_for_the_longest_makes_room_for_a_new_one() {
    let (figures, clock, silent) = figures();
    figures.settled(&silent, "a", Outcome::Success, ms(1));
    clock.advance(MINUTE);
    let others: Vec<_> = (0..SHARDS * TENANTS_OF_SHARD * 2)
        .map(|_| TenantId::mint())
        .collect();
    for tenant in &others {
        figures.settled(tenant, "a", Outcome::Success, ms(1));
    }
    let told = figures.overview(&silent, 2);
    assert_eq!(told.calls, [0, 0]);
    assert!(told.since_us > START_US, "zeros before it would be a lie");
    let kept: usize = figures
        .0
        .shards
        .iter()
        .map(|shard| shard.lock().unwrap().tenants.len())
        .sum();
    assert_eq!(kept, SHARDS * TENANTS_OF_SHARD);
    assert_eq!(figures.0.cells.load(Ordering::Relaxed), kept);
}
