//! A record with an export of it, for the tests of this folder, and what an attacker does to either.

use std::{fs, path::PathBuf, sync::Arc};

use data_encoding::HEXLOWER;
use ring::digest::{SHA256, digest};
use toolgate_contract::ids::TenantId;

use super::{
    Folder, Manifest,
    manifest::{CHECKPOINTS, KEYS, Listed, MANIFEST, SUMS},
};
use crate::{
    anchor::{Checkpoint, SigningKeys},
    audit::{
        Head, SealedRow, Sealer, StoredRow,
        chain::row_hash,
        encode,
        export::{Export, Format, Line},
        ledger::Ledger,
        row_bytes::tests::event,
    },
    clock::Clock,
};

/// Places that have a checkpoint, besides the last row's.
const MARKED: [usize; 2] = [3, 6];
pub(super) const ROWS: usize = 9;
const NOON_US: i64 = 1_767_225_600_000_000;

/// A record of nine rows, its checkpoints, and an export of it.
pub(super) struct Exported {
    pub(super) ledger: Ledger,
    pub(super) dir: PathBuf,
    pub(super) signing: SigningKeys,
    pub(super) rows: Vec<Owned>,
    /// Rows of the same gateway's other tenant.
    pub(super) foreign: Vec<Owned>,
}

/// A row that can be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Owned {
    pub(super) seq: i64,
    pub(super) prev: Vec<u8>,
    pub(super) bytes: Vec<u8>,
    pub(super) hash: Vec<u8>,
    pub(super) mac: Vec<u8>,
    pub(super) algorithm: i64,
    pub(super) key_id: String,
}

impl Owned {
    pub(super) fn of(row: &StoredRow<'_>) -> Self {
        Self {
            seq: row.seq,
            prev: row.prev.to_vec(),
            bytes: row.bytes.to_vec(),
            hash: row.hash.to_vec(),
            mac: row.mac.to_vec(),
            algorithm: row.algorithm,
            key_id: row.key_id.to_owned(),
        }
    }

    pub(super) fn sealed(row: SealedRow) -> Self {
        Self {
            seq: row.seq,
            prev: row.prev.to_vec(),
            bytes: row.bytes,
            hash: row.hash.to_vec(),
            mac: row.mac.to_vec(),
            algorithm: row.algorithm,
            key_id: row.key_id.to_string(),
        }
    }

    pub(super) fn row(&self) -> StoredRow<'_> {
        StoredRow {
            seq: self.seq,
            prev: &self.prev,
            bytes: &self.bytes,
            hash: &self.hash,
            mac: &self.mac,
            algorithm: self.algorithm,
            key_id: &self.key_id,
            columns_agree: true,
        }
    }

    /// Another event in its place.
    pub(super) fn rewrite(&mut self, capability: &str) {
        self.bytes = encode(&event(capability));
    }
}

/// Makes hashes and links fit from `place` on, as everybody can.
pub(super) fn rehash(tenant: &TenantId, rows: &mut [Owned], place: usize) {
    let mut prev: [u8; 32] = rows[place - 1].prev.clone().try_into().unwrap();
    for row in &mut rows[place - 1..] {
        row.prev = prev.to_vec();
        prev = row_hash(row.algorithm, tenant, row.seq, &prev, &row.bytes);
        row.hash = prev.to_vec();
    }
}

/// Makes hashes, links and MACs fit, as only who holds the root key can.
pub(super) fn reseal(ledger: &Ledger, rows: &mut [Owned], place: usize) {
    rehash(&ledger.tenant, rows, place);
    let key = ledger.keys.record_key(&ledger.tenant);
    for row in &mut rows[place - 1..] {
        row.mac = key.mac(&row.hash.clone().try_into().unwrap()).to_vec();
    }
}

impl Exported {
    pub(super) async fn new(format: Format) -> Self {
        let names: Vec<String> = (1..=ROWS).map(|number| format!("ssh.tool_{number}")).collect();
        let ledger = Ledger::with(&names.iter().map(String::as_str).collect::<Vec<_>>()).await;
        Self::of(ledger, format, 0).await
    }

    pub(super) async fn of(ledger: Ledger, format: Format, after: i64) -> Self {
        let signing = SigningKeys::open(ledger.dir.path(), &Clock::manual(NOON_US), false).unwrap();
        let dir = ledger.dir.path().join("export");
        let rows = rows(&ledger).await;
        let foreign = foreign(&ledger);
        let mut exported = Self {
            foreign,
            ledger,
            dir,
            signing,
            rows,
        };
        let mut folder = Folder::open(&exported.dir, format).unwrap();
        exported.fill(&mut folder, after).await;
        folder
            .finish("2026-01-31T09:30:00.000000Z".into(), "toolgate test".into())
            .unwrap();
        exported
    }

    /// What a gateway sends about an export.
    pub(super) async fn fill(&mut self, folder: &mut Folder, after: i64) {
        let mut export = self.export(after);
        while let Some(chunk) = export.next_chunk().await.unwrap() {
            folder.take_rows(&chunk, i64::MAX).unwrap();
        }
        folder.end_of_rows().unwrap();
        folder.take_evidence(self.evidence().as_bytes()).unwrap();
        assert_eq!(folder.end_of_evidence().unwrap(), Some(self.rows.len() as i64));
    }

    pub(super) fn export(&self, after: i64) -> Export {
        Export::new(
            self.ledger.store.clone(),
            self.ledger.tenant.clone(),
            after,
            Format::Ndjson,
        )
    }

    pub(super) fn evidence(&self) -> String {
        let mut text: String = self.signing.public().lines().map(|line| line + "\n").collect();
        for place in MARKED
            .into_iter()
            .filter(|place| *place < self.rows.len())
            .chain([self.rows.len()])
        {
            text.push_str(&self.checkpoint(place).to_line());
            text.push('\n');
        }
        text
    }

    pub(super) fn checkpoint(&self, place: usize) -> Checkpoint {
        let hash = self.rows[place - 1].hash.clone().try_into().unwrap();
        let time_us = NOON_US + place as i64;
        Checkpoint::sign(
            self.signing.newest(),
            &self.ledger.tenant,
            place as i64,
            hash,
            time_us,
        )
    }

    pub(super) fn manifest(&self) -> Manifest {
        Manifest::parse(&fs::read(self.dir.join(MANIFEST)).unwrap()).unwrap()
    }

    /// Changes the rows of the export and makes files and manifest fit.
    pub(super) fn tamper(&self, change: impl FnOnce(&mut Vec<Owned>)) {
        let mut rows = self.rows.clone();
        change(&mut rows);
        let manifest = self.manifest();
        let mut text = manifest.format().header().as_bytes().to_vec();
        for row in &rows {
            manifest
                .format()
                .write(&mut text, self.ledger.tenant.as_str(), &row.row());
        }
        let name = manifest.segments().next().unwrap().name.clone();
        fs::write(self.dir.join(name), text).unwrap();
        self.settle(Some(&rows));
    }

    /// Makes the manifest fit to the files again, and to these rows.
    pub(super) fn settle(&self, rows: Option<&[Owned]>) {
        let mut told: serde_json::Value =
            serde_json::from_slice(&fs::read(self.dir.join(MANIFEST)).unwrap()).unwrap();
        if let Some(rows) = rows {
            let first = rows.first().map_or(1, |row| row.seq);
            told["firstSeq"] = first.into();
            told["lastSeq"] = rows.last().map_or(first - 1, |row| row.seq).into();
            told["count"] = rows.len().into();
            let genesis = Head::genesis(&self.ledger.tenant).hash;
            let hash = rows.last().map_or(genesis.to_vec(), |row| row.hash.clone());
            told["lastHash"] = HEXLOWER.encode(&hash).into();
        }
        let mut manifest: Manifest = serde_json::from_value(told).unwrap();
        for file in &mut manifest.files {
            let content = fs::read(self.dir.join(&file.name)).unwrap_or_default();
            *file = Listed {
                name: file.name.clone(),
                bytes: content.len() as u64,
                sha256: HEXLOWER.encode(digest(&SHA256, &content).as_ref()),
            };
        }
        fs::write(self.dir.join(MANIFEST), manifest.to_text()).unwrap();
        fs::write(self.dir.join(SUMS), manifest.sums()).unwrap();
    }

    /// Changes the lines of the checkpoints and makes the manifest fit.
    pub(super) fn tamper_checkpoints(&self, change: impl FnOnce(&mut Vec<String>)) {
        let path = self.dir.join(CHECKPOINTS);
        let mut lines: Vec<String> = fs::read_to_string(&path)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect();
        change(&mut lines);
        fs::write(
            &path,
            lines.iter().map(|line| format!("{line}\n")).collect::<String>(),
        )
        .unwrap();
        self.settle(None);
    }

    /// Replaces keys and checkpoints by those of somebody else's gateway.
    pub(super) fn sign_anew(&self, rows: &[Owned]) {
        let other = tempfile::tempdir().unwrap();
        let signing = SigningKeys::open(other.path(), &Clock::manual(NOON_US), false).unwrap();
        let keys: String = signing.public().lines().map(|line| line + "\n").collect();
        fs::write(self.dir.join(KEYS), keys).unwrap();
        let last = rows.last().unwrap();
        let hash = last.hash.clone().try_into().unwrap();
        let checkpoint = Checkpoint::sign(signing.newest(), &self.ledger.tenant, last.seq, hash, NOON_US);
        fs::write(self.dir.join(CHECKPOINTS), checkpoint.to_line() + "\n").unwrap();
        let mut told: serde_json::Value =
            serde_json::from_slice(&fs::read(self.dir.join(MANIFEST)).unwrap()).unwrap();
        told["origin"] = signing.public().origin().into();
        let manifest: Manifest = serde_json::from_value(told).unwrap();
        fs::write(self.dir.join(MANIFEST), manifest.to_text()).unwrap();
        self.settle(Some(rows));
    }

    pub(super) fn sealer(&self) -> Sealer {
        Sealer::new(Arc::clone(&self.ledger.keys))
    }
}

/// The rows as they are on the record.
pub(super) async fn rows(ledger: &Ledger) -> Vec<Owned> {
    let mut export = Export::new(ledger.store.clone(), ledger.tenant.clone(), 0, Format::Ndjson);
    let (mut rows, mut line) = (Vec::new(), Line::default());
    while let Some(chunk) = export.next_chunk().await.unwrap() {
        for text in chunk.split_inclusive(|byte| *byte == b'\n') {
            line.read(Format::Ndjson, ledger.tenant.as_str(), text).unwrap();
            rows.push(Owned::of(&line.row()));
        }
    }
    rows
}

fn foreign(ledger: &Ledger) -> Vec<Owned> {
    let (sealer, tenant) = (Sealer::new(Arc::clone(&ledger.keys)), TenantId::mint());
    let mut head = Head::genesis(&tenant);
    let seal = |number: usize| {
        let row = sealer.seal(&tenant, &head, &event(&format!("e.e_{number}")));
        head = row.head();
        Owned::sealed(row)
    };
    (0..ROWS).map(seal).collect()
}
