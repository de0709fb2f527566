//! API tokens of a tenant: made, listed, revoked.
//!
//! A token is shown once; the store keeps its hash. A tenant always keeps a live admin token, or nobody could manage
//! it any more. Who may do this is decided before this room is asked.

mod credential;
mod rows;
mod with_it;

use serde_json::json;
use toolgate_contract::ids::TokenId;

pub(crate) use self::credential::{Holder, NewCredential, SIGN_IN_CODE_LIFE};
pub use self::rows::Token;
use self::rows::{LIST_AFTER, LIST_FIRST, REVOKE};
use crate::{
    audit::EventKind,
    changes::{By, Changes, Fact},
    error::{Error, Missing},
    identity::{Kind, OIDC_NAME_PREFIX, Role, Secret, jwt},
    names, own_profiles,
    pages::Page,
    rfc3339,
    store::{Tx, params},
};

/// Live tokens of one tenant.
const MOST: i64 = 1_000;

/// The tokens of all tenants. Clones share it.
#[derive(Debug, Clone)]
pub struct Tokens {
    changes: Changes,
}

/// What a new token shall be, as asked.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Name.
    pub name: String,
    /// Role by name.
    pub role: String,
    /// Profile to pin, by name.
    pub profile: Option<String>,
    /// RFC 3339.
    pub expires_at: Option<String>,
}

impl Tokens {
    /// Over the door for changes.
    #[must_use]
    pub fn new(changes: Changes) -> Self {
        Self { changes }
    }

    /// Makes a token; its text is given here and never again.
    pub async fn create(&self, by: By, wanted: Wanted) -> Result<(Token, Secret), Error> {
        let now_us = self.changes.now_us();
        let holder = wanted.holder(now_us)?;
        let credential = NewCredential::mint(Kind::Api, &by.tenant, holder, now_us)?;
        let text = credential.text.clone();
        let token = self
            .changes
            .make(by, move |tx| {
                Box::pin(async move {
                    if let Some(profile) = &credential.holder.profile {
                        own_profiles::hold(tx, &credential.tenant, profile).await?;
                    }
                    refuse_taken(tx, &credential, now_us).await?;
                    credential.insert(tx).await?;
                    let fact = Fact::new(EventKind::TokenCreated, credential.detail());
                    Ok((credential.into_token(), vec![fact]))
                })
            })
            .await?;
        Ok((token, text))
    }

    /// A page of tokens, newest first, and the token of the next page.
    pub async fn list(&self, by: &By, page: Page<2>) -> Result<(Vec<Token>, String), Error> {
        let tenant = by.tenant.clone();
        let limit = page.limit();
        let after = match &page.after {
            None => None,
            Some([created, id]) => {
                let wrong = |_| Error::invalid("page_token", "is none of this list; begin without one");
                Some((created.parse::<i64>().map_err(wrong)?, id.clone()))
            }
        };
        let rows = self.changes.read(&by.tenant, move |tx| {
            Box::pin(async move {
                match after {
                    None => tx.query(LIST_FIRST, params![&tenant, limit]).await,
                    Some((created, id)) => tx.query(LIST_AFTER, params![&tenant, created, id, limit]).await,
                }
            })
        });
        let mut tokens = rows
            .await?
            .iter()
            .map(Token::read)
            .collect::<Result<Vec<_>, _>>()?;
        let next = page.cut(&mut tokens, |last| {
            [last.created_us.to_string(), last.id.to_string()]
        });
        Ok((tokens, next))
    }

    /// Revokes a token, and ends what came of it: sessions by sign-in links of its principal, and unused links. One that is
    /// revoked already stays so, without a second row on the record.
    pub async fn revoke(&self, by: By, id: &str) -> Result<(), Error> {
        let id: TokenId = id
            .parse()
            .map_err(|_| Error::NotFound(Missing::Resource("token")))?;
        let now_us = self.changes.now_us();
        let tenant = by.tenant.clone();
        self.changes.make(by, move |tx| {
            Box::pin(async move {
                let token = rows::find(tx, &tenant, id).await?.ok_or(Error::NotFound(Missing::Resource("token")))?;
                if token.revoked_us.is_some() {
                    return Ok(((), vec![]));
                }
                if token.is_live_admin(now_us) && rows::live_admins(tx, &tenant, now_us).await? <= 1 {
                    return Err(Error::Conflict(
                        "this is the last live admin token, without it nobody could manage the tenant; make another one first".into(),
                    ));
                }
                tx.execute(REVOKE, params![&tenant, id, now_us]).await?;
                let mut facts = vec![Fact::new(EventKind::TokenRevoked, token.detail())];
                facts.extend(with_it::end(tx, &tenant, &token.name, now_us).await?);
                Ok(((), facts))
            })
        }).await
    }
}

async fn refuse_taken(tx: &mut Tx, credential: &NewCredential, now_us: i64) -> Result<(), Error> {
    let (live, named) = rows::live(tx, &credential.tenant, &credential.holder.name, now_us).await?;
    if named {
        let name = &credential.holder.name;
        return Err(Error::Conflict(format!(
            "a live token is already named {name}; revoke it or choose another name"
        )));
    }
    if live >= MOST {
        return Err(Error::Conflict(format!(
            "the tenant has {MOST} live tokens, which is the limit; revoke some first"
        )));
    }
    Ok(())
}

impl Wanted {
    fn holder(self, now_us: i64) -> Result<Holder, Error> {
        names::check("name", &self.name)?;
        // Principals are told apart by name, and this one would be somebody whom others vouch for.
        for (prefix, whose) in [
            (jwt::NAME_PREFIX, "callers with a JWT"),
            (OIDC_NAME_PREFIX, "people who signed in with OpenID Connect"),
        ] {
            // However it is written: people read names, not bytes.
            let begins = self.name.get(..prefix.len());
            if begins.is_some_and(|begins| begins.eq_ignore_ascii_case(prefix)) {
                let what = format!("must not begin with {prefix}, which names {whose}; take another name");
                return Err(Error::invalid("name", what));
            }
        }
        let role = Role::parse(&self.role).ok_or_else(|| {
            Error::invalid(
                "role",
                format!("must be one of {}", Role::ALL.map(Role::as_str).join(", ")),
            )
        })?;
        let expires_us = self
            .expires_at
            .as_deref()
            .map(|text| in_the_future(text, now_us))
            .transpose()?;
        Ok(Holder {
            name: self.name,
            role,
            profile: self.profile,
            expires_us,
        })
    }
}

fn in_the_future(text: &str, now_us: i64) -> Result<i64, Error> {
    let expires_us = rfc3339::parse(text).map_err(|error| Error::invalid("expires_at", error.to_string()))?;
    if expires_us > now_us {
        Ok(expires_us)
    } else {
        Err(Error::invalid(
            "expires_at",
            format!("must be in the future; it is {} now", rfc3339::format(now_us)),
        ))
    }
}

impl Token {
    fn is_live_admin(&self, now_us: i64) -> bool {
        self.role == Role::Admin.as_str() && self.expires_us.is_none_or(|end| end > now_us)
    }

    fn detail(&self) -> serde_json::Value {
        json!({
            "id": self.id.to_string(),
            "name": self.name,
            "role": self.role,
            "profile": self.profile,
            "expires_at": self.expires_us.map(rfc3339::format),
        })
    }
}

#[cfg(test)]
mod tests;
