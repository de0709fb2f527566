//! Admit: credential → principal, tenant, role, profile; deadline; correlation id; canonical arguments, made once.

use std::{net::IpAddr, sync::Arc, time::Duration};

use toolgate_contract::{
    ids::{CallId, TargetId},
    registry::{self, ProfileDef},
};

use super::{Rooms, refuse::Refusal};
use crate::{
    canonical::{self, CanonicalJson},
    error::Error,
    identity::{Kind, Presented, Principal, Secret},
    snapshot::Snapshot,
};

/// How a request reached the core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// In process or over the Unix socket: a facade, which may say which dialect it speaks.
    Facade,
    /// The gRPC port.
    Network,
}

/// What every request brings beside its message.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The credential, if any.
    pub credential: Option<Secret>,
    /// The profile asked for by URL, header or flag; it can only narrow.
    pub profile: Option<String>,
    /// The dialect, for the record.
    pub facade: &'static str,
    /// Where it came from, for counting refused credentials.
    pub source: Option<IpAddr>,
    /// The caller's own deadline.
    pub deadline: Option<Duration>,
}

/// What a caller wants carried.
#[derive(Debug)]
pub struct Wish {
    /// Tool name as the caller spells it.
    pub name: String,
    /// One JSON object; empty means `{}`.
    pub arguments: bytes::Bytes,
    /// The target, if named beside the arguments.
    pub target_id: Option<String>,
}

/// An authenticated caller with what it may see.
#[derive(Debug, Clone)]
pub struct Caller {
    principal: Principal,
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) profile: Option<&'static ProfileDef>,
    pub(crate) facade: &'static str,
}

impl Caller {
    /// Who calls.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        &self.principal
    }
}

/// What the record will say about a call, known better at every step.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(super) call: CallId,
    pub(super) caller: Caller,
    pub(super) started: Duration,
    pub(super) time_us: i64,
    pub(super) capability: String,
    pub(super) adapter: &'static str,
    pub(super) target: Option<TargetId>,
    pub(super) params_hash: Option<[u8; 32]>,
    pub(super) is_test: bool,
}

impl Facts {
    pub(super) fn without_call(rooms: &Rooms, caller: Caller) -> Self {
        Self {
            call: CallId::mint(),
            caller,
            started: rooms.clock.monotonic(),
            time_us: rooms.clock.wall_us(),
            capability: String::new(),
            adapter: "",
            target: None,
            params_hash: None,
            is_test: false,
        }
    }
}

/// A call whose caller is known and whose arguments have one canonical form.
#[derive(Debug)]
pub(crate) struct Admitted {
    pub(super) facts: Facts,
    pub(super) arguments: CanonicalJson,
    pub(super) target_id: Option<String>,
    pub(super) deadline: Option<Duration>,
    _step: (),
}

/// Names are told back and recorded only up to here.
const MAX_NAME: usize = 200;

pub(super) fn admit(rooms: &Rooms, caller: Caller, ask: &Ask, wish: Wish) -> Result<Admitted, Box<Refusal>> {
    let mut facts = Facts::without_call(rooms, caller);
    facts.capability = bounded(wish.name);
    let bytes: &[u8] = if wish.arguments.is_empty() {
        b"{}"
    } else {
        &wish.arguments
    };
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
            target_id: None,
            deadline: ask.deadline,
            _step: (),
        }
    }
}

/// Verifies the credential inside the tenant it claims.
pub(super) async fn authenticate(rooms: &Rooms, ask: &Ask) -> Result<Caller, Error> {
    let presented = ask
        .credential
        .as_ref()
        .and_then(|credential| Presented::parse(credential.reveal()));
    let presented = presented
        .filter(|presented| presented.kind != Kind::SignIn)
        .ok_or(Error::Unauthenticated)?;
    let snapshot = rooms
        .snapshots
        .get(&presented.tenant)
        .await?
        .ok_or(Error::Unauthenticated)?;
    let token = snapshot
        .token(&presented, rooms.clock.wall_us())
        .ok_or(Error::Unauthenticated)?;
    let principal = Principal {
        tenant: presented.tenant,
        token: token.id,
        name: Arc::clone(&token.name),
        role: token.role,
        pinned: token.profile,
    };
    let profile = principal.pinned.or_else(|| asked_profile(ask));
    Ok(Caller {
        principal,
        snapshot,
        profile,
        facade: ask.facade,
    })
}

// An unknown profile is open, said once in the log (`agent-tools.md` §2); a pinned one never comes here.
fn asked_profile(ask: &Ask) -> Option<&'static ProfileDef> {
    let name = ask.profile.as_deref().filter(|name| !name.is_empty())?;
    let known = registry::profile(name);
    if known.is_none() {
        tracing::warn!(profile = %bounded(name.to_owned()).escape_debug(), "unknown profile, nothing is hidden by it");
    }
    known
}

fn bounded(mut name: String) -> String {
    if name.len() > MAX_NAME {
        let end = (0..=MAX_NAME)
            .rev()
            .find(|at| name.is_char_boundary(*at))
            .unwrap_or(0);
        name.truncate(end);
    }
    name
}
