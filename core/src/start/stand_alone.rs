//! What a process that stands alone brings to its core: itself as a principal, and the back ends it was given.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolgate_contract::ids::{TargetId, TenantId, TokenId};

use super::StartError;
use crate::{
    adapters::{Defaults, Kind as Dialled},
    config::{BackEnd, BackEndCredential, StandAlone},
    error::Error,
    identity::{Kind, Minted, Role, Secret},
    secrets::{ProcessSecrets, SecretRef},
    snapshot::{Process, RelayStanding, Snapshots, Target, Token},
    upstream::reader::PRIVATE,
};

/// The name of its principal.
const POD: &str = "pod";
/// The back ends of a process, read.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) back_ends: Vec<Arc<Target>>,
    pub(super) secrets: ProcessSecrets,
}

/// Reads what the process was given.
pub(super) fn read(alone: &StandAlone) -> Result<Given, StartError> {
    let mut given = Given::default();
    for back_end in &alone.back_ends {
        let target = given.target(back_end, alone.read_only);
        let target = target.map_err(|error| StartError::BackEnd {
            adapter: back_end.adapter,
            what: told(error),
        })?;
        given.back_ends.push(Arc::new(target));
    }
    Ok(given)
}

/// Shows the process to its tenant; gives the credential with which it speaks, which is in memory alone.
pub(super) async fn bring(
    snapshots: &Snapshots,
    tenant: TenantId,
    back_ends: Vec<Arc<Target>>,
    read_only: bool,
) -> Result<Secret, Error> {
    let minted = Minted::new(Kind::Api, &tenant);
    let minted = minted.map_err(|_| Error::internal("the system gives no random bytes"))?;
    let token = Token {
        id: TokenId::mint(),
        kind: Kind::Api,
        name: POD.into(),
        role: Role::Agent,
        profile: None,
        expires_us: None,
    };
    let process = Process {
        tenant,
        token: (minted.hash, token),
        back_ends,
        read_only,
    };
    snapshots.bring(process).await?;
    Ok(minted.text)
}

impl Given {
    fn target(&mut self, back_end: &BackEnd, read_only: bool) -> Result<Target, Error> {
        let kind = Dialled::of(back_end.adapter)
            .ok_or_else(|| Error::invalid("config", "is of no back end of agents"))?;
        let settings = kind.settings(settings(back_end, read_only), Defaults { local: true })?;
        Ok(Target {
            id: TargetId::mint(),
            adapter: back_end.adapter,
            name: POD.into(),
            disabled: false,
            relay: RelayStanding::default(),
            relay_key: None,
            secret: Some(self.secret(kind, &back_end.credential)?),
            settings: Value::Object(settings),
            // Nothing is put down about what stands in no row, so it is never due to be looked at again.
            validation: json!({"checkedUs": i64::MAX}),
            version: 1,
        })
    }

    fn secret(&mut self, kind: Dialled, credential: &BackEndCredential) -> Result<SecretRef, Error> {
        let given = match credential {
            BackEndCredential::None => None,
            BackEndCredential::Token(token) => Some(json!({"token": token.as_str()})),
            BackEndCredential::Client { id, secret, .. } => {
                Some(json!({"clientId": id, "clientSecret": secret.as_str()}))
            }
        };
        let value = match given.as_ref().and_then(Value::as_object) {
            Some(given) => kind.credential(given)?,
            None => kind
                .nobody()
                .ok_or_else(|| Error::invalid("credential", "is needed"))?,
        };
        Ok(self.secrets.take(value))
    }
}

fn settings(back_end: &BackEnd, read_only: bool) -> Map<String, Value> {
    let access = if read_only { "read_only" } else { "read_write" };
    let mut settings = Map::from_iter([
        ("baseUrl".to_owned(), back_end.url.as_str().into()),
        ("access".to_owned(), access.into()),
        // Back ends of a pod are beside it.
        ("allowPrivate".to_owned(), json!(PRIVATE)),
    ]);
    if let BackEndCredential::Client { issuer, .. } = &back_end.credential {
        settings.insert("issuer".into(), issuer.as_str().into());
    }
    settings
}

// Of the place only what is wrong is of use here: the binary knows which variable it was.
fn told(error: Error) -> String {
    match error {
        Error::Invalid { place, what } => match place.as_str() {
            "config.baseUrl" => what,
            place => format!("{}: {what}", place.trim_start_matches("config.")),
        },
        other => other.to_string(),
    }
}
