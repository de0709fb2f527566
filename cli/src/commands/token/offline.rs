//! `token create --offline`: writes the data directory itself. Whoever owns its files is its admin.

use std::path::Path;

use serde_json::{Value, json};
use toolgate_core::{
    clock::Clock,
    data_dir::DataDirError,
    offline::{self, OfflineError},
    rfc3339,
    store::StoreConfig,
    tokens::Wanted,
};

use crate::failure::{Exit, Failure};

/// Makes a token where no gateway runs; answers as the gateway would.
pub(super) async fn create(dir: &Path, store: StoreConfig, wanted: Wanted) -> Result<Value, Failure> {
    let (token, text) = offline::create_token(dir, store, wanted, Clock::system())
        .await
        .map_err(|error| refused(&error))?;
    Ok(json!({
        "id": token.id.to_string(),
        "name": token.name,
        "role": token.role,
        "profile": token.profile,
        "createdAt": rfc3339::format(token.created_us),
        "expiresAt": token.expires_us.map(rfc3339::format),
        "token": text.reveal(),
    }))
}

fn refused(error: &OfflineError) -> Failure {
    match error {
        OfflineError::DataDir(DataDirError::InUse { dir, pid }) => {
            Failure::failed(format!("{dir} is in use by process {pid}"))
                .next("leave out --offline to ask the gateway that runs there, or stop it first")
        }
        OfflineError::NoStore(_) => Failure::usage(error.to_string()).next("--data-dir DIR names it"),
        OfflineError::Refused(_) => Failure::new(Exit::Refused, error.to_string()),
        OfflineError::DataDir(_)
        | OfflineError::Keys(_)
        | OfflineError::Store(_)
        | OfflineError::NoRows
        | OfflineError::NoRoot(_)
        | OfflineError::StillWraps(_)
        | OfflineError::StillSeals(_) => Failure::failed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use toolgate_core::{Core, CoreConfig};

    use super::*;

    fn wanted(name: &str) -> Wanted {
        Wanted {
            name: name.into(),
            role: "admin".into(),
            ..Wanted::default()
        }
    }

    #[tokio::test]
    async fn a_token_is_made_where_no_gateway_runs_and_only_there() {
        let dir = tempfile::tempdir().unwrap();
        let nothing = create(dir.path(), CoreConfig::new(dir.path()).store(), wanted("rescue"))
            .await
            .unwrap_err();
        assert_eq!(nothing.exit, Exit::Usage);

        let core = Core::start(CoreConfig::new(dir.path()), Clock::system())
            .await
            .unwrap();
        let running = create(dir.path(), CoreConfig::new(dir.path()).store(), wanted("rescue"))
            .await
            .unwrap_err();
        assert!(running.next.unwrap().contains("leave out --offline"));
        core.shutdown().await;

        let made = create(dir.path(), CoreConfig::new(dir.path()).store(), wanted("rescue"))
            .await
            .unwrap();
        assert!(made["token"].as_str().unwrap().starts_with("tgk_"));
        let taken = create(dir.path(), CoreConfig::new(dir.path()).store(), wanted("rescue"))
            .await
            .unwrap_err();
        assert_eq!(taken.exit, Exit::Refused, "{taken:?}");
        assert!(taken.message.contains("already named rescue"), "{taken:?}");
    }
}
