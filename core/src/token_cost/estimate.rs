//! What a result costs, estimated from its length: a tokeniser per call would cost more than the call.

/// Ten tokens' bytes: calibrated over JSON as back ends send it (25 to 36), what hosts print (19 to 62) and prose (42).
/// `tests.rs` holds the estimate against o200k over such results: never off by more than [`FACTOR`].
const BYTES_OF_TEN: usize = 32;

/// How far an estimate of a result may be off, either way.
#[cfg(test)]
pub(super) const FACTOR: f64 = 2.0;

/// Tokens that a result of so many bytes costs, about.
#[must_use]
pub fn estimated(bytes: usize) -> usize {
    bytes.saturating_mul(10).div_ceil(BYTES_OF_TEN)
}

/// Bytes that so many tokens are, about: what a cap in tokens comes to.
#[must_use]
pub fn bytes_of(tokens: u32) -> usize {
    let tokens = usize::try_from(tokens).unwrap_or(usize::MAX);
    tokens.saturating_mul(BYTES_OF_TEN) / 10
}
