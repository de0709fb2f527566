//! Why a token was not accepted: for metrics and the log. Callers hear one text for all of it.

/// The rule that a token did not hold to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refused {
    /// Longer than any token needs to be.
    TooLong,
    /// No JWT, or one with two readings.
    Malformed,
    /// Signed in a way that does not exist here, or that is not the key's.
    Algorithm,
    /// The issuer has no such key.
    KeyUnknown,
    /// Not signed by that key.
    Signature,
    /// Of another issuer.
    Issuer,
    /// For somebody else.
    Audience,
    /// It has ended, or says of no end.
    Expired,
    /// It begins later.
    NotYetValid,
    /// It names nobody, or nobody whose name can be shown.
    Subject,
    /// It names no role, one that is none, or more than one.
    Role,
    /// It pins a profile that there is not.
    Profile,
    /// The tenant of its issuer is not there.
    Tenant,
}

impl Refused {
    /// Every rule.
    pub const ALL: [Self; 13] = [
        Self::TooLong,
        Self::Malformed,
        Self::Algorithm,
        Self::KeyUnknown,
        Self::Signature,
        Self::Issuer,
        Self::Audience,
        Self::Expired,
        Self::NotYetValid,
        Self::Subject,
        Self::Role,
        Self::Profile,
        Self::Tenant,
    ];

    /// The name in metrics and logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TooLong => "too_long",
            Self::Malformed => "malformed",
            Self::Algorithm => "algorithm",
            Self::KeyUnknown => "key_unknown",
            Self::Signature => "signature",
            Self::Issuer => "issuer",
            Self::Audience => "audience",
            Self::Expired => "expired",
            Self::NotYetValid => "not_yet_valid",
            Self::Subject => "subject",
            Self::Role => "role",
            Self::Profile => "profile",
            Self::Tenant => "tenant",
        }
    }
}
