//! Admit: credential → principal, tenant, role, profile; deadline; correlation id; canonical arguments, made once.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use data_encoding::HEXLOWER;
use ring::digest::{SHA256, digest};

use super::{
    Rooms,
    ask::{Ask, Caller, Wish},
    facts::{Facts, Refusal},
};
use crate::{
    canonical::{self, CanonicalJson},
    error::Error,
    identity::{
        Context, Kind, Presented, Principal,
        jwt::{Refused, Token},
    },
    issuer::Issuer,
    snapshot::{Snapshot, Source},
    telemetry,
    upstream::Reports,
};

/// A call whose caller is known and whose arguments have one canonical form.
#[derive(Debug)]
pub(crate) struct Admitted {
    pub(super) facts: Facts,
    pub(super) arguments: CanonicalJson,
    /// The arguments as they came, for those who get the caller's own bytes.
    pub(super) given: Bytes,
    pub(super) target_id: Option<String>,
    pub(super) deadline: Option<Duration>,
    _step: (),
}

/// Names are told back and recorded only up to here.
const MAX_NAME: usize = 200;

pub(super) fn admit(
    rooms: &Rooms,
    caller: Caller,
    ask: &Ask,
    wish: Wish,
    reports: Reports,
) -> Result<Admitted, Box<Refusal>> {
    let mut facts = Facts::without_call(rooms, caller);
    facts.reports = reports;
    facts.capability = bounded(wish.name);
    let given = match wish.arguments.is_empty() {
        true => Bytes::from_static(b"{}"),
        false => wish.arguments,
    };
    let bytes: &[u8] = &given;
    let arguments = match CanonicalJson::parse(bytes) {
        Ok(arguments) if arguments.is_object() => arguments,
        Ok(_) => {
            return Err(Refusal::boxed(
                facts,
                Error::malformed("arguments", "must be one JSON object"),
            ));
        }
        Err(_) if bytes.len() > canonical::LONGEST => return Err(Refusal::boxed(facts, Error::TooLarge)),
        Err(error) => {
            return Err(Refusal::boxed(
                facts,
                Error::malformed("arguments", error.to_string()),
            ));
        }
    };
    let key = rooms.keys.arguments_key(&facts.caller.principal.tenant);
    facts.params_hash = Some(key.hash(arguments.as_bytes()));
    Ok(Admitted {
        facts,
        arguments,
        given,
        target_id: wish.target_id,
        deadline: ask.deadline,
        _step: (),
    })
}

impl Admitted {
    /// A connection test has no arguments and a deadline of its own.
    pub(super) fn for_test(rooms: &Rooms, caller: Caller, ask: &Ask) -> Self {
        let mut facts = Facts::without_call(rooms, caller);
        facts.is_test = true;
        Self {
            facts,
            arguments: CanonicalJson::empty_object(),
            given: Bytes::new(),
            target_id: None,
            deadline: ask.deadline,
            _step: (),
        }
    }
}

/// Verifies the credential: a token of the gateway's own inside the tenant it claims, or a JWT of the issuer.
pub(super) async fn authenticate(rooms: &Rooms, ask: &Ask) -> Result<Caller, Error> {
    let credential = ask.credential.as_ref().ok_or(Error::Unauthenticated)?.reveal();
    let (principal, snapshot, claimed) = match (Presented::parse(credential), &rooms.issuer) {
        (Some(presented), _) => {
            let (principal, snapshot) = by_token(rooms, presented).await?;
            (principal, snapshot, Context::default())
        }
        (None, Some(issuer)) if Token::is_meant(credential) => by_jwt(rooms, issuer, credential).await?,
        (None, _) => return Err(Error::Unauthenticated),
    };
    let unknown = &rooms.unknown_profiles;
    let standing = snapshot.standing(principal.pinned.as_ref(), ask.profile.as_deref(), unknown.rule());
    if let (Source::UnknownOpen | Source::UnknownClosed, Some(name)) = (standing.source, &ask.profile) {
        // The process that stands alone says so itself, once.
        if !snapshot.stands_alone() {
            unknown.say(name);
        }
    }
    Ok(Caller {
        principal,
        snapshot,
        profile: standing.profile,
        context: claimed.over(&ask.context),
        session: ask.session.as_deref().map(session_key),
        facade: ask.facade,
    })
}

async fn by_token(rooms: &Rooms, presented: Presented) -> Result<(Principal, Arc<Snapshot>), Error> {
    if presented.kind == Kind::SignIn {
        return Err(Error::Unauthenticated);
    }
    let snapshot = rooms
        .snapshots
        .get(&presented.tenant)
        .await?
        .ok_or(Error::Unauthenticated)?;
    let token = snapshot
        .token(&presented, rooms.clock.wall_us())
        .ok_or(Error::Unauthenticated)?;
    rooms.uses.note(&presented.tenant, token.id);
    let principal = Principal {
        name: Arc::clone(&token.name),
        role: token.role,
        pinned: token.profile.clone(),
        tenant: presented.tenant,
    };
    Ok((principal, snapshot))
}

// Which rule a token did not hold to is for the operator; the caller hears what everybody without a credential hears.
async fn by_jwt(
    rooms: &Rooms,
    issuer: &Issuer,
    text: &str,
) -> Result<(Principal, Arc<Snapshot>, Context), Error> {
    let refuse = |why: Refused| {
        telemetry::jwt_refused(why);
        tracing::debug!(reason = why.as_str(), "a JWT was not accepted");
        Error::Unauthenticated
    };
    let bearer = issuer.judge(text).await.map_err(refuse)?;
    let tenant = issuer.tenant().clone();
    let snapshot = rooms.snapshots.get(&tenant).await?;
    let snapshot = snapshot.ok_or_else(|| refuse(Refused::Tenant))?;
    // One that is pinned and not there must not leave everything open.
    let pinned = match bearer.profile {
        None => None,
        Some(name) => Some(snapshot.profile(&name).ok_or_else(|| refuse(Refused::Profile))?),
    };
    let principal = Principal {
        tenant,
        name: bearer.name,
        role: bearer.role,
        pinned,
    };
    Ok((principal, snapshot, bearer.context))
}

// What is kept by session is kept by this, so that nothing at rest is a session's id.
pub(crate) fn session_key(session: &str) -> Arc<str> {
    let hash = digest(&SHA256, session.as_bytes());
    HEXLOWER.encode(&hash.as_ref()[..16]).into()
}

/// Whether the session that the request names is one of its caller; a request outside of sessions names none.
pub(super) fn in_session(rooms: &Rooms, ask: &Ask, caller: &Caller) -> Result<(), Error> {
    match &ask.session {
        Some(session) => rooms.mcp_sessions.check(&caller.principal, session),
        None => Ok(()),
    }
}

pub(super) fn bounded(mut name: String) -> String {
    if name.len() > MAX_NAME {
        let end = (0..=MAX_NAME)
            .rev()
            .find(|at| name.is_char_boundary(*at))
            .unwrap_or(0);
        name.truncate(end);
    }
    name
}
