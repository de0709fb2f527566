//! What must be durable, and the proofs that it is.

/// Proof that a call's intent is durable. Only the journal makes one; without it nothing can be contacted.
#[derive(Debug)]
pub struct Contact(());
