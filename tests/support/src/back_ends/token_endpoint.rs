//! An authorization server: hands out tokens for client credentials, says where it does so, takes tokens back, and goes
//! down.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use data_encoding::BASE64;
use serde_json::{Value, json};

use super::{Asked, Says, asked::decoded, listening::Listening, lock};

/// Who may ask.
const CLIENT: &str = "pod-7";
/// With what. A canary: it may be looked for anywhere.
const SECRET: &str = "cs-CANARY-9876543210-thatNobodyMaySee";

/// A running authorization server. Dropping it ends it.
#[derive(Debug)]
pub struct TokenEndpoint {
    listening: Listening,
    script: Arc<Script>,
}

#[derive(Debug, Default)]
struct Script {
    asked: Mutex<Vec<Asked>>,
    expires_in: Mutex<Option<u64>>,
    down: Mutex<Option<Says>>,
    live: Live,
    handed_out: Mutex<Vec<String>>,
    /// Its own URL, once it has one.
    url: Mutex<String>,
}

/// The tokens that are live.
#[derive(Debug, Clone, Default)]
pub(super) struct Live(Arc<Mutex<BTreeSet<String>>>);

impl Live {
    pub(super) fn has(&self, token: &str) -> bool {
        lock(&self.0).contains(token)
    }
}

impl TokenEndpoint {
    /// Starts it on a port of the system's choice. Tokens last an hour unless it is told otherwise.
    pub async fn start() -> Self {
        let script = Arc::new(Script::default());
        *lock(&script.expires_in) = Some(3_600);
        let room = Arc::clone(&script);
        let listening = Listening::start(move |asked| room.answer(asked)).await;
        *lock(&script.url) = listening.url().to_owned();
        Self { listening, script }
    }

    /// Its name as an issuer, below which it says where tokens are handed out.
    #[must_use]
    pub fn issuer(&self) -> &str {
        self.listening.url()
    }

    /// Where tokens are handed out.
    #[must_use]
    pub fn token_url(&self) -> String {
        format!("{}/token", self.listening.url())
    }

    /// The credential that it knows.
    #[must_use]
    pub fn credential(&self) -> Value {
        json!({"clientId": CLIENT, "clientSecret": SECRET})
    }

    /// What nobody may see: the secret and every token so far.
    #[must_use]
    pub fn canaries(&self) -> Vec<String> {
        let tokens = lock(&self.script.handed_out).clone().into_iter();
        tokens.chain([SECRET.to_owned()]).collect()
    }

    /// Tokens say that they last so long from now on; `None` says nothing of it.
    pub fn expires_in(&self, seconds: Option<u64>) {
        *lock(&self.script.expires_in) = seconds;
    }

    /// Takes back every token that it handed out.
    pub fn revoke_all(&self) {
        lock(&self.script.live.0).clear();
    }

    /// Answers so instead of handing out tokens; `None` is as before.
    pub fn says(&self, says: Option<Says>) {
        *lock(&self.script.down) = says;
    }

    /// How many tokens it was asked for.
    #[must_use]
    pub fn asked_for_tokens(&self) -> usize {
        let asked = lock(&self.script.asked);
        asked.iter().filter(|asked| asked.path == "/token").count()
    }

    /// Everything it was asked.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        lock(&self.script.asked).clone()
    }

    pub(super) fn live(&self) -> Live {
        self.script.live.clone()
    }
}

impl Script {
    fn answer(&self, asked: Asked) -> Says {
        let line = format!("{} {}", asked.method, asked.path);
        let known = is_known(&asked);
        lock(&self.asked).push(asked);
        match line.as_str() {
            "GET /.well-known/openid-configuration" => self.described(),
            "POST /token" => match (lock(&self.down).clone(), known) {
                (Some(says), _) => says,
                (None, false) => Says::json(401, &json!({"error": "invalid_client"})),
                (None, true) => self.token(),
            },
            _ => Says::status(404, "there is nothing here"),
        }
    }

    fn described(&self) -> Says {
        let url = lock(&self.url).clone();
        Says::json(
            200,
            &json!({"issuer": url, "token_endpoint": format!("{url}/token")}),
        )
    }

    fn token(&self) -> Says {
        let mut handed_out = lock(&self.handed_out);
        let token = format!("accesstoken-CANARY-{:04}-thatNobodyMaySee", handed_out.len() + 1);
        handed_out.push(token.clone());
        lock(&self.live.0).insert(token.clone());
        let mut answer = json!({"access_token": token, "token_type": "Bearer"});
        if let Some(seconds) = *lock(&self.expires_in) {
            answer["expires_in"] = seconds.into();
        }
        Says::json(200, &answer)
    }
}

/// Whether the client proved itself, in the header or in the form.
fn is_known(asked: &Asked) -> bool {
    let form: Vec<(String, String)> = asked
        .text()
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect();
    let of = |name: &str| {
        form.iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    };
    let basic = asked
        .headers
        .get("authorization")
        .and_then(|header| header.strip_prefix("Basic "))
        .and_then(|text| BASE64.decode(text.as_bytes()).ok())
        .map(|pair| String::from_utf8_lossy(&pair).into_owned());
    let (id, secret) = match &basic {
        Some(pair) => pair.split_once(':').unwrap_or_default(),
        None => (
            of("client_id").unwrap_or_default(),
            of("client_secret").unwrap_or_default(),
        ),
    };
    of("grant_type") == Some("client_credentials") && decoded(id) == CLIENT && decoded(secret) == SECRET
}
