//! Refusals are counted: one chained row per tenant, principal, reason and minute, however many there were.
//!
//! Counts are coalesced in memory until the next commit and kept in the store until their minute is over. Keys are
//! bounded; past the bound a minute's further principals are counted together.

use std::collections::{HashMap, HashSet};

use toolgate_contract::ids::{EventId, TenantId};

use crate::audit::{Event, EventKind, Outcome};

const MINUTE_US: i64 = 60_000_000;
/// Stragglers of a minute may still be on their way to the store; its row waits for them.
const GRACE_US: i64 = 2_000_000;
/// Keys of one minute, all tenants together.
const KEYS: usize = 8_192;
/// Longest text of a key.
const LONGEST: usize = 200;
const OTHERS: &str = "(others)";

/// One refused request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Whose record it goes on; `system` where there is no tenant yet.
    pub tenant: TenantId,
    /// `request.refused`, or `adapter.write_rejected` where write attempts are counted.
    pub kind: EventKind,
    /// The principal; for failed sign-ins what stands for the source, such as its address prefix.
    pub principal: String,
    /// `ErrorReason` in UPPER_SNAKE.
    pub reason: String,
    /// The principal's role; the first one of the minute stands for all.
    pub role: String,
    /// The dialect it came by; the first one of the minute stands for all.
    pub facade: String,
    /// What was asked for; the first one of the minute stands for all.
    pub capability: String,
}

/// The counter of one minute.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Minute {
    pub(super) tenant: TenantId,
    pub(super) minute_us: i64,
    pub(super) kind: EventKind,
    pub(super) principal: String,
    pub(super) reason: String,
}

/// What a counter holds besides its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) role: String,
    pub(super) facade: String,
    pub(super) capability: String,
    pub(super) count: i64,
}

/// Counts on their way to the store.
pub(super) type Waiting = HashMap<Minute, Count>;

/// Counts that are not in the store yet.
#[derive(Debug, Default)]
pub(super) struct Counts {
    waiting: Waiting,
    /// Keys of the newest minute, in the store or not.
    seen: HashSet<Minute>,
    newest_us: i64,
}

impl Counts {
    pub(super) fn add(&mut self, refusal: Refusal, minute_us: i64) {
        let (key, count) = split(refusal, minute_us);
        let key = self.bounded(key);
        self.add_to(key, count);
    }

    /// What waits; which keys this minute has seen stays known.
    pub(super) fn take(&mut self) -> Waiting {
        std::mem::take(&mut self.waiting)
    }

    pub(super) fn merge(&mut self, other: Waiting) {
        for (key, count) in other {
            self.add_to(key, count);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn add_to(&mut self, key: Minute, count: Count) {
        self.waiting
            .entry(key)
            .and_modify(|held| held.count = held.count.saturating_add(count.count))
            .or_insert(count);
    }

    fn bounded(&mut self, key: Minute) -> Minute {
        if key.minute_us > self.newest_us {
            self.newest_us = key.minute_us;
            self.seen.clear();
        }
        if self.seen.contains(&key) {
            return key;
        }
        if self.seen.len() >= KEYS {
            return Minute {
                principal: OTHERS.to_owned(),
                ..key
            };
        }
        self.seen.insert(key.clone());
        key
    }
}

/// The start of a point in time's minute.
pub(super) fn minute_of(time_us: i64) -> i64 {
    time_us - time_us.rem_euclid(MINUTE_US)
}

/// Minutes that start before this are over and complete.
pub(super) fn finished_before(now_us: i64) -> i64 {
    minute_of(now_us.saturating_sub(GRACE_US))
}

/// The row of a finished minute.
pub(super) fn event_of(minute: &Minute, count: &Count) -> Event {
    Event {
        id: EventId::mint(),
        kind: minute.kind,
        time_us: minute.minute_us,
        principal: minute.principal.clone(),
        role: count.role.clone(),
        facade: count.facade.clone(),
        adapter_type: String::new(),
        target_id: None,
        capability: count.capability.clone(),
        params_hash: None,
        result: Outcome::Refused,
        reason: minute.reason.clone(),
        duration_ms: 0,
        correlation_id: None,
        detail: format!(r#"{{"count":{}}}"#, count.count),
    }
}

fn split(refusal: Refusal, minute_us: i64) -> (Minute, Count) {
    let Refusal {
        tenant,
        kind,
        principal,
        reason,
        role,
        facade,
        capability,
    } = refusal;
    let key = Minute {
        tenant,
        minute_us,
        kind,
        principal: storable(principal),
        reason: storable(reason),
    };
    let (role, facade, capability) = (storable(role), storable(facade), storable(capability));
    (
        key,
        Count {
            role,
            facade,
            capability,
            count: 1,
        },
    )
}

/// A text every back end can hold, of bounded length. The row itself escapes further.
fn storable(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(LONGEST));
    if text.contains('\0') {
        text.replace('\0', "\\u0000")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(principal: &str) -> Refusal {
        Refusal {
            tenant: TenantId::system(),
            kind: EventKind::RequestRefused,
            principal: principal.to_owned(),
            reason: "RATE_LIMITED".to_owned(),
            role: "agent".to_owned(),
            facade: "rest".to_owned(),
            capability: String::new(),
        }
    }

    #[test]
    fn refusals_of_one_key_add_up() {
        let mut counts = Counts::default();
        for _ in 0..3 {
            counts.add(refusal("a"), 0);
        }
        counts.add(refusal("b"), 0);
        counts.add(refusal("a"), MINUTE_US);
        let mut found: Vec<_> = counts
            .waiting
            .iter()
            .map(|(key, held)| (key.minute_us, key.principal.as_str(), held.count))
            .collect();
        found.sort_unstable();
        assert_eq!(found, [(0, "a", 3), (0, "b", 1), (MINUTE_US, "a", 1)]);
    }

    #[test]
    fn keys_past_the_bound_are_counted_together() {
        let mut counts = Counts::default();
        for index in 0..KEYS + 10 {
            counts.add(refusal(&index.to_string()), 0);
        }
        assert_eq!(counts.waiting.len(), KEYS + 1);
        let others = counts.waiting.iter().find(|(key, _)| key.principal == OTHERS);
        assert_eq!(others.map(|(_, held)| held.count), Some(10));
        counts.add(refusal("next"), MINUTE_US);
        assert!(counts.waiting.keys().any(|key| key.principal == "next"));
    }

    #[test]
    fn a_minute_is_finished_when_its_stragglers_had_time() {
        let check = |now_us, minute_us, expected| {
            assert_eq!(minute_us < finished_before(now_us), expected, "{now_us}")
        };
        check(MINUTE_US - 1, 0, false);
        check(MINUTE_US + GRACE_US - 1, 0, false);
        check(MINUTE_US + GRACE_US, 0, true);
        check(2 * MINUTE_US + GRACE_US, MINUTE_US, true);
    }

    #[test]
    fn keys_hold_no_nul_and_are_bounded() {
        assert_eq!(storable("a\0b".to_owned()), "a\\u0000b");
        assert_eq!(storable("é".repeat(150)).len(), LONGEST);
    }
}
