//! Work on a data directory where no gateway runs: a token for the owner whose admin tokens are lost, the end of a root
//! key.
//!
//! Owns the directory for as long as it takes, so a running gateway is never written beside. Makes nothing where there
//! is no store, and no key where one is missing.

mod roots;

use std::{path::Path, sync::Arc};

use tokio_util::task::TaskTracker;

pub use self::roots::retire_root;
use crate::{
    audit::Sealer,
    changes::{By, Changes},
    clock::Clock,
    data_dir::{DataDir, DataDirError},
    error::{Error, Missing},
    identity::Secret,
    journal::Journal,
    keys::{KeyError, Keyring},
    snapshot::Snapshots,
    store::{Store, StoreConfig, StoreError, StorePlace},
    tokens::{Token, Tokens, Wanted},
};

/// Why it was not done.
#[derive(Debug, thiserror::Error)]
pub enum OfflineError {
    /// There is no gateway's store.
    #[error("there is no {0}: give the data directory of a gateway that was started once")]
    NoStore(std::path::PathBuf),
    /// The data directory, most often because a gateway runs in it.
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    /// The keys cannot be used.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store holds no row, so it cannot be the one that the keys belong to.
    #[error(
        "the database holds no row of a record, so it is not the one these keys belong to; name that one"
    )]
    NoRows,
    /// The folder of keys holds no such root.
    #[error("keys/ holds no root {0}")]
    NoRoot(String),
    /// Secrets need the root.
    #[error("secrets are still wrapped with root {0}; a gateway wraps them anew while it runs")]
    StillWraps(String),
    /// The record needs the root.
    #[error("rows of the record were sealed with root {0} and could never be verified without it")]
    StillSeals(String),
    /// The token is none that can be made.
    #[error(transparent)]
    Refused(#[from] Error),
}

/// Makes a token of the first tenant; on the record it is made by nobody, through `cli`.
///
/// # Errors
/// When a gateway runs in `dir` or on the database, when store or keys cannot be used, or when the token is refused.
pub async fn create_token(
    dir: &Path,
    store: StoreConfig,
    wanted: Wanted,
    clock: Clock,
) -> Result<(Token, Secret), OfflineError> {
    if let StorePlace::File(path) = &store.place
        && !path.is_file()
    {
        return Err(OfflineError::NoStore(path.clone()));
    }
    // Released at the end, when nothing here writes any more.
    let owned = DataDir::own(dir)?;
    owned.expect_record(&store.place)?;
    let keys = Arc::new(Keyring::open_existing(dir)?);
    let store = Store::open(store).await?;
    let journal = Journal::start(store.clone(), Sealer::new(keys), clock.clone());
    let tasks = TaskTracker::new();
    let changes = Changes::new(
        store.clone(),
        journal.clone(),
        Snapshots::new(store),
        clock,
        tasks.clone(),
    );
    let made = make(changes, wanted).await;
    tasks.close();
    tasks.wait().await;
    journal.close().await;
    Ok(made?)
}

async fn make(changes: Changes, wanted: Wanted) -> Result<(Token, Secret), Error> {
    let tenant = changes
        .home_tenant()
        .await?
        .ok_or(Error::NotFound(Missing::Resource("tenant")))?;
    let by = By {
        facade: "cli",
        ..By::gateway(tenant)
    };
    Tokens::new(changes).create(by, wanted).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        audit::{
            EventKind, Verdict,
            list::{self, Filter},
        },
        config::CoreConfig,
        identity::Presented,
        proof::verify_directory,
        start::Core,
    };

    fn file(dir: &Path) -> StoreConfig {
        CoreConfig::new(dir).store()
    }

    async fn started(dir: &Path) -> Core {
        Core::start(CoreConfig::new(dir), Clock::system()).await.unwrap()
    }

    fn wanted(name: &str) -> Wanted {
        Wanted {
            name: name.into(),
            role: "admin".into(),
            ..Wanted::default()
        }
    }

    #[tokio::test]
    async fn a_token_made_without_a_gateway_opens_the_next_one_and_is_on_the_record() {
        let dir = tempfile::tempdir().unwrap();
        started(dir.path()).await.shutdown().await;

        let (token, text) = create_token(dir.path(), file(dir.path()), wanted("rescue"), Clock::system())
            .await
            .unwrap();

        let store = Store::open(StoreConfig::sqlite_read_only(dir.path().join("toolgate.db")))
            .await
            .unwrap();
        let tenants = store.tenants().await.unwrap();
        let tenant = tenants.iter().find(|tenant| tenant.name == "default").unwrap();
        let snapshot = Snapshots::new(store.clone())
            .get(&tenant.id)
            .await
            .unwrap()
            .unwrap();
        let presented = Presented::parse(text.reveal()).unwrap();
        let live = snapshot.token(&presented, Clock::system().wall_us()).unwrap();
        assert_eq!((live.id, &*live.name), (token.id, "rescue"));

        let newest = list::list(&store, &tenant.id, &Filter::default(), None, 1)
            .await
            .unwrap();
        let event = newest.entries.into_iter().next().unwrap().event.unwrap();
        assert_eq!((event.kind, &*event.facade), (EventKind::TokenCreated, "cli"));
        assert!(event.detail.contains("rescue"), "{}", event.detail);
        let reports = verify_directory(dir.path(), None).await.unwrap();
        assert!(
            reports
                .iter()
                .all(|report| report.verification.verdict == Verdict::Intact)
        );
        started(dir.path()).await.shutdown().await;
    }

    #[tokio::test]
    async fn no_token_is_made_beside_a_running_gateway() {
        let dir = tempfile::tempdir().unwrap();
        let core = started(dir.path()).await;
        let refused = create_token(dir.path(), file(dir.path()), wanted("rescue"), Clock::system())
            .await
            .unwrap_err();
        assert!(
            matches!(refused, OfflineError::DataDir(DataDirError::InUse { .. })),
            "{refused}"
        );
        core.shutdown().await;
    }

    #[tokio::test]
    async fn a_folder_that_is_no_data_directory_is_left_empty() {
        let dir = tempfile::tempdir().unwrap();
        let refused = create_token(dir.path(), file(dir.path()), wanted("rescue"), Clock::system())
            .await
            .unwrap_err();
        assert!(matches!(refused, OfflineError::NoStore(_)), "{refused}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
