//! What whoever keeps the record should put on it about its own checkpoints.

/// Something is wrong, and was not before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Alarm {
    /// A tenant's record does not hold the row that was signed last.
    Regressed {
        /// The tenant.
        tenant_id: String,
        /// Place of the row.
        signed: i64,
    },
    /// Rounds that were signed are missing in the files.
    Lost {
        /// Which, for operators.
        why: String,
    },
    /// A round was not signed.
    NotSigned {
        /// Why, for operators.
        why: String,
    },
}
