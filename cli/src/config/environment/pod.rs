//! What a pod of an agent tells by its environment: back ends, who is asked as, and what it works on.
//!
//! Names that begin with `TATARA_` are shared with others in the pod, so an unknown one is told and no error.

use zeroize::Zeroizing;

use super::Environment;
use crate::{config::nearest::nearest, failure::Failure};

/// What all of them begin with.
pub(super) const PREFIX: &str = "TATARA_";
/// Profile of `mcp`.
pub(super) const TOOL_PROFILE: &str = toolgate_contract::pods::TOOL_PROFILE;
const PROJECT: &str = "TATARA_PROJECT";
const TASK: &str = "TATARA_TASK";
const REPO: &str = "TATARA_REPO";
const KIND: &str = "TATARA_KIND";
const CLIENT_ID: &str = "TATARA_CLIENT_ID";
const CLIENT_SECRET: &str = "TATARA_CLIENT_SECRET";
/// The issuer that hands out tokens to the client; other programs of a pod know it by this name.
const ISSUER: &str = "OIDC_ISSUER";

/// The back ends: adapter type, variable of the address, variable of the token.
const BACK_ENDS: [(&str, &str, &str); 3] = [
    ("agent-memory", "TATARA_MEMORY_URL", "TATARA_MEMORY_TOKEN"),
    ("agent-operator", "TATARA_OPERATOR_URL", "TATARA_OPERATOR_TOKEN"),
    ("agent-chat", "TATARA_CHAT_URL", "TATARA_CHAT_TOKEN"),
];

/// The others.
const OTHERS: [&str; 8] = [
    TOOL_PROFILE,
    PROJECT,
    TASK,
    REPO,
    KIND,
    CLIENT_ID,
    CLIENT_SECRET,
    ISSUER,
];

/// One back end that the pod names.
pub(crate) struct GivenBackEnd<'a> {
    /// Its adapter type.
    pub(crate) adapter: &'static str,
    /// Its address.
    pub(crate) url: &'a str,
    /// As whom it is asked.
    pub(crate) credential: GivenCredential<'a>,
}

/// As whom a back end is asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum GivenCredential<'a> {
    /// As nobody.
    None,
    /// With its own token.
    Token(Zeroizing<String>),
    /// As a client of the issuer.
    Client {
        /// The client.
        id: &'a str,
        /// Its secret.
        secret: Zeroizing<String>,
        /// The issuer.
        issuer: &'a str,
    },
}

impl Environment {
    /// The profile of an agent's tools.
    pub(crate) fn tool_profile(&self) -> Option<&str> {
        self.get(TOOL_PROFILE)
    }

    /// The project that the pod works for.
    pub(crate) fn project(&self) -> Option<&str> {
        self.get(PROJECT)
    }

    /// The task that it works on.
    pub(crate) fn task(&self) -> Option<&str> {
        self.get(TASK)
    }

    /// The repository that it works in.
    pub(crate) fn repo(&self) -> Option<&str> {
        self.get(REPO)
    }

    /// The kind of its task.
    pub(crate) fn kind(&self) -> Option<&str> {
        self.get(KIND)
    }

    /// The back ends that are named. A token of a back end's own is stronger than the client.
    ///
    /// # Errors
    /// Half a client, where a back end needs it.
    pub(crate) fn back_ends(&self) -> Result<Vec<GivenBackEnd<'_>>, Failure> {
        let named = BACK_ENDS.into_iter().filter_map(|(adapter, url, token)| {
            let url = self.get(url)?.trim();
            Some((adapter, url, self.secret(token)))
        });
        named
            .map(|(adapter, url, token)| {
                let credential = match token {
                    Some(token) => GivenCredential::Token(token),
                    None => self.client()?,
                };
                Ok(GivenBackEnd {
                    adapter,
                    url,
                    credential,
                })
            })
            .collect()
    }

    /// Variables of a pod that nobody here reads, with the nearest known one.
    pub(crate) fn unread(&self) -> Vec<String> {
        // What all of them begin with brings none of them nearer.
        let bare = |name: &'_ str| name.strip_prefix(PREFIX).map(str::to_owned);
        let known: Vec<String> = known().filter_map(bare).collect();
        let names = self.variables.keys().filter(|name| !is_read(name));
        names
            .filter_map(|name| Some((name, bare(name)?)))
            .map(
                |(name, bare)| match nearest(&bare, known.iter().map(String::as_str)) {
                    Some(meant) => format!("{name} (did you mean {PREFIX}{meant}?)"),
                    None => name.clone(),
                },
            )
            .collect()
    }

    fn client(&self) -> Result<GivenCredential<'_>, Failure> {
        let (id, secret, issuer) = (self.get(CLIENT_ID), self.secret(CLIENT_SECRET), self.get(ISSUER));
        let missing = match (id, secret, issuer) {
            // An issuer alone is somebody else's.
            (None, None, _) => return Ok(GivenCredential::None),
            (Some(id), Some(secret), Some(issuer)) => {
                return Ok(GivenCredential::Client {
                    id: id.trim(),
                    secret,
                    issuer: issuer.trim(),
                });
            }
            (None, ..) => CLIENT_ID,
            (_, None, _) => CLIENT_SECRET,
            (.., None) => ISSUER,
        };
        Err(
            Failure::usage(format!("{missing} is not set, and the rest of the client is")).next(format!(
                "set {CLIENT_ID}, {CLIENT_SECRET} and {ISSUER}, or a token for each back end"
            )),
        )
    }

    fn secret(&self, variable: &str) -> Option<Zeroizing<String>> {
        self.get(variable)
            .map(|secret| Zeroizing::new(secret.trim().into()))
    }
}

/// The variable with the address of a back end.
pub(crate) fn url_variable(adapter: &str) -> &'static str {
    let found = BACK_ENDS.into_iter().find(|(known, ..)| *known == adapter);
    found.map_or(PREFIX, |(_, url, _)| url)
}

/// Whether it is looked at.
pub(super) fn is_known(name: &str) -> bool {
    name.starts_with(PREFIX) || name == ISSUER
}

/// Whether somebody here reads it.
pub(super) fn is_read(name: &str) -> bool {
    known().any(|known| known == name)
}

fn known() -> impl Iterator<Item = &'static str> {
    let back_ends = BACK_ENDS.into_iter().flat_map(|(_, url, token)| [url, token]);
    back_ends.chain(OTHERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<const N: usize>(variables: [(&str, &str); N]) -> Result<Vec<String>, String> {
        let environment = Environment::of(variables);
        let read = environment.back_ends().map_err(|failure| failure.message)?;
        Ok(read
            .into_iter()
            .map(|it| {
                let credential = match it.credential {
                    GivenCredential::None => "nobody".to_owned(),
                    GivenCredential::Token(token) => format!("token {}", *token),
                    GivenCredential::Client { id, secret, issuer } => {
                        format!("client {id} {} {issuer}", *secret)
                    }
                };
                format!("{} {} {credential}", it.adapter, it.url)
            })
            .collect())
    }

    const MEMORY: (&str, &str) = ("TATARA_MEMORY_URL", " http://memory:8080 ");
    const CLIENT: [(&str, &str); 3] = [(CLIENT_ID, "a"), (CLIENT_SECRET, "b\n"), (ISSUER, "https://idp")];

    #[test]
    fn a_back_end_is_asked_with_its_own_token_else_as_the_client_else_as_nobody() {
        let check =
            |read: Result<Vec<String>, String>, expected: &[&str]| assert_eq!(read.unwrap(), expected);
        check(read([]), &[]);
        check(read([("TATARA_MEMORY_URL", "")]), &[]);
        check(read([MEMORY]), &["agent-memory http://memory:8080 nobody"]);
        check(
            read([MEMORY, ("OIDC_ISSUER", "https://idp")]),
            &["agent-memory http://memory:8080 nobody"],
        );
        let [id, secret, issuer] = CLIENT;
        check(
            read([
                MEMORY,
                ("TATARA_CHAT_URL", "http://chat"),
                ("TATARA_CHAT_TOKEN", "t\n"),
                id,
                secret,
                issuer,
            ]),
            &[
                "agent-memory http://memory:8080 client a b https://idp",
                "agent-chat http://chat token t",
            ],
        );
    }

    #[test]
    fn half_a_client_is_told_by_what_is_missing_and_only_where_it_is_needed() {
        let [id, secret, issuer] = CLIENT;
        assert!(read([MEMORY, id, secret]).unwrap_err().starts_with(ISSUER));
        assert!(read([MEMORY, id, issuer]).unwrap_err().starts_with(CLIENT_SECRET));
        assert!(read([MEMORY, secret]).unwrap_err().starts_with(CLIENT_ID));
        assert!(read([MEMORY, ("TATARA_MEMORY_TOKEN", "t"), id]).is_ok());
        assert!(read([id]).is_ok());
    }

    #[test]
    fn what_nobody_reads_is_told_with_what_may_be_meant() {
        let environment = Environment::of([
            MEMORY,
            ("TATARA_MEMRY_URL", "x"),
            ("TATARA_TURN_QUEUE_DEPTH", "x"),
            ("OIDC_ISSUER", "x"),
        ]);
        assert_eq!(
            environment.unread(),
            [
                "TATARA_MEMRY_URL (did you mean TATARA_MEMORY_URL?)",
                "TATARA_TURN_QUEUE_DEPTH"
            ]
        );
    }
}
