//! Which of a relay's request numbers were seen: each counts once, in whatever order tasks of the relay send them.

/// How far behind the newest number one may come.
const WIDTH: u64 = 64;

/// The newest number, and a bit for each of those just before it.
#[derive(Debug, Default)]
pub(super) struct Window {
    newest: Option<u64>,
    seen: u64,
}

impl Window {
    /// False for a number that was seen, or is too old to know.
    pub(super) fn take(&mut self, number: u64) -> bool {
        let Some(newest) = self.newest else {
            (self.newest, self.seen) = (Some(number), 1);
            return true;
        };
        if number > newest {
            let ahead = number - newest;
            self.seen = if ahead < WIDTH { self.seen << ahead } else { 0 } | 1;
            self.newest = Some(number);
            return true;
        }
        let behind = newest - number;
        let bit = if behind < WIDTH { 1 << behind } else { return false };
        let is_new = self.seen & bit == 0;
        self.seen |= bit;
        is_new
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_number_counts_once_and_an_old_one_not_at_all() {
        let mut window = Window::default();
        for (number, wanted) in [
            (5, true),
            (5, false),
            (3, true),
            (3, false),
            (68, true),
            (5, false),
            (4, false),
            (6, true),
            (u64::MAX, true),
            (u64::MAX, false),
            (u64::MAX - 63, true),
            (u64::MAX - 64, false),
            (68, false),
        ] {
            assert_eq!(window.take(number), wanted, "{number}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_taken_was_never_taken_before(numbers in prop::collection::vec(0_u64..300, 0..300)) {
            let (mut window, mut taken) = (Window::default(), HashSet::new());
            for number in numbers {
                let newest = taken.iter().max().copied();
                let is_fresh = !taken.contains(&number) && newest.is_none_or(|newest| number + WIDTH > newest);
                prop_assert_eq!(window.take(number), is_fresh);
                if is_fresh {
                    taken.insert(number);
                }
            }
        }
    }
}
