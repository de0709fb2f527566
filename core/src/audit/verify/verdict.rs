//! What a verification can find, and what the head says about a chain whose rows are sound.

use toolgate_contract::ids::TenantId;

use super::Head;

/// What the verification of a chain found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Every row is as it was sealed, and the head is that of the last.
    Intact,
    /// A row is not what was sealed at its place.
    Edited,
    /// A row does not name the row before it.
    BrokenLink,
    /// Rows are missing in the middle.
    Gap,
    /// Rows stand at each other's places.
    OutOfOrder,
    /// A row was put among the sealed ones.
    Inserted,
    /// The head is not that of the last row.
    HeadMismatch,
    /// Rows are missing at the end.
    Truncated,
    /// The chain is gone.
    ChainMissing,
    /// A row was not sealed with the gateway's key.
    BadMac,
    /// A row names an algorithm that is not accepted.
    UnknownAlgorithm,
    /// The chain differs from what was vouched for outside the store.
    Fork,
    /// What should vouch for the chain is not genuine.
    BadSignature,
}

impl Verdict {
    /// The name in answers and output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Intact => "intact",
            Self::Edited => "edited",
            Self::BrokenLink => "broken_link",
            Self::Gap => "gap",
            Self::OutOfOrder => "out_of_order",
            Self::Inserted => "inserted",
            Self::HeadMismatch => "head_mismatch",
            Self::Truncated => "truncated",
            Self::ChainMissing => "chain_missing",
            Self::BadMac => "bad_mac",
            Self::UnknownAlgorithm => "unknown_algorithm",
            Self::Fork => "fork",
            Self::BadSignature => "bad_signature",
        }
    }
}

/// The result of verifying one chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// Intact, or the first fault.
    pub verdict: Verdict,
    /// Rows looked at.
    pub rows: i64,
    /// Place of the first fault; 0 when intact.
    pub seq: i64,
    /// The fault in a sentence; empty when intact.
    pub message: String,
    /// The last row before the first fault; the end of the chain when intact.
    pub head: Head,
    /// The first place that was looked at.
    pub from: i64,
    /// Checkpoints that were held against the rows.
    pub checkpoints: i64,
    /// Place of the last of these; 0 when there was none.
    pub covered: i64,
}

impl Verification {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.verdict == Verdict::Intact
    }
}

/// Verdict, place and sentence.
pub(super) type Judgement = (Verdict, i64, String);

/// The verdict on a chain whose rows are all sound. `teller` says where it should end.
pub(super) fn of_head(tenant: &TenantId, tip: &Head, head: Option<Head>, teller: &str) -> Judgement {
    let last = tip.seq;
    match head {
        // Refusals without a tenant go there, and there may have been none. Every other chain begins with its tenant.
        None if last == 0 && *tenant == TenantId::system() => (Verdict::Intact, 0, String::new()),
        None if last == 0 => gone(),
        None => (
            Verdict::HeadMismatch,
            last,
            format!("there is no head, though there are {last} rows"),
        ),
        Some(head) if head.seq < last => set_back(&head, tip),
        Some(head) if head.seq == last && head.hash == tip.hash && last > 0 => {
            (Verdict::Intact, 0, String::new())
        }
        Some(_) if last == 0 => gone(),
        Some(head) if head.seq == last => (
            Verdict::HeadMismatch,
            last,
            format!("{teller} holds another hash than row {last}, the last"),
        ),
        Some(head) if head.hash == tip.hash => {
            let text = format!(
                "{teller} names place {}, but holds the hash of row {last}, the last",
                head.seq
            );
            (Verdict::HeadMismatch, last, text)
        }
        Some(head) => {
            let text = format!(
                "{teller} names place {}, but the last row is {last}: the end was cut off",
                head.seq
            );
            (Verdict::Truncated, last + 1, text)
        }
    }
}

pub(super) fn set_back(head: &Head, tip: &Head) -> Judgement {
    let text = format!(
        "the head names place {}, but sealed rows go on to {}",
        head.seq, tip.seq
    );
    (Verdict::HeadMismatch, head.seq.saturating_add(1), text)
}

fn gone() -> Judgement {
    (
        Verdict::ChainMissing,
        1,
        "the whole chain is gone: it must hold at least the event that made the tenant".to_owned(),
    )
}
