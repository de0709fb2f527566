//! What each role may do (`gateway.md` §1).

use crate::error::Error;

/// The four roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Configures, calls and reads everything.
    Admin,
    /// Calls tools, sees targets, tests connections, reads its own calls.
    Engineer,
    /// Reads, verifies and exports the record; changes and calls nothing.
    Auditor,
    /// Calls the tools of its profile.
    Agent,
}

/// What a request wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Ask who one is.
    SeeSelf,
    /// Make a link that signs in to the pages as oneself.
    SignIn,
    /// List and call tools.
    UseTools,
    /// See targets with their configuration and state.
    SeeTargets,
    /// Add, change and remove targets, enrolments and relays.
    ChangeTargets,
    /// Test the connection to a target.
    TestTargets,
    /// See the policy and profiles.
    SeePolicy,
    /// Change the policy.
    ChangePolicy,
    /// Make, change and remove profiles.
    ChangeProfiles,
    /// Make, list and revoke tokens.
    ManageTokens,
    /// Read one's own calls on the record.
    ReadOwnCalls,
    /// Read, verify and export the whole record.
    ReadRecord,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 4] = [Self::Admin, Self::Engineer, Self::Auditor, Self::Agent];

    /// The name in tokens, on the wire and on the record.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Engineer => "engineer",
            Self::Auditor => "auditor",
            Self::Agent => "agent",
        }
    }

    /// The role of this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == text)
    }

    /// Whether the role may do this.
    #[must_use]
    pub fn may(self, action: Action) -> bool {
        use Action::{
            ReadOwnCalls, ReadRecord, SeePolicy, SeeSelf, SeeTargets, SignIn, TestTargets, UseTools,
        };
        if action == SeeSelf {
            return true;
        }
        match self {
            Self::Admin => true,
            Self::Engineer => matches!(
                action,
                SignIn | UseTools | SeeTargets | TestTargets | SeePolicy | ReadOwnCalls
            ),
            Self::Auditor => matches!(
                action,
                SignIn | SeeTargets | SeePolicy | ReadOwnCalls | ReadRecord
            ),
            Self::Agent => matches!(action, UseTools),
        }
    }

    /// Refuses what the role may not do.
    pub fn require(self, action: Action) -> Result<(), Error> {
        if self.may(action) {
            Ok(())
        } else {
            Err(Error::RoleForbidden {
                role: self.as_str(),
                action: action.verb(),
            })
        }
    }
}

impl Action {
    fn verb(self) -> &'static str {
        match self {
            Self::SeeSelf => "ask who it is",
            Self::SignIn => "sign in to the pages, which are for people; ask for a token of another role",
            Self::UseTools => "list or call tools",
            Self::SeeTargets => "see targets",
            Self::ChangeTargets => "change targets",
            Self::TestTargets => "test targets",
            Self::SeePolicy => "see policy and profiles",
            Self::ChangePolicy => "change the policy",
            Self::ChangeProfiles => "change profiles",
            Self::ManageTokens => "manage tokens",
            Self::ReadOwnCalls => "read the audit record",
            Self::ReadRecord => "read, verify or export the whole audit record",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_may_exactly_what_the_table_says() {
        use Action::*;
        let table = [
            (SeeSelf, [true, true, true, true]),
            (SignIn, [true, true, true, false]),
            (UseTools, [true, true, false, true]),
            (SeeTargets, [true, true, true, false]),
            (ChangeTargets, [true, false, false, false]),
            (TestTargets, [true, true, false, false]),
            (SeePolicy, [true, true, true, false]),
            (ChangePolicy, [true, false, false, false]),
            (ChangeProfiles, [true, false, false, false]),
            (ManageTokens, [true, false, false, false]),
            (ReadOwnCalls, [true, true, true, false]),
            (ReadRecord, [true, false, true, false]),
        ];
        for (action, expected) in table {
            assert_eq!(Role::ALL.map(|role| role.may(action)), expected, "{action:?}");
        }
    }
}
