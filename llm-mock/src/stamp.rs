//! Ids and times of answers: made of the request's bytes, so that the same request gives the same answer.

/// When every answer of the mock was made: it has no clock.
pub(crate) const CREATED: u64 = 1_767_225_600;

/// An id with this prefix for these bytes (FNV-1a, 64 bits).
pub(crate) fn id(prefix: &str, body: &[u8]) -> String {
    let hash = body.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{prefix}{hash:016x}")
}

/// A count of tokens that is only plausible: four bytes each.
pub(crate) fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(4)
}
