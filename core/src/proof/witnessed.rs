//! What the checkpoint files of a gateway say about a chain, one after the other and in constant memory.

use std::{fs, io, path::Path, sync::Arc};

use toolgate_contract::ids::TenantId;

use super::testimony::of_checkpoint;
use crate::{
    anchor::{self, PublicKeys, Witness},
    audit::verify::{Testimonies, Testimony},
};

/// What the files in `folder` say about the chain of `tenant`, as far as they go now: open them before the rows are
/// read, so that no checkpoint is of a row that was not looked at. Nothing where no checkpoint was ever signed.
///
/// Reads files: not for a thread that serves others.
pub(super) fn testimonies(folder: &Path, tenant: &TenantId) -> Testimonies {
    match is_empty(folder) {
        Ok(false) => {}
        Ok(true) => return Box::new(std::iter::empty()),
        Err(error) => return only(format!("{} cannot be read: {error}", folder.display())),
    }
    let keys = match anchor::public_keys(folder) {
        Ok(keys) => Arc::new(keys),
        Err(fault) => return only(format!("the public checkpoint keys are not accepted: {fault}")),
    };
    match Witness::open(folder, Arc::clone(&keys), tenant.as_str()) {
        Ok(witness) => Box::new(heard(witness, keys, tenant.clone())),
        Err(error) => only(format!("the checkpoint files cannot be read: {error}")),
    }
}

fn heard(
    witness: Witness,
    keys: Arc<PublicKeys>,
    tenant: TenantId,
) -> impl Iterator<Item = Testimony> + Send {
    witness.map(move |read| match read {
        Ok(checkpoint) => of_checkpoint(&checkpoint, &tenant, &keys),
        Err(fault) => Testimony::Unsound {
            seq: 0,
            why: fault.to_string(),
        },
    })
}

fn is_empty(folder: &Path) -> io::Result<bool> {
    match fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

fn only(why: String) -> Testimonies {
    Box::new(std::iter::once(Testimony::Unsound { seq: 0, why }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        anchor::{Checkpoint, SigningKeys},
        clock::Clock,
    };

    fn told(folder: &Path, tenant: &TenantId) -> Vec<String> {
        let told = testimonies(folder, tenant).map(|testimony| match testimony {
            Testimony::Sound(mark) => format!("{} {}", mark.seq, mark.by),
            Testimony::Unsound { why, .. } => why,
        });
        told.collect()
    }

    #[test]
    fn files_testify_for_their_tenant_and_what_is_wrong_with_them_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let tenant = TenantId::mint();
        assert!(told(dir.path(), &tenant).is_empty());

        let keys = SigningKeys::open(dir.path(), &Clock::manual(0), false).unwrap();
        let folder = anchor::folder(dir.path());
        assert!(told(&folder, &tenant).is_empty());

        let checkpoint = Checkpoint::sign(keys.newest(), &tenant, 3, [3; 32], 0);
        let file = folder.join("1970-01-01.ndjson");
        fs::write(&file, checkpoint.to_line() + "\n").unwrap();
        assert_eq!(
            told(&folder, &tenant),
            ["3 the checkpoint of 1970-01-01T00:00:00.000000Z"]
        );
        assert!(told(&folder, &TenantId::system()).is_empty());

        fs::write(
            &file,
            checkpoint.to_line().replace("\"seq\":3", "\"seq\":4") + "\n",
        )
        .unwrap();
        let wrong = told(&folder, &tenant);
        assert!(
            wrong.len() == 1 && wrong[0].contains("line 1 of 1970-01-01.ndjson"),
            "{wrong:?}"
        );

        fs::remove_file(folder.join("keys.ndjson")).unwrap();
        let wrong = told(&folder, &tenant);
        assert!(
            wrong.len() == 1 && wrong[0].contains("public checkpoint keys"),
            "{wrong:?}"
        );
    }
}
