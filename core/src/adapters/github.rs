//! Github, read only.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Adapter, settings::Defaults};
use crate::{error::Error, secrets::SecretValue, upstream::UpstreamError};

/// The settings of a target as they are stored, out of those that were asked for.
pub(super) fn settings(given: Map<String, Value>, _: Defaults) -> Result<Map<String, Value>, Error> {
    match given.keys().next() {
        None => Ok(given),
        Some(_) => Err(Error::invalid(
            "config",
            "targets of this type cannot be added yet",
        )),
    }
}

/// The credential as it is kept, out of what was given.
pub(super) fn credential(_: &Map<String, Value>) -> Result<SecretValue, Error> {
    Err(Error::invalid(
        "credential",
        "targets of this type cannot be added yet",
    ))
}

/// The adapter of one target.
pub(super) fn open(_: &Value, _: &Value, _: &SecretValue) -> Result<Arc<dyn Adapter>, UpstreamError> {
    Err(UpstreamError::Unreachable)
}
