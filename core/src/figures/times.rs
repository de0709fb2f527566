//! Times of calls, as counts by classes of about an eighth: little to keep, and enough for a percentile.

use std::time::Duration;

/// How many calls took how long. Most tools have few classes in a minute, so only those are kept.
#[derive(Debug, Default, Clone)]
pub(super) struct Times(Vec<(u8, u32)>);

impl Times {
    pub(super) fn add(&mut self, took: Duration) {
        let class = class(took);
        match self.0.binary_search_by_key(&class, |(class, _)| *class) {
            Ok(at) => self.0[at].1 = self.0[at].1.saturating_add(1),
            Err(at) => self.0.insert(at, (class, 1)),
        }
    }

    /// The time that `percent` of 100 calls stayed within; `None` where there was none.
    pub(super) fn percentile(&self, percent: u64) -> Option<Duration> {
        let all: u64 = self.0.iter().map(|(_, count)| u64::from(*count)).sum();
        // The rank of the call that is asked for, from 1.
        let rank = (all * percent).div_ceil(100).max(1);
        let mut before = 0;
        for (class, count) in &self.0 {
            let count = u64::from(*count);
            if before + count >= rank {
                let (low, width) = range(*class);
                return Some(Duration::from_micros(low + width * (rank - before) / count));
            }
            before += count;
        }
        None
    }
}

/// Up to 8 µs each microsecond is a class; above, each doubling has eight.
fn class(took: Duration) -> u8 {
    let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    if us < 8 {
        // Less than 8 fits.
        return us as u8;
    }
    let doublings = us.ilog2();
    let class = (doublings - 2) * 8 + u32::try_from((us >> (doublings - 3)) & 7).unwrap_or(7);
    u8::try_from(class).unwrap_or(u8::MAX)
}

/// Where a class begins, and how wide it is, in microseconds.
fn range(class: u8) -> (u64, u64) {
    let class = u64::from(class);
    if class < 8 {
        return (class, 1);
    }
    let shift = class / 8 - 1;
    ((8 + class % 8) << shift, 1 << shift)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_time_lies_in_its_class(us in 0u64..(1 << 34)) {
            let (low, width) = range(class(Duration::from_micros(us)));
            prop_assert!((low..low + width).contains(&us));
            prop_assert!(us < 8 || width * 8 <= us);
        }

        #[test]
        fn a_percentile_is_exact_to_an_eighth(mut all in prop::collection::vec(0u64..20_000_000, 1..300)) {
            let mut times = Times::default();
            for us in &all {
                times.add(Duration::from_micros(*us));
            }
            all.sort_unstable();
            let exact = all[(all.len() * 95).div_ceil(100) - 1];
            let told = times.percentile(95).unwrap().as_micros();
            let told = u64::try_from(told).unwrap();
            prop_assert!(told.abs_diff(exact) <= exact / 8 + 1, "{told} for {exact}");
        }
    }

    #[test]
    fn a_time_beyond_all_classes_is_in_the_last() {
        assert_eq!(class(Duration::MAX), u8::MAX);
        assert_eq!(Times::default().percentile(95), None);
    }
}
