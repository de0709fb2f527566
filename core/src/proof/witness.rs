//! What the checkpoint files of a data directory say: of one tenant, and taken together.

use std::{iter, path::Path};

use toolgate_contract::ids::TenantId;

use super::witnessed::testimonies;
use crate::{
    anchor::{self, LastRound, PublicKeys},
    audit::verify::{Testimonies, Testimony},
};

/// The testimonies about the chain of `tenant`, as far as the files went now. Reads files when it is asked.
pub(super) fn of_directory(data_dir: &Path, tenant: &TenantId) -> Testimonies {
    let folder = anchor::folder(data_dir);
    if !folder.exists() && signed_before(data_dir) {
        let why = "the checkpoints are gone, though there is a key that signed them".into();
        return Box::new(iter::once(Testimony::Unsound { seq: 0, why }));
    }
    testimonies(&folder, tenant)
}

/// Tenants with checkpoints, or why the files of all tenants cannot be believed.
pub(super) fn survey(data_dir: &Path) -> Option<Result<Vec<(String, i64)>, String>> {
    // Before the files, which only go on.
    let last = match LastRound::read(data_dir) {
        Ok(last) => last,
        Err(why) => return Some(Err(why)),
    };
    let folder = anchor::folder(data_dir);
    let keys: PublicKeys = match anchor::public_keys(&folder) {
        Ok(keys) => keys,
        // Told of each tenant, unless there is nothing at all.
        Err(_) if last.is_none() => return None,
        Err(fault) => return Some(Err(format!("the public keys are not accepted: {fault}"))),
    };
    let survey = anchor::survey_of(&folder, &keys, last.as_ref()).map_err(|fault| fault.to_string());
    let survey = survey.and_then(|survey| match &last {
        Some(last) => last.check(&survey, keys.origin()).map(|()| survey),
        None => Ok(survey),
    });
    Some(survey.map(|survey| {
        let newest = survey.newest.into_iter();
        newest
            .map(|(tenant, checkpoint)| (tenant, checkpoint.seq))
            .collect()
    }))
}

fn signed_before(data_dir: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(data_dir.join("keys")) else {
        return false;
    };
    let mut names = entries.flatten().map(|entry| entry.file_name());
    names.any(|name| name.to_string_lossy().starts_with("checkpoint-"))
}
