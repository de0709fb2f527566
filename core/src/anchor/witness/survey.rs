//! One pass over a folder of checkpoint files: whether anything was taken out of them, and which tenants they know.
//!
//! The roots are checked, and the lines of each round against the root's digest of them; so one signature a round is
//! enough for all its lines. Memory grows with the tenants, not with the lines.

use std::{collections::BTreeMap, path::Path};

use super::WitnessFault;
use crate::anchor::{
    Checkpoint, LastRound,
    files::{Found, Line, Lines},
    key::PublicKeys,
    line::Digest,
    root::{Inclusion, Root, Tree},
};

/// What a folder of checkpoint files holds.
#[derive(Debug, Default)]
pub struct Survey {
    /// The newest checkpoint of every tenant.
    pub newest: BTreeMap<String, Checkpoint>,
    /// The first root in the files; its number tells whether older files are gone.
    pub first_root: Option<Root>,
    /// The last root in the files.
    pub last_root: Option<Root>,
    /// The round that was looked for is among them, as it was signed.
    pub(in crate::anchor) met: bool,
    /// The checkpoints that the last root is over.
    covered: BTreeMap<String, Checkpoint>,
}

impl Survey {
    /// Shows that a tenant's newest checkpoint is under the last root, for somebody who may see no other tenant.
    #[must_use]
    pub fn prove(&self, tenant_id: &str) -> Option<(Inclusion, Root)> {
        let checkpoint = self.covered.get(tenant_id)?;
        let shown = tree(&self.covered).prove(tenant_id, checkpoint.seq, &checkpoint.hash)?;
        Some((shown, self.last_root.clone()?))
    }
}

/// Reads all files of `folder`.
///
/// # Errors
/// At the first line that is not what the gateway signed, or where lines or rounds are missing.
pub fn survey(folder: &Path, keys: &PublicKeys) -> Result<Survey, WitnessFault> {
    survey_of(folder, keys, None)
}

/// As [`survey`], and looks for this round, which [`LastRound::check`] then asks about.
///
/// # Errors
/// As [`survey`].
pub fn survey_of(folder: &Path, keys: &PublicKeys, last: Option<&LastRound>) -> Result<Survey, WitnessFault> {
    let mut pass = Pass::new(keys, last);
    let mut lines = Lines::of(folder)?;
    while let Some(found) = lines.next()? {
        pass.line(&found)?;
    }
    pass.finish()
}

struct Pass<'a> {
    keys: &'a PublicKeys,
    sought: Option<&'a LastRound>,
    is_begun: bool,
    digest: Digest,
    /// Checkpoints since the last root: nothing vouches for them yet but their own signatures.
    open: Vec<(super::Place, Checkpoint)>,
    last_place: Option<super::Place>,
    survey: Survey,
}

/// A round of more lines than this is checked line by line, so that memory stays bounded.
const MOST_OPEN: usize = 100_000;

impl<'a> Pass<'a> {
    fn new(keys: &'a PublicKeys, sought: Option<&'a LastRound>) -> Self {
        Self {
            keys,
            sought,
            is_begun: false,
            digest: Digest::default(),
            open: Vec::new(),
            last_place: None,
            survey: Survey::default(),
        }
    }

    fn line(&mut self, found: &Found<'_>) -> Result<(), WitnessFault> {
        let read = Line::parse(found.text()).map_err(|fault| WitnessFault::Line {
            place: found.place.clone(),
            fault,
        })?;
        if !std::mem::replace(&mut self.is_begun, true) && read != Line::Key {
            let place = found.place.clone();
            return Err(WitnessFault::Beginning { place });
        }
        match read {
            Line::Root(root) => self.close(found, root),
            Line::Key => {
                self.digest.add(found.bytes);
                Ok(())
            }
            Line::Checkpoint(checkpoint) => {
                self.digest.add(found.bytes);
                self.open.push((found.place.clone(), checkpoint));
                if self.open.len() >= MOST_OPEN {
                    self.check_open()?;
                }
                Ok(())
            }
        }
    }

    fn close(&mut self, found: &Found<'_>, root: Root) -> Result<(), WitnessFault> {
        let place = || found.place.clone();
        root.check(self.keys).map_err(|fault| WitnessFault::Line {
            place: place(),
            fault,
        })?;
        let number = root.number;
        let follows = match &self.survey.last_root {
            Some(last) => number == last.number + 1 && root.prev == last.link(),
            None => true,
        };
        if !follows {
            let after = self.survey.last_root.as_ref().map_or(0, |last| last.number);
            return Err(WitnessFault::Rounds {
                place: place(),
                number,
                after,
            });
        }
        if std::mem::take(&mut self.digest).finish() != root.lines {
            return Err(WitnessFault::Round {
                place: place(),
                number,
            });
        }
        self.take_open();
        self.survey.met |= self
            .sought
            .is_some_and(|last| last.number == number && last.link == root.link());
        self.survey.first_root.get_or_insert_with(|| root.clone());
        self.survey.last_root = Some(root);
        self.last_place = Some(place());
        Ok(())
    }

    fn take_open(&mut self) {
        for (_, checkpoint) in self.open.drain(..) {
            self.survey
                .newest
                .insert(checkpoint.tenant_id.clone(), checkpoint);
        }
    }

    fn check_open(&mut self) -> Result<(), WitnessFault> {
        for (place, checkpoint) in &self.open {
            checkpoint.check(self.keys).map_err(|fault| WitnessFault::Line {
                place: place.clone(),
                fault,
            })?;
        }
        self.take_open();
        Ok(())
    }

    /// The tree of the last root is recomputed as well: it must be that of the checkpoints in the files.
    fn finish(mut self) -> Result<Survey, WitnessFault> {
        self.survey.covered = self.survey.newest.clone();
        if let Some(root) = &self.survey.last_root
            && (root.root, root.tenants) != over(&self.survey.covered)
        {
            let place = self.last_place.take().unwrap_or_default();
            return Err(WitnessFault::Round {
                place,
                number: root.number,
            });
        }
        self.check_open()?;
        Ok(self.survey)
    }
}

fn over(heads: &BTreeMap<String, Checkpoint>) -> ([u8; 32], i64) {
    let tree = tree(heads);
    (tree.root(), tree.tenants())
}

fn tree(heads: &BTreeMap<String, Checkpoint>) -> Tree {
    let mut tree = Tree::default();
    for (tenant, checkpoint) in heads {
        tree.push(tenant, checkpoint.seq, &checkpoint.hash);
    }
    tree
}
