//! A stand-in for Vault: tokens, one role, and a KV engine with versions, as its API is documented.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use toolgate_contract::ids::TenantId;

use crate::secrets::remote::stand_in::{Asked, Reply, StandIn};

/// The server.
pub(super) struct Peer {
    server: StandIn,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// Versions of each path; a deleted one has no value.
    secrets: HashMap<String, Vec<Option<String>>>,
    tokens: HashSet<String>,
    logins: usize,
    forbids: bool,
}

impl Peer {
    pub(super) async fn start() -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        state.lock().unwrap().tokens.insert("root-token".into());
        let shared = Arc::clone(&state);
        let server = StandIn::start(move |asked| shared.lock().unwrap().answer(asked)).await;
        Self { server, state }
    }

    pub(super) fn url(&self) -> String {
        self.server.url.clone()
    }

    pub(super) fn asked(&self) -> Vec<Asked> {
        self.server.asked()
    }

    pub(super) fn logins(&self) -> usize {
        self.state.lock().unwrap().logins
    }

    pub(super) fn put(&self, tenant: &TenantId, name: &str, object: &str) {
        let mut state = self.state.lock().unwrap();
        let versions = state.secrets.entry(format!("{tenant}/{name}")).or_default();
        versions.push(Some(object.to_owned()));
    }

    pub(super) fn delete(&self, tenant: &TenantId, name: &str) {
        let mut state = self.state.lock().unwrap();
        let versions = state.secrets.get_mut(&format!("{tenant}/{name}")).unwrap();
        *versions.last_mut().unwrap() = None;
    }

    pub(super) fn revoke_tokens(&self) {
        self.state.lock().unwrap().tokens.clear();
    }

    pub(super) fn forbid(&self) {
        self.state.lock().unwrap().forbids = true;
    }
}

impl State {
    fn answer(&mut self, asked: &Asked) -> Reply {
        if asked.path == "/v1/auth/approle/login" {
            return Some(self.log_in(&asked.body));
        }
        if self.forbids || !self.tokens.contains(asked.header("x-vault-token")) {
            return Some((403, json!({"errors": ["permission denied"]}).to_string()));
        }
        let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
        let never = (404, json!({"errors": []}).to_string());
        let Some(versions) = path
            .strip_prefix("/v1/teams/kv/data/toolgate/")
            .and_then(|path| self.secrets.get(path))
        else {
            return Some(never);
        };
        let newest = versions.len();
        let version = query
            .strip_prefix("version=")
            .map_or(newest, |n| n.parse().unwrap());
        let metadata = |deleted: &str| {
            json!({
                "created_time": "2026-01-01T00:00:00Z", "custom_metadata": null, "deletion_time": deleted,
                "destroyed": false, "version": version
            })
        };
        Some(match versions.get(version - 1) {
            None => never,
            Some(None) => {
                let data = json!({"data": null, "metadata": metadata("2026-01-02T00:00:00Z")});
                (404, json!({"request_id": "r", "data": data}).to_string())
            }
            Some(Some(object)) => {
                let metadata = metadata("");
                (
                    200,
                    format!(
                        r#"{{"request_id":"r","lease_id":"","renewable":false,"lease_duration":0,"data":{{"data":{object},"metadata":{metadata}}},"wrap_info":null,"warnings":null,"auth":null}}"#
                    ),
                )
            }
        })
    }

    fn log_in(&mut self, body: &str) -> (u16, String) {
        let body: Value = serde_json::from_str(body).unwrap();
        if body["role_id"] != "the-role" || body["secret_id"] != "the-secret-id" {
            return (400, json!({"errors": ["invalid role or secret ID"]}).to_string());
        }
        self.logins += 1;
        let token = format!("issued-by-the-stand-in-{}", self.logins);
        self.tokens.insert(token.clone());
        let auth = json!({"client_token": token, "lease_duration": 3600, "renewable": true});
        (200, json!({"request_id": "r", "auth": auth}).to_string())
    }
}
