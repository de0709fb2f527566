//! Chance that can be repeated.

/// Xorshift: good enough to draw kill points.
pub(super) struct Dice(u64);

impl Dice {
    #[allow(
        clippy::disallowed_methods,
        reason = "a switch of this test, no configuration"
    )]
    pub(super) fn new() -> Self {
        let given = std::env::var("TOOLGATE_KILL_SEED")
            .ok()
            .and_then(|seed| seed.parse().ok());
        let drawn = || {
            u64::from(std::process::id())
                ^ std::time::UNIX_EPOCH
                    .elapsed()
                    .map_or(1, |since| since.as_secs() << 20)
        };
        Self(given.unwrap_or_else(drawn).max(1))
    }

    /// What repeats the rolls to come.
    pub(super) fn seed(&self) -> u64 {
        self.0
    }

    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        low + self.0 % (high - low)
    }
}
