//! Where rounds are signed and written. All of it blocks, so it is only used on threads that may.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
};

use toolgate_contract::ids::TenantId;

use super::Alarm;
use crate::{
    anchor::{
        Checkpoint, SigningKeys, SigningKeysError,
        files::{Files, Mark},
        key::FOLDER,
        known::Known,
        last::LastRound,
        line::Digest,
        progress::Newest,
        root::{Root, Said, Tree},
    },
    clock::Clock,
    rfc3339,
    store::StoredHead,
};

/// So many tenants whose head did not move are signed in a round, the longest unsigned first.
pub(super) const MOST_IDLE: usize = 100;

/// What a round is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::anchor) enum Wish {
    /// Every tenant that moved, and idle ones.
    All,
    /// These, which have many rows.
    Many(Vec<TenantId>),
}

/// Why a round was not signed.
#[derive(Debug, thiserror::Error)]
pub(in crate::anchor) enum DeskError {
    #[error("the checkpoint keys cannot be used: {0}")]
    Keys(#[from] SigningKeysError),
    #[error("{path} cannot be read: {source}", path = .path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{path} cannot be appended to: {source}", path = .path.display())]
    Append { path: PathBuf, source: io::Error },
    #[error("{path} cannot be written: {source}", path = .path.display())]
    Last { path: PathBuf, source: io::Error },
}

/// What a round did.
#[derive(Debug)]
pub(super) struct Signed {
    pub(super) checkpoints: u64,
    /// They, by tenant.
    pub(super) newest: Vec<(String, Newest)>,
    /// What was found out in it and was not known before.
    pub(super) alarms: Vec<Alarm>,
}

/// Signs and writes rounds.
#[derive(Debug)]
pub(in crate::anchor) struct Desk {
    data_dir: PathBuf,
    clock: Clock,
    keys: SigningKeys,
    files: Files,
    known: Known,
    /// Tenants whose head is behind, or whose signed row is another one: alarmed, and not signed.
    alarmed: BTreeSet<String>,
    /// Tenants whose row at the signed place was looked at since the start.
    looked_at: BTreeSet<String>,
    /// The new file must tell the keys again, and so must a rotation.
    keys_told: usize,
    /// The last round that the files must hold.
    last: Option<LastRound>,
    /// The files lacked nothing when they were opened.
    is_whole: bool,
    /// Waits for a round that tells it.
    lost: Option<Alarm>,
}

impl Desk {
    /// Opens keys and files of a data directory, and finds what was signed last.
    pub(in crate::anchor) fn open(
        data_dir: &Path,
        clock: Clock,
        accept_lost: bool,
    ) -> Result<Self, DeskError> {
        let keys = SigningKeys::open(data_dir, &clock, accept_lost)?;
        let folder = data_dir.join(FOLDER);
        let read = |source| DeskError::Read {
            path: folder.clone(),
            source,
        };
        let files = Files::open(&folder).map_err(read)?;
        let known = Known::read(&folder, keys.public()).map_err(read)?;
        let first = Known::first_round(&folder).map_err(read)?;
        let origin = keys.public().origin();
        let (last, why) = match LastRound::read(data_dir) {
            // A new trust root begins, as it was told to.
            Ok(Some(last)) if accept_lost && last.origin != origin => (None, None),
            Ok(Some(last)) => {
                let why = last.check_ends(first, known.last_round(), origin).err();
                (Some(last), why)
            }
            Ok(None) => (None, None),
            Err(why) => (None, Some(why)),
        };
        Ok(Self {
            data_dir: data_dir.to_owned(),
            clock,
            files,
            known,
            keys_told: keys.public().keys().len(),
            keys,
            last,
            is_whole: why.is_none(),
            lost: why.map(lost),
            alarmed: BTreeSet::new(),
            looked_at: BTreeSet::new(),
        })
    }

    pub(in crate::anchor) fn durable(&self) -> tokio::sync::watch::Receiver<Mark> {
        self.files.durable()
    }

    /// What was signed last for each tenant.
    pub(super) fn newest(&self) -> impl Iterator<Item = (String, Newest)> + '_ {
        self.known.newest.values().map(told)
    }

    /// Places that were signed and whose rows should be looked at before a later one is: after a start and after an
    /// alarm, for within a process a head only moves on.
    pub(super) fn to_be_looked_at(&self, heads: &[StoredHead]) -> Vec<(String, i64, [u8; 32])> {
        let wanted = heads.iter().filter_map(|head| {
            let (seq, _) = head.end?;
            let known = self.known.newest.get(&head.tenant_id)?;
            let is_wanted = seq > known.seq && !self.looked_at.contains(&head.tenant_id);
            is_wanted.then(|| (head.tenant_id.clone(), known.seq, known.hash))
        });
        wanted.collect()
    }

    pub(super) fn looked_at(&mut self, tenant_id: String) {
        self.looked_at.insert(tenant_id);
    }

    #[cfg(test)]
    pub(super) fn is_alarmed(&self, tenant_id: &str) -> bool {
        self.alarmed.contains(tenant_id)
    }

    /// Signs one round and appends it durably.
    pub(super) fn round(
        &mut self,
        heads: Vec<StoredHead>,
        broken: &BTreeSet<String>,
        wish: &Wish,
    ) -> Result<Signed, DeskError> {
        self.pick_up_new_key();
        let now_us = self.clock.wall_us();
        let (file, is_new) = self.files.file_of(&rfc3339::format(now_us)[..10]);
        let sorted = self.sort(heads, broken);
        let mut alarms = self.alarm(&sorted.behind);
        let mut signed = self.sign(&sorted, wish, is_new, now_us);
        let mut text = String::new();
        for key in self.keys_to_tell(is_new) {
            push(&mut text, &key);
        }
        for checkpoint in &signed {
            push(&mut text, &checkpoint.to_line());
        }
        let checkpoints = signed.len() as u64;
        if is_new {
            // What is not signed now is told again as it was, so that the file stands by itself.
            for tenant in &sorted.behind {
                if let Some(last) = self.known.newest.get(tenant) {
                    push(&mut text, &last.to_line());
                }
            }
        }
        let told = signed.iter().map(told).collect();
        let mut newest = self.known.newest.clone();
        newest.extend(signed.drain(..).map(|signed| (signed.tenant_id.clone(), signed)));
        let root = self.root(&newest, &text, now_us);
        push(&mut text, &root.to_line());
        self.files
            .append(&file, text.as_bytes())
            .map_err(|source| DeskError::Append {
                path: self.data_dir.join(FOLDER).join(&file),
                source,
            })?;
        let last = LastRound::after(self.last.as_ref(), &root, is_new, self.is_whole);
        self.known = Known {
            newest,
            last_root: Some(root),
            since_root: Digest::default(),
        };
        self.keys_told = self.keys.public().keys().len();
        last.write(&self.data_dir)
            .map_err(|(path, source)| DeskError::Last { path, source })?;
        self.last = Some(last);
        alarms.extend(self.lost.take());
        Ok(Signed {
            checkpoints,
            newest: told,
            alarms,
        })
    }

    /// A rotation left a new key in the folder. What cannot be picked up now is tried again; the old key signs on.
    fn pick_up_new_key(&mut self) {
        match SigningKeys::newer(&self.data_dir, &self.clock, &self.keys) {
            Ok(None) => {}
            Ok(Some(keys)) => {
                tracing::info!(key = keys.newest().id(), "a new checkpoint key signs from now on");
                self.keys = keys;
            }
            Err(error) => {
                tracing::error!(%error, "the checkpoint keys cannot be looked through; the key in use signs on")
            }
        }
    }

    fn keys_to_tell(&self, is_new: bool) -> Vec<String> {
        let told = if is_new { 0 } else { self.keys_told };
        self.keys.public().lines().skip(told).collect()
    }

    fn sort(&mut self, heads: Vec<StoredHead>, broken: &BTreeSet<String>) -> Sorted {
        let mut sorted = Sorted::default();
        let mut gone: BTreeSet<String> = self.known.newest.keys().cloned().collect();
        for head in heads {
            gone.remove(&head.tenant_id);
            let known = self.known.newest.get(&head.tenant_id);
            let Ok(tenant) = head.tenant_id.parse::<TenantId>() else {
                tracing::error!(tenant = ?head.tenant_id, "the record has a head under an id that no tenant can have; run `toolgate audit verify`");
                continue;
            };
            match (head.end, known) {
                (Some((seq, hash)), None) if seq > 0 && !broken.contains(&head.tenant_id) => {
                    sorted.moved.push((tenant, seq, hash));
                }
                (Some((seq, hash)), Some(known)) if seq == known.seq && hash == known.hash => {
                    sorted.idle.push((known.time_us, tenant, seq, hash));
                }
                (Some((seq, hash)), Some(known)) if seq > known.seq && !broken.contains(&head.tenant_id) => {
                    sorted.moved.push((tenant, seq, hash));
                }
                (_, None) => {}
                (_, Some(_)) => sorted.behind.push(head.tenant_id),
            }
        }
        sorted.behind.extend(gone);
        sorted
    }

    fn alarm(&mut self, behind: &[String]) -> Vec<Alarm> {
        let mut alarms = Vec::new();
        for tenant in behind {
            self.looked_at.remove(tenant);
            if self.alarmed.insert(tenant.clone()) {
                let signed = self.known.newest.get(tenant).map_or(0, |known| known.seq);
                metrics::counter!("toolgate_checkpoint_regressions_total").increment(1);
                alarms.push(Alarm::Regressed {
                    tenant_id: tenant.clone(),
                    signed,
                });
                tracing::error!(
                    tenant,
                    signed,
                    "the record does not hold the row that was signed last: its tail was cut, it was rewritten, or an older copy was put back; no checkpoint of this tenant is signed; run `toolgate audit verify`"
                );
            }
        }
        self.alarmed.retain(|tenant| behind.contains(tenant));
        alarms
    }

    fn sign(&self, sorted: &Sorted, wish: &Wish, is_new: bool, now_us: i64) -> Vec<Checkpoint> {
        let everybody = is_new || *wish == Wish::All;
        let key = self.keys.newest();
        let mut signed = Vec::new();
        for (tenant, seq, hash) in &sorted.moved {
            let is_wanted = everybody || matches!(wish, Wish::Many(many) if many.contains(tenant));
            if is_wanted {
                signed.push(Checkpoint::sign(key, tenant, *seq, *hash, now_us));
            }
        }
        if everybody {
            let mut idle: Vec<_> = sorted.idle.iter().collect();
            idle.sort_unstable_by(|one, other| (one.0, one.1.as_str()).cmp(&(other.0, other.1.as_str())));
            let most = if is_new { idle.len() } else { MOST_IDLE };
            for (_, tenant, seq, hash) in idle.into_iter().take(most) {
                signed.push(Checkpoint::sign(key, tenant, *seq, *hash, now_us));
            }
        }
        signed
    }

    fn root(&self, newest: &BTreeMap<String, Checkpoint>, text: &str, now_us: i64) -> Root {
        let mut tree = Tree::default();
        for (tenant, checkpoint) in newest {
            tree.push(tenant, checkpoint.seq, &checkpoint.hash);
        }
        let mut lines = self.known.since_root.clone();
        lines.add(text.as_bytes());
        // Where the files lack their end, numbers go on from what was signed, and never from 1 again.
        let marked = self.last.as_ref().map(|last| (last.number, last.link));
        let last = match (self.known.last_round(), marked) {
            (Some(known), Some(marked)) if known.0 <= marked.0 => Some(marked),
            (known, marked) => known.or(marked),
        };
        let said = Said {
            number: last.map_or(1, |(number, _)| number.saturating_add(1)),
            tenants: tree.tenants(),
            root: tree.root(),
            lines: lines.finish(),
            prev: last.map_or([0; 32], |(_, link)| link),
            time_us: now_us,
        };
        Root::sign(self.keys.newest(), said)
    }
}

/// The heads of one moment, by what is to be done about them.
#[derive(Debug, Default)]
struct Sorted {
    moved: Vec<(TenantId, i64, [u8; 32])>,
    /// With the time of their newest checkpoint.
    idle: Vec<(i64, TenantId, i64, [u8; 32])>,
    behind: Vec<String>,
}

fn told(checkpoint: &Checkpoint) -> (String, Newest) {
    let newest = Newest {
        seq: checkpoint.seq,
        time_us: checkpoint.time_us,
    };
    (checkpoint.tenant_id.clone(), newest)
}

fn lost(why: String) -> Alarm {
    metrics::counter!("toolgate_checkpoint_losses_total").increment(1);
    tracing::error!(
        why,
        "the checkpoint files are not whole; run `toolgate audit verify`"
    );
    Alarm::Lost { why }
}

fn push(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}
