use std::{fs, os::unix::fs::symlink};

use proptest::prelude::*;

use super::*;
use crate::{
    audit::{Event, export::Format, ledger::Ledger},
    keys::RootKeys,
    proof::exported::{Exported, Owned, ROWS, rehash, reseal},
};

fn verified(exported: &Exported, with_keys: bool) -> ExportReport {
    let keys: Option<Arc<dyn RecordKeys>> = match with_keys {
        true => Some(Arc::new(RootKeys::open(exported.ledger.dir.path()).unwrap())),
        false => None,
    };
    verify_export(&Asked {
        dir: &exported.dir,
        keys,
        trust: None,
        progress: &|_| {},
    })
    .unwrap()
}

fn found(exported: &Exported, with_keys: bool) -> (Verdict, i64, String) {
    let found = verified(exported, with_keys).verification;
    (found.verdict, found.seq, found.message)
}

#[tokio::test]
async fn an_export_is_intact_in_both_formats_with_keys_and_without() {
    for format in [Format::Ndjson, Format::Csv] {
        let exported = Exported::new(format).await;
        for with_keys in [false, true] {
            let report = verified(&exported, with_keys);
            let found = &report.verification;
            assert_eq!(
                (
                    found.verdict,
                    found.rows,
                    found.from,
                    found.checkpoints,
                    found.covered
                ),
                (Verdict::Intact, 9, 1, 3, 9),
                "{}",
                found.message
            );
            assert_eq!((report.macs, report.pinned), (with_keys, false));
            assert_eq!(report.trust_root, Some(exported.signing.public().trust_root()));
        }
    }
}

#[tokio::test]
async fn the_time_of_an_export_is_that_of_its_last_checkpoint_and_its_record_that_of_the_keys() {
    let exported = Exported::new(Format::Ndjson).await;
    let told = |name: &str, value: &str| {
        let path = exported.dir.join("manifest.json");
        let mut told: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        told[name] = value.into();
        let manifest: Manifest = serde_json::from_value(told).unwrap();
        fs::write(path, manifest.to_text()).unwrap();
        exported.settle(None);
    };
    // Nobody signed what the manifest says.
    told("exportedAt", "2036-01-01T00:00:00.000000Z");
    let report = verified(&exported, false);
    assert!(report.verification.is_intact());
    assert_eq!(report.signed_us, Some(exported.checkpoint(ROWS).time_us));

    told("origin", "toolgate/01ARZ3NDEKTSV4RRFFQ69G5FAV");
    let report = verified(&exported, false);
    assert_eq!(report.verification.verdict, Verdict::Edited);
    let message = &report.verification.message;
    assert!(message.contains("names the record toolgate/01ARZ3"), "{message}");
    assert_eq!(report.signed_us, None);
}

#[tokio::test]
async fn an_end_that_no_checkpoint_covers_is_told_plainly() {
    let exported = Exported::new(Format::Ndjson).await;
    exported.tamper_checkpoints(|lines| drop(lines.pop()));
    let (verdict, seq, message) = found(&exported, true);
    assert_eq!((verdict, seq), (Verdict::BadSignature, 7), "{message}");
    assert!(
        message.contains("no checkpoint covers the rows from 7 to 9"),
        "{message}"
    );
}

#[tokio::test]
async fn an_export_of_the_later_part_is_intact() {
    let ledger = Ledger::with(&["a.a", "a.b", "a.c", "a.d", "a.e"]).await;
    let exported = Exported::of(ledger, Format::Ndjson, 2).await;
    let found = verified(&exported, true).verification;
    assert_eq!(
        (found.verdict, found.rows, found.from),
        (Verdict::Intact, 3, 3),
        "{}",
        found.message
    );
}

#[tokio::test]
async fn the_pinned_key_is_asked_for() {
    let exported = Exported::new(Format::Ndjson).await;
    let check = |trust: Trust| {
        verify_export(&Asked {
            dir: &exported.dir,
            keys: None,
            trust: Some(trust),
            progress: &|_| {},
        })
        .unwrap()
    };
    let root = exported.signing.public().trust_root();
    for trust in [Trust::Root(root.clone()), Trust::Key(root.key)] {
        let report = check(trust);
        assert!(report.pinned && report.verification.is_intact());
    }
    let report = check(Trust::Key([7; 32]));
    assert!(!report.pinned);
    assert_eq!(report.verification.verdict, Verdict::BadSignature);
}

#[tokio::test]
async fn lines_in_another_order_are_found() {
    let exported = Exported::new(Format::Ndjson).await;
    exported.tamper(|rows| rows.swap(3, 6));
    assert_eq!(found(&exported, false).0, Verdict::OutOfOrder);
    exported.tamper(|rows| {
        let row = rows[4].clone();
        rows.insert(5, row);
    });
    assert_eq!(found(&exported, false).0, Verdict::OutOfOrder, "a line twice");
}

#[tokio::test]
async fn an_edited_checkpoint_is_found() {
    let check = |what: &str, change: fn(&Exported, &mut Vec<String>), expected: Verdict| {
        let what = what.to_owned();
        async move {
            let exported = Exported::new(Format::Ndjson).await;
            exported.tamper_checkpoints(|lines| change(&exported, lines));
            let (verdict, seq, message) = found(&exported, true);
            assert_eq!(verdict, expected, "{what}: {seq} {message}");
        }
    };
    check(
        "its hash",
        |_, lines| lines[1] = edit(&lines[1], "hash"),
        Verdict::BadSignature,
    )
    .await;
    check(
        "its time",
        |_, lines| lines[1] = lines[1].replace("000006Z", "000007Z"),
        Verdict::BadSignature,
    )
    .await;
    check(
        "its place",
        |_, lines| lines[1] = lines[1].replace("\"seq\":6", "\"seq\":5"),
        Verdict::BadSignature,
    )
    .await;
    check(
        "its signature",
        |_, lines| lines[1] = edit(&lines[1], "signature"),
        Verdict::BadSignature,
    )
    .await;
    check(
        "no line",
        |_, lines| lines[1] = "{}".into(),
        Verdict::BadSignature,
    )
    .await;
    check("their order", |_, lines| lines.swap(0, 1), Verdict::Fork).await;
    check(
        "the last taken away",
        |_, lines| drop(lines.pop()),
        Verdict::BadSignature,
    )
    .await;
    check("all taken away", |_, lines| lines.clear(), Verdict::BadSignature).await;
    check(
        "another record's",
        |exported, lines| {
            let other = tempfile::tempdir().unwrap();
            let clock = crate::clock::Clock::manual(1_767_225_600_000_000);
            let signing = crate::anchor::SigningKeys::open(other.path(), &clock, false).unwrap();
            let hash = exported.rows[8].hash.clone().try_into().unwrap();
            let tenant = &exported.ledger.tenant;
            lines[2] = crate::anchor::Checkpoint::sign(signing.newest(), tenant, 9, hash, 0).to_line();
        },
        Verdict::BadSignature,
    )
    .await;
}

// Another value of the same form.
fn edit(line: &str, member: &str) -> String {
    let at = line.find(&format!("\"{member}\":\"")).unwrap() + member.len() + 4;
    let other = if &line[at..=at] == "a" { "b" } else { "a" };
    format!("{}{other}{}", &line[..at], &line[at + 1..])
}

#[tokio::test]
async fn a_chain_or_a_row_of_another_tenant_is_found() {
    let exported = Exported::new(Format::Ndjson).await;
    let other = Exported::new(Format::Ndjson).await;
    exported.tamper(|rows| rows[4] = other.rows[4].clone());
    assert_eq!(found(&exported, false).0, Verdict::Edited, "a row");
    exported.tamper(|rows| rows.clone_from(&other.rows));
    assert_eq!(found(&exported, false).0, Verdict::Edited, "the chain");

    // The whole export, said to be ours.
    let text = fs::read_to_string(other.dir.join(MANIFEST)).unwrap();
    let renamed = text.replace(other.ledger.tenant.as_str(), exported.ledger.tenant.as_str());
    fs::write(other.dir.join(MANIFEST), renamed).unwrap();
    other.settle(None);
    assert!(!verified(&other, false).verification.is_intact());
}

#[tokio::test]
async fn an_edited_time_is_found() {
    let exported = Exported::new(Format::Ndjson).await;
    let moved = |event: Event| Event {
        time_us: event.time_us + 3_600_000_000,
        ..event
    };
    let change = |row: &mut Owned| {
        row.bytes = crate::audit::encode(&moved(crate::audit::decode(&row.bytes).unwrap()));
    };
    exported.tamper(|rows| change(&mut rows[4]));
    assert_eq!(
        (found(&exported, false).0, found(&exported, false).1),
        (Verdict::Edited, 5)
    );
    exported.tamper(|rows| {
        change(&mut rows[4]);
        rehash(&exported.ledger.tenant, rows, 5);
    });
    assert_eq!(found(&exported, false).0, Verdict::Fork);
    assert_eq!(found(&exported, true).0, Verdict::BadMac);
}

#[tokio::test]
async fn who_rehashes_everything_is_found_by_the_checkpoints_and_who_signs_anew_by_the_pinned_key_or_the_macs()
 {
    let exported = Exported::new(Format::Ndjson).await;
    let mut rows = exported.rows.clone();
    rows[0].rewrite("b.b");
    reseal(&exported.ledger, &mut rows, 1);
    exported.tamper(|old| old.clone_from(&rows));
    assert_eq!(found(&exported, true).0, Verdict::Fork, "even with the root key");

    rehash(&exported.ledger.tenant, &mut rows, 1);
    rows.iter_mut().for_each(|row| row.mac = vec![0; 32]);
    exported.tamper(|old| old.clone_from(&rows));
    exported.sign_anew(&rows);
    let report = verified(&exported, false);
    assert!(
        report.verification.is_intact() && !report.pinned,
        "nothing in it can tell"
    );
    assert_ne!(report.trust_root, Some(exported.signing.public().trust_root()));
    assert_eq!(found(&exported, true).0, Verdict::BadMac);
    let pinned = verify_export(&Asked {
        dir: &exported.dir,
        keys: None,
        trust: Some(Trust::Root(exported.signing.public().trust_root())),
        progress: &|_| {},
    });
    assert_eq!(pinned.unwrap().verification.verdict, Verdict::BadSignature);
}

#[tokio::test]
async fn files_that_do_not_fit_the_manifest_are_found() {
    let check = |what: &str, change: fn(&Exported), expected: Verdict| {
        let what = what.to_owned();
        async move {
            let exported = Exported::new(Format::Ndjson).await;
            change(&exported);
            let (verdict, seq, message) = found(&exported, false);
            assert_eq!(verdict, expected, "{what}: {seq} {message}");
        }
    };
    fn append(path: std::path::PathBuf, text: &str) {
        let content = fs::read_to_string(&path).unwrap();
        fs::write(path, content + text).unwrap();
    }
    fn events(exported: &Exported) -> std::path::PathBuf {
        exported.dir.join("events-000000000001.ndjson")
    }
    check(
        "no rows",
        |it| fs::remove_file(events(it)).unwrap(),
        Verdict::ChainMissing,
    )
    .await;
    check(
        "empty rows",
        |it| fs::write(events(it), "").unwrap(),
        Verdict::ChainMissing,
    )
    .await;
    check("a line more", |it| append(events(it), "{}\n"), Verdict::Edited).await;
    check(
        "a line without end",
        |it| append(events(it), "{}"),
        Verdict::Edited,
    )
    .await;
    check("a blank line", |it| append(events(it), "\n"), Verdict::Edited).await;
    check(
        "no keys",
        |it| fs::remove_file(it.dir.join("keys.ndjson")).unwrap(),
        Verdict::BadSignature,
    )
    .await;
    check(
        "no checkpoints",
        |it| fs::remove_file(it.dir.join("checkpoints.ndjson")).unwrap(),
        Verdict::Edited,
    )
    .await;
    check(
        "no digests",
        |it| fs::remove_file(it.dir.join(SUMS)).unwrap(),
        Verdict::Edited,
    )
    .await;
    check(
        "other digests",
        |it| append(it.dir.join(SUMS), "\n"),
        Verdict::Edited,
    )
    .await;
    check(
        "another count",
        |it| {
            let text = fs::read_to_string(it.dir.join(MANIFEST)).unwrap();
            fs::write(
                it.dir.join(MANIFEST),
                text.replace("\"count\": 9", "\"count\": 8"),
            )
            .unwrap();
            it.settle(None);
        },
        Verdict::Edited,
    )
    .await;
}

#[tokio::test]
async fn hostile_folders_end_soon_and_clearly() {
    let check = |what: &str, change: fn(&Exported), expected: &str| {
        let (what, expected) = (what.to_owned(), expected.to_owned());
        async move {
            let exported = Exported::new(Format::Ndjson).await;
            change(&exported);
            let told = match verify_export(&Asked {
                dir: &exported.dir,
                keys: None,
                trust: None,
                progress: &|_| {},
            }) {
                Ok(report) => {
                    assert!(!report.verification.is_intact(), "{what}");
                    report.verification.message
                }
                Err(error) => error.to_string(),
            };
            assert!(told.contains(&expected), "{what}: {told}");
        }
    };
    fn sparse(path: std::path::PathBuf) {
        fs::File::create(path).unwrap().set_len(10_000_000_000).unwrap();
    }
    fn link(path: std::path::PathBuf) {
        let aside = path.with_extension("aside");
        fs::rename(&path, &aside).unwrap();
        symlink(aside, path).unwrap();
    }
    check(
        "no manifest",
        |it| fs::remove_file(it.dir.join(MANIFEST)).unwrap(),
        "not finished",
    )
    .await;
    check(
        "deep JSON",
        |it| fs::write(it.dir.join(MANIFEST), "[".repeat(1_000_000)).unwrap(),
        "manifest",
    )
    .await;
    check("a huge manifest", |it| sparse(it.dir.join(MANIFEST)), "bytes").await;
    check(
        "a linked manifest",
        |it| link(it.dir.join(MANIFEST)),
        "cannot read",
    )
    .await;
    check(
        "huge rows",
        |it| sparse(it.dir.join("events-000000000001.ndjson")),
        "longer than any row",
    )
    .await;
    check(
        "linked rows",
        |it| link(it.dir.join("events-000000000001.ndjson")),
        "cannot read",
    )
    .await;
    check(
        "rows that are a folder",
        |it| {
            let path = it.dir.join("events-000000000001.ndjson");
            fs::remove_file(&path).unwrap();
            fs::create_dir(path).unwrap();
        },
        "no plain file",
    )
    .await;
    check(
        "huge checkpoints",
        |it| sparse(it.dir.join("checkpoints.ndjson")),
        "cut short",
    )
    .await;
    check(
        "linked checkpoints",
        |it| link(it.dir.join("checkpoints.ndjson")),
        "cannot read",
    )
    .await;
    check("huge keys", |it| sparse(it.dir.join("keys.ndjson")), "bytes").await;
    check("huge digests", |it| sparse(it.dir.join(SUMS)), "bytes").await;
}

/// Every byte of a small export, one after the other: slow, so a few thousand of them.
#[tokio::test]
async fn no_changed_byte_of_any_file_goes_unseen() {
    for format in [Format::Ndjson, Format::Csv] {
        let exported = Exported::new(format).await;
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(300));
        let files: Vec<_> = fs::read_dir(&exported.dir)
            .unwrap()
            .map(|file| file.unwrap().path())
            .collect();
        assert_eq!(files.len(), 5);
        let changes = (0..files.len(), any::<prop::sample::Index>(), 1u8..);
        let ran = runner.run(&changes, |(file, at, by)| {
            let whole = fs::read(&files[file]).unwrap();
            let mut changed = whole.clone();
            let at = at.index(changed.len());
            changed[at] = changed[at].wrapping_add(by);
            fs::write(&files[file], &changed).unwrap();
            let told = verify_export(&Asked {
                dir: &exported.dir,
                keys: None,
                trust: None,
                progress: &|_| {},
            });
            fs::write(&files[file], &whole).unwrap();
            prop_assert!(
                told.is_err() || !told.unwrap().verification.is_intact(),
                "{:?} at {at}",
                files[file]
            );
            Ok(())
        });
        ran.unwrap();
        assert!(verified(&exported, false).verification.is_intact());
    }
    assert_eq!(ROWS, 9);
}
