//! The rests that are held: bounded in bytes, in all and for each tenant, and forgotten when nobody asks for them.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use data_encoding::BASE64URL_NOPAD;
use ring::rand::{SecureRandom, SystemRandom};
use toolgate_contract::ids::TenantId;

use super::cut::boundary;
use crate::{
    clock::Clock,
    error::{Error, Missing},
    identity::Principal,
};

/// A rest that nobody asks for is forgotten after this.
const IDLE: Duration = Duration::from_secs(600);
/// Held in all, in bytes.
const MOST: usize = 32 << 20;
/// Held for one tenant.
const MOST_OF_TENANT: usize = 8 << 20;
/// What holding one costs beside its text, so that many small ones are bounded as well.
const OVERHEAD: usize = 512;
/// Random bytes of a cursor.
const RANDOM: usize = 24;

/// The rests of all callers.
#[derive(Debug)]
pub struct Rests {
    clock: Clock,
    kept: Mutex<Kept>,
}

/// The next part of a rest.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) text: String,
    /// Bytes after it.
    pub(super) left: usize,
    /// The cursor of what is after it.
    pub(super) next: Option<String>,
}

#[derive(Debug, Default)]
struct Kept {
    rests: HashMap<[u8; RANDOM], Rest>,
    // By when they were last asked for; the first is the first to go.
    order: BTreeMap<u64, [u8; RANDOM]>,
    tenants: HashMap<TenantId, usize>,
    next: u64,
    bytes: usize,
}

struct Rest {
    owner: (TenantId, Arc<str>),
    text: Arc<str>,
    used: Duration,
    order: u64,
}

impl std::fmt::Debug for Rest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rest({} bytes)", self.text.len())
    }
}

impl Rests {
    /// None yet.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            kept: Mutex::default(),
        }
    }

    /// Holds a rest; `None` where it is more than its tenant may have held at all.
    pub(super) fn hold(&self, text: String, owner: &Principal) -> Option<String> {
        if text.len() + OVERHEAD > MOST_OF_TENANT {
            return None;
        }
        let mut id = [0; RANDOM];
        SystemRandom::new().fill(&mut id).ok()?;
        let now = self.clock.monotonic();
        let mut kept = self.kept();
        kept.forget(now);
        kept.put(id, owner, text.into(), now);
        Some(cursor(&id, 0))
    }

    /// The part at a cursor, of at most so many bytes.
    pub(super) fn part(&self, at: &str, most: usize, owner: &Principal) -> Result<Part, Error> {
        let missing = || Error::NotFound(Missing::Rest);
        let (id, from) = parse(at).ok_or_else(missing)?;
        let now = self.clock.monotonic();
        let text = {
            let mut kept = self.kept();
            kept.forget(now);
            kept.touch(&id, owner, now).ok_or_else(missing)?
        };
        // Only what this gateway wrote points between two characters of what is there.
        let beyond = text
            .get(from..)
            .filter(|beyond| !beyond.is_empty())
            .ok_or_else(missing)?;
        let end = boundary(beyond, most);
        let left = beyond.len() - end;
        Ok(Part {
            text: beyond[..end].to_owned(),
            left,
            next: (left > 0).then(|| cursor(&id, from + end)),
        })
    }

    /// Forgets what nobody asked for. Called now and then, so that an idle process forgets too.
    pub fn sweep(&self) {
        self.kept().forget(self.clock.monotonic());
    }

    /// Bytes held now, what holding them costs included.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.kept().bytes
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    // One tenant's many rests push out its own; only what all hold together pushes out another's.
    fn put(&mut self, id: [u8; RANDOM], owner: &Principal, text: Arc<str>, now: Duration) {
        let cost = text.len() + OVERHEAD;
        while self.of(&owner.tenant) + cost > MOST_OF_TENANT {
            let oldest = self.order.values().find(|id| {
                let rest = self.rests.get(*id);
                rest.is_some_and(|rest| rest.owner.0 == owner.tenant)
            });
            let Some(oldest) = oldest.copied() else { break };
            self.drop_one(&oldest);
        }
        while self.bytes + cost > MOST {
            let Some(oldest) = self.order.values().next().copied() else {
                break;
            };
            self.drop_one(&oldest);
        }
        self.bytes += cost;
        *self.tenants.entry(owner.tenant.clone()).or_default() += cost;
        self.order.insert(self.next, id);
        self.rests.insert(
            id,
            Rest {
                owner: (owner.tenant.clone(), Arc::clone(&owner.name)),
                text,
                used: now,
                order: self.next,
            },
        );
        self.next += 1;
    }

    fn of(&self, tenant: &TenantId) -> usize {
        self.tenants.get(tenant).copied().unwrap_or_default()
    }

    fn touch(&mut self, id: &[u8; RANDOM], owner: &Principal, now: Duration) -> Option<Arc<str>> {
        let rest = self.rests.get_mut(id)?;
        if rest.owner.0 != owner.tenant || rest.owner.1 != owner.name {
            return None;
        }
        self.order.remove(&rest.order);
        (rest.used, rest.order) = (now, self.next);
        self.order.insert(self.next, *id);
        self.next += 1;
        Some(Arc::clone(&rest.text))
    }

    fn forget(&mut self, now: Duration) {
        while let Some(id) = self.order.values().next().copied() {
            let idle = self.rests.get(&id).is_none_or(|rest| now >= rest.used + IDLE);
            if !idle {
                return;
            }
            self.drop_one(&id);
        }
    }

    fn drop_one(&mut self, id: &[u8; RANDOM]) {
        let Some(gone) = self.rests.remove(id) else { return };
        let cost = gone.text.len() + OVERHEAD;
        self.order.remove(&gone.order);
        self.bytes -= cost;
        if let Some(held) = self.tenants.get_mut(&gone.owner.0) {
            *held -= cost;
            if *held == 0 {
                self.tenants.remove(&gone.owner.0);
            }
        }
    }
}

/// `<random>.<offset>`: one rest has a cursor for each of its parts, so asking twice gives the same part twice.
fn cursor(id: &[u8; RANDOM], at: usize) -> String {
    format!("{}.{at}", BASE64URL_NOPAD.encode(id))
}

fn parse(cursor: &str) -> Option<([u8; RANDOM], usize)> {
    let (id, at) = cursor.split_once('.')?;
    let id = BASE64URL_NOPAD.decode(id.as_bytes()).ok()?;
    Some((id.try_into().ok()?, at.parse().ok()?))
}
