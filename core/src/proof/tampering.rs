//! The twelve classes of tampering of security §7, each done to a database and to exports of it by somebody who makes
//! everything fit that can be made to fit: head, digests and manifest. Found by the verifier of databases, and by that
//! of exports in both formats, with root keys and without.

use std::{fs, sync::Arc};

use rusqlite::{Connection, params};

use super::{
    Asked, Extent, Records,
    exported::{Exported, Owned, rehash, reseal},
    verify_export,
};
use crate::{
    anchor::{Anchor, AnchorConfig, Progress},
    audit::{Columns, Event, Head, Verdict, decode, encode, export::Format, row_bytes::tests::event},
    clock::Clock,
    keys::{RecordKeys, RootKeys},
};

use Verdict::{
    BadMac, BadSignature, BrokenLink, ChainMissing, Edited, Fork, Gap, Inserted, OutOfOrder, Truncated,
    UnknownAlgorithm,
};

/// What is done to the rows.
type Change = fn(&Exported, &mut Vec<Owned>);

/// What each verifier may say.
struct Expected {
    database: Verdict,
    export: &'static [Verdict],
    export_with_keys: &'static [Verdict],
}

macro_rules! classes {
    ($($class:ident: $change:expr => $database:expr, $export:expr, $with_keys:expr;)+) => {
        $(#[tokio::test]
        async fn $class() {
            let expected = Expected {
                database: $database,
                export: &$export,
                export_with_keys: &$with_keys,
            };
            check($change, &expected).await;
        })+
    };
}

classes! {
    edit: |_, rows| rows[4].rewrite("b.b") => Edited, [Edited], [Edited];
    delete: |_, rows| drop(rows.remove(4)) => Gap, [Gap], [Gap];
    delete_and_renumber: |_, rows| {
        rows.remove(4);
        rows[4..].iter_mut().for_each(|row| row.seq -= 1);
    } => Gap, [Gap], [Gap];
    insert: |_, rows| {
        let mut added = rows[4].clone();
        added.rewrite("b.b");
        (added.seq, added.mac) = (6, vec![0; 32]);
        rows[5..].iter_mut().for_each(|row| row.seq += 1);
        rows.insert(5, added);
    } => Inserted, [Inserted, OutOfOrder], [Inserted];
    swap: |_, rows| {
        (rows[3].seq, rows[6].seq) = (7, 4);
        rows.swap(3, 6);
    } => OutOfOrder, [OutOfOrder], [OutOfOrder];
    tail_cut: |_, rows| rows.truncate(7) => Truncated, [Truncated], [Truncated];
    whole_chain: |_, rows| rows.clear() => ChainMissing, [ChainMissing], [ChainMissing];
    rewrite_and_rehash: |exported, rows| {
        rows[4].rewrite("b.b");
        rehash(&exported.ledger.tenant, rows, 5);
    } => BadMac, [Fork], [BadMac];
    rewrite_and_reseal: |exported, rows| {
        rows[4].rewrite("b.b");
        reseal(&exported.ledger, rows, 5);
    } => Fork, [Fork], [Fork];
    fork: |exported, rows| {
        // Sealed by the gateway itself, after an older copy was put back.
        rows.truncate(4);
        for number in 0..6 {
            let before = rows.last().unwrap();
            let head = Head {
                seq: before.seq,
                hash: before.hash.clone().try_into().unwrap(),
            };
            let event = event(&format!("c.c_{number}"));
            let sealed = exported.sealer().seal(&exported.ledger.tenant, &head, &event);
            rows.push(Owned::sealed(sealed));
        }
    } => Fork, [Fork], [Fork];
    downgrade: |exported, rows| {
        rows.iter_mut().for_each(|row| row.algorithm = 0);
        rehash(&exported.ledger.tenant, rows, 1);
    } => UnknownAlgorithm, [UnknownAlgorithm], [UnknownAlgorithm];
    tenant_swap: |exported, rows| {
        let other = exported.foreign.clone();
        rows.clone_from(&other);
    } => Edited, [Edited], [Edited];
    tenant_swap_of_one_row: |exported, rows| rows[4] = exported.foreign[4].clone()
        => Edited, [Edited, BrokenLink], [Edited];
    timestamp: |_, rows| later(&mut rows[4]) => Edited, [Edited], [Edited];
    timestamp_and_rehash: |exported, rows| {
        later(&mut rows[4]);
        rehash(&exported.ledger.tenant, rows, 5);
    } => BadMac, [Fork], [BadMac];
}

fn later(row: &mut Owned) {
    let event = decode(&row.bytes).unwrap();
    row.bytes = encode(&Event {
        time_us: event.time_us + 3_600_000_000,
        ..event
    });
}

async fn check(change: Change, expected: &Expected) {
    for format in [Format::Ndjson, Format::Csv] {
        let exported = Exported::new(format).await;
        exported.tamper(|rows| change(&exported, rows));
        for (with_keys, expected) in [(false, expected.export), (true, expected.export_with_keys)] {
            let (verdict, message) = of_export(&exported, with_keys);
            assert!(
                expected.contains(&verdict) && !message.is_empty(),
                "{format:?}, keys {with_keys}: {verdict:?} {message}"
            );
        }
    }
    let exported = Exported::new(Format::Ndjson).await;
    sign(&exported).await;
    assert_eq!(of_database(&exported).await.0, Verdict::Intact);
    let mut rows = exported.rows.clone();
    change(&exported, &mut rows);
    store(&exported, &rows);
    let (verdict, message) = of_database(&exported).await;
    assert_eq!(verdict, expected.database, "database: {message}");
}

#[tokio::test]
async fn checkpoint_edit() {
    let exported = Exported::new(Format::Ndjson).await;
    exported.tamper_checkpoints(|lines| lines[1] = lines[1].replace("\"seq\":6", "\"seq\":5"));
    for with_keys in [false, true] {
        assert_eq!(of_export(&exported, with_keys).0, BadSignature);
    }

    sign(&exported).await;
    let folder = crate::anchor::folder(exported.ledger.dir.path());
    let day = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
    let day = day
        .into_iter()
        .find(|path| !path.ends_with("keys.ndjson"))
        .unwrap();
    let whole = fs::read_to_string(&day).unwrap();
    let last = format!("\"seq\":{}", exported.rows.len());
    assert!(whole.contains(&last), "{whole}");
    fs::write(&day, whole.replace(&last, "\"seq\":8")).unwrap();
    assert_eq!(of_database(&exported).await.0, BadSignature);

    // All of them gone, with the key still there.
    fs::remove_dir_all(folder).unwrap();
    assert_eq!(of_database(&exported).await.0, BadSignature);
}

fn of_export(exported: &Exported, with_keys: bool) -> (Verdict, String) {
    let keys: Option<Arc<dyn RecordKeys>> = match with_keys {
        true => Some(Arc::new(RootKeys::open(exported.ledger.dir.path()).unwrap())),
        false => None,
    };
    let found = verify_export(&Asked {
        dir: &exported.dir,
        keys,
        trust: None,
        progress: &|_| {},
    });
    let found = found.unwrap().verification;
    (found.verdict, found.message)
}

async fn of_database(exported: &Exported) -> (Verdict, String) {
    let ledger = &exported.ledger;
    let records = Records::new(ledger.store.clone(), Arc::clone(&ledger.keys), ledger.dir.path());
    let found = records.verify(&ledger.tenant, Extent::Whole).await.unwrap();
    (found.verdict, found.message)
}

/// Has the database's head signed, as a running gateway does.
pub(super) async fn sign(exported: &Exported) {
    let progress = Arc::new(Progress::default());
    let ledger = &exported.ledger;
    let config = AnchorConfig::default();
    let anchor = Anchor::start(
        ledger.dir.path(),
        &config,
        false,
        ledger.store.clone(),
        Arc::clone(&progress),
        Clock::system(),
    );
    let anchor = anchor.await.unwrap();
    progress.want(&ledger.tenant).await.unwrap();
    anchor.close().await;
}

/// Puts these rows in place of the stored ones, with columns and head that fit.
fn store(exported: &Exported, rows: &[Owned]) {
    let tenant = exported.ledger.tenant.as_str();
    exported
        .ledger
        .tamper("delete from audit_event; delete from audit_head");
    let connection = Connection::open(exported.ledger.dir.path().join("toolgate.db")).unwrap();
    for row in rows {
        let columns = Columns::of(&row.bytes).unwrap();
        let unique = format!("{}-{}", columns.event_id, row.seq);
        let copy = rows.iter().filter(|other| other.bytes == row.bytes).count() > 1;
        let event_id = if copy { &*unique } else { columns.event_id };
        connection
            .execute(
                "insert into audit_event (tenant_id, seq, event_id, prev, bytes, hash, mac, algorithm, key_id, time_us, \
                 kind, principal, capability, target_id, result, correlation_id) \
                 values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
                params![
                    tenant,
                    row.seq,
                    event_id,
                    row.prev,
                    row.bytes,
                    row.hash,
                    row.mac,
                    row.algorithm,
                    row.key_id,
                    columns.time_us,
                    columns.kind,
                    columns.principal,
                    columns.capability,
                    columns.target_id,
                    columns.result,
                    columns.correlation_id
                ],
            )
            .unwrap();
    }
    if let Some(last) = rows.last() {
        connection
            .execute(
                "insert into audit_head (tenant_id, seq, hash) values (?1, ?2, ?3)",
                params![tenant, last.seq, last.hash],
            )
            .unwrap();
    }
}
