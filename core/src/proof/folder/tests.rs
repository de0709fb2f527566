use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::{
    audit::{ledger::Ledger, row_bytes::tests::event},
    proof::{
        exported::{Exported, rows},
        verify_export,
    },
};

const TIME: &str = "2026-01-31T09:30:00.000000Z";

fn intact(dir: &Path) -> i64 {
    let report = verify_export(&crate::proof::Asked {
        dir,
        keys: None,
        trust: None,
        progress: &|_| {},
    })
    .unwrap();
    assert!(report.verification.is_intact(), "{}", report.verification.message);
    report.verification.rows
}

fn finish(folder: Folder) -> Manifest {
    folder.finish(TIME.into(), "toolgate test".into()).unwrap()
}

async fn text(exported: &Exported, after: i64) -> Vec<u8> {
    let mut export = exported.export(after);
    let mut text = Vec::new();
    while let Some(chunk) = export.next_chunk().await.unwrap() {
        text.extend_from_slice(&chunk);
    }
    text
}

/// The rows of the record after more was written, with what a gateway says of them.
async fn grown(exported: Exported, more: usize) -> Exported {
    let mut exported = exported;
    exported
        .ledger
        .append((0..more).map(|number| event(&format!("d.d_{number}"))))
        .await;
    exported.rows = rows(&exported.ledger).await;
    exported
}

#[tokio::test]
async fn a_later_run_goes_on_where_the_export_ends() {
    for format in [Format::Ndjson, Format::Csv] {
        let mut exported = grown(Exported::new(format).await, 4).await;
        let dir = exported.dir.clone();
        let mut folder = Folder::open(&dir, format).unwrap();
        let last = folder.last().unwrap();
        assert_eq!((last.seq, folder.count(), folder.first_seq()), (9, 9, Some(1)));
        exported.fill(&mut folder, last.seq - 1).await;
        assert_eq!(finish(folder).count, 13);
        assert_eq!(intact(&dir), 13);

        let mut folder = Folder::open(&dir, format).unwrap();
        exported.fill(&mut folder, 12).await;
        finish(folder);
        assert_eq!(intact(&dir), 13, "nothing new");
    }
}

#[tokio::test]
async fn an_export_that_broke_off_anywhere_is_gone_on_with() {
    for format in [Format::Ndjson, Format::Csv] {
        let mut exported = Exported::new(format).await;
        let file = exported.dir.join(segment_name(1, format));
        let whole = fs::read(&file).unwrap();
        for kept in [
            0,
            1,
            100,
            1_500,
            whole.len() / 2,
            whole.len() - 2,
            whole.len() - 1,
        ] {
            fs::write(&file, &whole[..kept]).unwrap();
            fs::remove_file(exported.dir.join(MANIFEST)).unwrap();
            let mut folder = Folder::open(&exported.dir, format).unwrap();
            let after = folder.last().map_or(0, |last| last.seq - 1);
            exported.fill(&mut folder, after).await;
            finish(folder);
            assert_eq!(fs::read(&file).unwrap(), whole, "{kept} bytes kept");
            assert_eq!(intact(&exported.dir), 9);
        }
    }
}

#[tokio::test]
async fn rows_are_cut_into_files_of_a_bounded_size_whatever_the_pieces() {
    for format in [Format::Ndjson, Format::Csv] {
        let exported = Exported::new(format).await;
        let dir = exported.ledger.dir.path().join("pieces");
        let mut folder = Folder::open_with(&dir, format, 2_000).unwrap();
        for piece in text(&exported, 0).await.chunks(77) {
            folder.take_rows(piece, i64::MAX).unwrap();
        }
        folder.end_of_rows().unwrap();
        for piece in exported.evidence().as_bytes().chunks(77) {
            folder.take_evidence(piece).unwrap();
        }
        folder.end_of_evidence().unwrap();
        let manifest = finish(folder);
        assert!(manifest.segments().count() > 2, "{manifest:?}");
        assert_eq!(intact(&dir), 9);
        let mode = fs::metadata(dir.join(&manifest.files[0].name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);

        let folder = Folder::open_with(&dir, format, 2_000).unwrap();
        assert_eq!(folder.count(), 9, "and read again");
    }
}

#[tokio::test]
async fn rows_after_the_newest_checkpoint_are_left_away() {
    let mut exported = Exported::new(Format::Ndjson).await;
    let dir = exported.ledger.dir.path().join("bounded");
    let mut folder = Folder::open(&dir, Format::Ndjson).unwrap();
    folder.take_rows(&text(&exported, 0).await, 6).unwrap();
    folder.end_of_rows().unwrap();
    exported.rows.truncate(6);
    folder.take_evidence(exported.evidence().as_bytes()).unwrap();
    assert_eq!(folder.end_of_evidence().unwrap(), Some(6));
    assert_eq!(finish(folder).last_seq, 6);
    assert_eq!(intact(&dir), 6);
}

#[tokio::test]
async fn a_record_that_does_not_join_on_is_told() {
    let check = |sql: &str, expected: &str| {
        let (sql, expected) = (sql.to_owned(), expected.to_owned());
        async move {
            let exported = Exported::new(Format::Ndjson).await;
            exported.ledger.tamper(&sql);
            let mut folder = Folder::open(&exported.dir, Format::Ndjson).unwrap();
            let taken = folder.take_rows(&text(&exported, 8).await, i64::MAX);
            let refused = taken.and_then(|()| folder.end_of_rows()).unwrap_err();
            assert!(
                refused.is_finding() && refused.to_string().contains(&expected),
                "{refused}"
            );
        }
    };
    check("delete from audit_event where seq = 9", "its end was cut off").await;
    check(
        "update audit_event set hash = zeroblob(32) where seq = 9",
        "another hash",
    )
    .await;
    check("update audit_event set seq = 10 where seq = 9", "row 10 came").await;
}

#[tokio::test]
async fn what_is_there_and_does_not_fit_is_left_alone() {
    let exported = Exported::new(Format::Ndjson).await;
    let refused = |format| Folder::open(&exported.dir, format).unwrap_err().to_string();
    assert!(refused(Format::Csv).contains("another format"));
    let file = exported.dir.join(segment_name(1, Format::Ndjson));
    let whole = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    for spoilt in [
        lines[1..].concat() + lines[0],
        lines[..4].concat() + "{}\n" + &lines[5..].concat(),
        lines[..4].concat() + &lines[5..].concat(),
        "x".repeat(300_000),
    ] {
        fs::write(&file, &spoilt).unwrap();
        let told = refused(Format::Ndjson);
        assert!(told.contains("does not follow"), "{told}");
        assert_eq!(fs::read_to_string(&file).unwrap(), spoilt, "left as it is");
    }
    fs::write(&file, whole).unwrap();
    fs::write(exported.dir.join(MANIFEST), "{}").unwrap();
    assert!(refused(Format::Ndjson).contains("cannot be read"));
}

#[tokio::test]
async fn what_is_no_export_is_refused_and_nothing_makes_none() {
    let dir = tempfile::tempdir().unwrap();
    let open = || Folder::open(&dir.path().join("new"), Format::Ndjson).unwrap();
    assert!(matches!(
        open().take_rows(b"<html>\n", i64::MAX),
        Err(FolderError::Line(_))
    ));
    assert!(matches!(
        open().take_evidence(b"<html>\n"),
        Err(FolderError::Evidence(_))
    ));
    assert!(matches!(
        open().take_rows(&[b'x'; 300_000], i64::MAX),
        Err(FolderError::Line(_))
    ));
    let mut cut = open();
    cut.take_rows(b"{\"seq\":", i64::MAX).unwrap();
    assert!(matches!(cut.end_of_rows(), Err(FolderError::Line(_))));
    assert!(matches!(
        open().finish(TIME.into(), String::new()),
        Err(FolderError::Nothing)
    ));
}

#[tokio::test]
async fn a_tampered_record_is_exported_as_it_is() {
    let ledger = Ledger::with(&["a.a", "a.b", "a.c", "a.d"]).await;
    ledger
        .tamper("update audit_event set bytes = x'01' where seq = 2; delete from audit_event where seq = 3");
    let exported = Exported::of(ledger, Format::Csv, 0).await;
    let report = verify_export(&crate::proof::Asked {
        dir: &exported.dir,
        keys: None,
        trust: None,
        progress: &|_| {},
    });
    let found = report.unwrap().verification;
    assert_eq!(
        (found.verdict, found.seq),
        (crate::audit::Verdict::Edited, 2),
        "{}",
        found.message
    );
}
