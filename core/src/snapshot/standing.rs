//! Under which profile a caller stands, and why: pinned before asked, and what happens to a name that nobody knows.

use std::sync::Arc;

use super::Snapshot;
use crate::profiles::{Profile, UnknownProfile};

/// Under which profile a caller stands.
#[derive(Debug, Clone)]
pub struct Standing {
    /// The profile; none where nothing is hidden by one.
    pub profile: Option<Arc<Profile>>,
    /// Why it is this one.
    pub source: Source,
}

/// Why a caller stands under a profile, or under none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// Nobody named one; an empty name is none.
    Unset,
    /// It is pinned on the credential.
    Pinned,
    /// The request names it.
    Asked,
    /// The request names one that nobody knows, which opens.
    UnknownOpen,
    /// The request names one that nobody knows, which closes.
    UnknownClosed,
}

impl Snapshot {
    /// Under which profile a caller stands whose credential pins `pinned` and who asks for `asked`.
    #[must_use]
    pub fn standing(
        &self,
        pinned: Option<&Arc<Profile>>,
        asked: Option<&str>,
        unknown: UnknownProfile,
    ) -> Standing {
        if let Some(pinned) = pinned {
            return Standing {
                profile: Some(Arc::clone(pinned)),
                source: Source::Pinned,
            };
        }
        let Some(asked) = asked.filter(|name| !name.is_empty()) else {
            return Standing {
                profile: None,
                source: Source::Unset,
            };
        };
        let (profile, source) = match (self.profile(asked), unknown) {
            (Some(profile), _) => (Some(profile), Source::Asked),
            (None, UnknownProfile::Open) => (None, Source::UnknownOpen),
            (None, UnknownProfile::Closed) => (Some(Profile::closed()), Source::UnknownClosed),
        };
        Standing { profile, source }
    }
}
