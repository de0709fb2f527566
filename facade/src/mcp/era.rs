//! Which of the two protocols a request speaks, and what its `_meta` asks for.
//!
//! A request that names its revision in `_meta` stands for itself; all others belong to a conversation that began with
//! `initialize`. Pure.

use bytes::Bytes;
use http::StatusCode;

use super::{
    envelope::{Params, pick, text},
    fault::Fault,
    level::Level,
    revision::{Legacy, MODERN},
};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const PROGRESS: &str = "progressToken";

/// No progress token is longer; it is repeated in every notification.
const LONGEST_TOKEN: usize = 1024;

/// How a request is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// Within a conversation that began with `initialize`, at this revision.
    Legacy(Legacy),
    /// By itself, as revision 2026-07-28 has it.
    Modern,
}

impl Era {
    pub(super) fn is_modern(self) -> bool {
        self == Self::Modern
    }
}

/// What the `_meta` of a request asks for.
#[derive(Debug, Default)]
pub(super) struct Meta {
    /// The revision, where the request names one. Not yet judged.
    pub(super) version: Option<String>,
    pub(super) has_capabilities: bool,
    /// A text or whole number, to be repeated as it is.
    pub(super) progress: Option<Bytes>,
    pub(super) log_level: Option<Level>,
}

impl Meta {
    pub(super) fn read(params: &Params) -> Result<Self, Fault> {
        let Some(meta) = &params.meta else {
            return Ok(Self::default());
        };
        let object = std::str::from_utf8(meta).unwrap_or_default();
        let found = pick(object, &[VERSION, CAPABILITIES, LOG_LEVEL, PROGRESS])
            .map_err(|error| malformed(format!("member _meta: {error}")))?;
        // A member that is null is as good as absent.
        let [version, capabilities, log_level, progress] =
            found.map(|raw| Some(raw?.get()).filter(|raw| *raw != "null"));
        let version = version.map(|raw| {
            serde_json::from_str(raw).map_err(|_| malformed(format!("member {VERSION} must be a text")))
        });
        if capabilities.is_some_and(|raw| !raw.starts_with('{')) {
            return Err(malformed(format!("member {CAPABILITIES} must be an object")));
        }
        Ok(Self {
            version: version.transpose()?,
            has_capabilities: capabilities.is_some(),
            progress: progress.map(|raw| token(meta, raw)).transpose()?,
            log_level: log_level.map(|raw| Level::read(raw.as_bytes())).transpose()?,
        })
    }

    /// The same for a request to another server, who says itself which revisions it speaks.
    pub(super) fn check_of_server(&self) -> Result<(), Fault> {
        match self.version.as_deref() {
            Some(version) if version != MODERN => Ok(()),
            Some(_) | None => self.check_modern(),
        }
    }

    /// Refuses a request of revision 2026-07-28 that does not say what each one has to, and revisions of the future.
    pub(super) fn check_modern(&self) -> Result<(), Fault> {
        let Some(version) = &self.version else {
            return Err(malformed(format!("params._meta lacks {VERSION}")));
        };
        if version != MODERN {
            return Err(Fault::revision(version));
        }
        if !self.has_capabilities {
            return Err(malformed(format!("params._meta lacks {CAPABILITIES}")));
        }
        Ok(())
    }
}

/// The era of a request by its own words; `header` is the revision that a transport names beside it.
///
/// `initialize` is of the old era unless its `_meta` says otherwise.
pub(super) fn is_modern(method: &str, meta: &Meta, header: Option<&str>) -> bool {
    meta.version.is_some() || (header == Some(MODERN) && method != "initialize")
}

fn token(meta: &Bytes, raw: &str) -> Result<Bytes, Fault> {
    let is_token = match raw.starts_with('"') {
        true => text(&Bytes::copy_from_slice(raw.as_bytes())).is_some(),
        false => serde_json::from_str::<i64>(raw).is_ok(),
    };
    if raw.len() > LONGEST_TOKEN || !is_token {
        return Err(malformed(
            "member progressToken must be a short text or a whole number".into(),
        ));
    }
    Ok(meta.slice_ref(raw.as_bytes()))
}

fn malformed(message: String) -> Fault {
    Fault::params(message).with_status(StatusCode::BAD_REQUEST)
}
