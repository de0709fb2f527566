//! One event, the tail, a verification that is watched, and exports of all kinds.

use data_encoding::HEXLOWER;

use super::*;
use crate::{
    audit::{chain::row_hash, verify::Verdict},
    proof::{self, Asked, unpacked},
};

impl World {
    async fn event(&self, token: &str, seq: i64) -> Result<wire::GetEventResponse, Status> {
        let asked = with(token, wire::GetEventRequest { seq });
        self.audit()
            .get_event(asked)
            .await
            .map(tonic::Response::into_inner)
    }

    async fn watch(
        &self,
        token: &str,
        incremental: bool,
    ) -> Result<tonic::Streaming<wire::StreamVerificationResponse>, Status> {
        let incremental = Some(incremental);
        let asked = with(token, wire::StreamVerificationRequest { incremental });
        let lines = self.audit().stream_verification(asked).await;
        lines.map(tonic::Response::into_inner)
    }

    async fn verifications(&self) -> usize {
        let asked = wire::ListEventsRequest {
            event: Some("audit.verified".into()),
            ..Default::default()
        };
        self.events(&self.admin, asked).await.len()
    }

    async fn archive(&self, token: &str, asked: wire::ExportArchiveRequest) -> Result<Vec<u8>, Status> {
        let mut pieces = self
            .audit()
            .export_archive(with(token, asked))
            .await?
            .into_inner();
        let mut archive = Vec::new();
        while let Some(piece) = pieces.next().await {
            archive.extend_from_slice(&piece?.chunk);
        }
        Ok(archive)
    }
}

#[tokio::test]
async fn an_event_is_told_with_what_was_hashed_and_how_it_is_sealed() {
    let world = World::new().await;
    world.host().await;
    let rows = world.events(&world.admin, Default::default()).await;
    let tenant: toolgate_contract::ids::TenantId = rows[0].tenant_id.parse().unwrap();
    let mut before = String::new();
    for row in rows.iter().rev() {
        let told = world.event(&world.admin, row.seq).await.unwrap();
        assert_eq!(told.event.as_ref(), Some(row));
        assert!(before.is_empty() || before == told.prev_hash);
        let prev: [u8; 32] = HEXLOWER
            .decode(told.prev_hash.as_bytes())
            .unwrap()
            .try_into()
            .unwrap();
        let hash = row_hash(told.algorithm, &tenant, row.seq, &prev, &told.bytes);
        assert_eq!(HEXLOWER.encode(&hash), told.hash);
        assert_eq!(
            (told.mac.len(), told.algorithm, told.key_id.is_empty()),
            (64, 1, false)
        );
        before = told.hash;
    }
    let asked = wire::ExportCheckpointsRequest::default();
    world
        .audit()
        .export_checkpoints(with(&world.admin, asked))
        .await
        .unwrap();
    let covering = world.event(&world.admin, 1).await.unwrap().checkpoint.unwrap();
    assert_eq!(covering.seq, rows[0].seq);
    world.host_named("db").await;
    let newest = world.events(&world.admin, Default::default()).await[0].seq;
    assert!(newest > covering.seq);
    let told = world.event(&world.admin, newest).await.unwrap();
    assert!(told.checkpoint.is_none_or(|checkpoint| checkpoint.seq >= newest));
}

#[tokio::test]
async fn an_engineer_is_told_its_own_events_and_others_like_ones_that_are_not_there() {
    let world = World::with(Some(Fixtures::default())).await;
    let engineer = world.token("engineer").await.token;
    let call = wire::CallRequest {
        name: "test_simple_text".into(),
        ..Default::default()
    };
    world.broker().call(with(&engineer, call)).await.unwrap();
    let own = world.events(&engineer, Default::default()).await;
    assert_eq!(own.len(), 1);
    assert_eq!(
        world.event(&engineer, own[0].seq).await.unwrap().event.as_ref(),
        Some(&own[0])
    );

    let refused = async |token: &str, seq| Failure::from_status(&world.event(token, seq).await.unwrap_err());
    let missing = refused(&engineer, 9_999).await;
    assert_eq!(missing.reason(), ErrorReason::ResourceNotFound);
    for seq in [1, 0, -1, i64::MIN, i64::MAX] {
        assert_eq!(refused(&engineer, seq).await, missing, "{seq}");
    }
    assert_eq!(refused(&world.admin, 9_999).await, missing);
    assert!(world.event(&world.token("auditor").await.token, 1).await.is_ok());
    let agent = world.token("agent").await.token;
    assert_eq!(
        refused(&agent, own[0].seq).await.reason(),
        ErrorReason::RoleForbidden
    );
}

#[tokio::test]
async fn the_tail_is_oldest_first_and_says_where_to_go_on() {
    let world = World::new().await;
    world.host().await;
    let tail = async |token: &str, asked: wire::ListEventsRequest| {
        let answer = world.audit().list_events(with(token, asked)).await;
        answer.map(tonic::Response::into_inner)
    };
    let after = |after_seq, page_size| wire::ListEventsRequest {
        after_seq: Some(after_seq),
        page_size: Some(page_size),
        ..Default::default()
    };
    let told = tail(&world.admin, after(1, 2)).await.unwrap();
    let seqs: Vec<_> = told.events.iter().map(|event| event.seq).collect();
    assert_eq!(
        (seqs, told.next_after_seq, &*told.next_cursor),
        (vec![2, 3], Some(3), "")
    );
    let told = tail(&world.admin, after(3, 9)).await.unwrap();
    assert_eq!((told.events.len(), told.next_after_seq), (1, Some(4)));
    let told = tail(&world.admin, after(4, 9)).await.unwrap();
    assert_eq!((told.events.len(), told.next_after_seq), (0, Some(4)));

    // What passes no filter is not looked at again.
    let nothing = wire::ListEventsRequest {
        event: Some("audit.verified".into()),
        ..after(0, 9)
    };
    let told = tail(&world.admin, nothing).await.unwrap();
    assert_eq!((told.events.len(), told.next_after_seq), (0, Some(4)));
    let others = wire::ListEventsRequest {
        principal: Some("an admin".into()),
        ..after(2, 9)
    };
    let told = tail(&world.token("engineer").await.token, others).await.unwrap();
    assert_eq!((told.events.len(), told.next_after_seq), (0, Some(2)));

    for wrong in [
        after(-1, 9),
        wire::ListEventsRequest {
            cursor: Some("before-2".into()),
            ..after(1, 9)
        },
    ] {
        let refused = tail(&world.admin, wrong).await.unwrap_err();
        assert_eq!(reason(&refused), ErrorReason::ArgumentsInvalid);
        assert!(refused.message().starts_with("after_seq: "), "{refused}");
    }
    assert_eq!(
        tail(&world.admin, Default::default())
            .await
            .unwrap()
            .next_after_seq,
        None
    );
}

#[tokio::test]
async fn a_verification_that_is_watched_ends_with_the_answer_of_the_other() {
    let world = World::new().await;
    world.host().await;
    let mut lines = world.watch(&world.admin, false).await.unwrap();
    let mut text = String::new();
    while let Some(piece) = lines.next().await {
        text.push_str(std::str::from_utf8(&piece.unwrap().chunk).unwrap());
    }
    assert!(text.ends_with('\n'));
    let told: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (last, far) = told.split_last().unwrap();
    assert!(
        far.iter()
            .all(|line| line["of"] == 4 && line["rows"].as_i64().unwrap() <= 4),
        "{far:?}"
    );
    assert_eq!(world.verifications().await, 1);

    // As if asked for the rows up to the same place.
    let asked = with(
        &world.admin,
        wire::VerifyAuditRequest {
            incremental: Some(true),
        },
    );
    let whole = world.audit().verify_audit(asked).await.unwrap().into_inner();
    assert_eq!(
        (&last["verdict"], &last["rows"], &last["throughSeq"]),
        (&json!("intact"), &json!(4), &json!(4))
    );
    assert_eq!(whole.from_seq, 5, "it was remembered like any other");
    let keys: Vec<_> = last.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "verdict",
            "rows",
            "seq",
            "message",
            "headHash",
            "fromSeq",
            "throughSeq",
            "checkpoints",
            "checkpointSeq"
        ]
    );
}

#[tokio::test]
async fn a_verification_that_nobody_watches_any_more_leaves_no_row_and_frees_its_place() {
    let world = World::new().await;
    let mut watched = vec![];
    for _ in 0..4 {
        watched.push(world.watch(&world.admin, false).await.unwrap());
    }
    let refused = world.watch(&world.admin, false).await.unwrap_err();
    assert_eq!(reason(&refused), ErrorReason::Overloaded);
    let unwatched = with(&world.admin, wire::VerifyAuditRequest::default());
    let refused = world.audit().verify_audit(unwatched).await.unwrap_err();
    assert_eq!(
        reason(&refused),
        ErrorReason::Overloaded,
        "without a watcher as well"
    );
    drop(watched);
    let freed = async {
        loop {
            match world.watch(&world.admin, true).await {
                Ok(lines) => return lines,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    };
    let lines = tokio::time::timeout(Duration::from_secs(10), freed)
        .await
        .expect("a free place");
    let rows = world.verifications().await;
    drop(lines);
    assert!(rows <= 4, "those that were left had not to end: {rows}");
}

#[tokio::test]
async fn exports_that_nobody_reads_on_are_eight_at_most_whatever_is_exported() {
    let world = World::new().await;
    let events = || with(&world.admin, wire::ExportEventsRequest::default());
    let mut open = vec![];
    for _ in 0..8 {
        open.push(world.audit().export_events(events()).await.unwrap().into_inner());
    }
    let archive = with(&world.admin, wire::ExportArchiveRequest::default());
    let checkpoints = with(&world.admin, wire::ExportCheckpointsRequest::default());
    let refusals = [
        world.audit().export_events(events()).await.err(),
        world.audit().export_archive(archive).await.err(),
        world.audit().export_checkpoints(checkpoints).await.err(),
    ];
    for refused in refusals {
        assert_eq!(reason(&refused.expect("refused")), ErrorReason::Overloaded);
    }
    drop(open);
    let freed = async {
        while world.audit().export_events(events()).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), freed)
        .await
        .expect("a free place");
}

#[tokio::test]
async fn whole_records_are_for_admins_and_auditors_alone() {
    let world = World::new().await;
    for (role, may) in [
        ("admin", true),
        ("engineer", false),
        ("auditor", true),
        ("agent", false),
    ] {
        let token = world.token(role).await.token;
        let watched = world.watch(&token, false).await.map(drop);
        let archived = world.archive(&token, Default::default()).await.map(drop);
        let exported = world
            .audit()
            .export_events(with(&token, Default::default()))
            .await
            .map(drop);
        for answer in [watched, archived, exported] {
            match may {
                true => answer.unwrap(),
                false => assert_eq!(reason(&answer.unwrap_err()), ErrorReason::RoleForbidden, "{role}"),
            }
        }
    }
}

#[tokio::test]
async fn rows_are_exported_for_spreadsheets_and_say_so() {
    let world = World::new().await;
    let export = async |format: Option<&str>| {
        let asked = wire::ExportEventsRequest {
            after_seq: None,
            format: format.map(str::to_owned),
        };
        let pieces = world.audit().export_events(with(&world.admin, asked)).await;
        let mut pieces = pieces?.into_inner();
        pieces.next().await.unwrap()
    };
    let first = export(Some("csv")).await.unwrap();
    assert_eq!(first.content_type, "text/csv");
    assert!(first.chunk.starts_with(b"seq,event,eventId,time,"));
    for format in [None, Some("ndjson")] {
        let first = export(format).await.unwrap();
        assert_eq!(first.content_type, "application/x-ndjson");
        assert!(first.chunk.starts_with(b"{\"seq\":1,"));
    }
    let refused = export(Some("xml")).await.unwrap_err();
    assert!(
        refused
            .message()
            .starts_with("format: must be one of ndjson, csv"),
        "{refused}"
    );
}

#[tokio::test]
async fn an_archive_is_whole_and_intact_up_to_now() {
    let world = World::new().await;
    world.host().await;
    for format in ["ndjson", "csv"] {
        let asked = wire::ExportArchiveRequest {
            after_seq: None,
            format: Some(format.into()),
        };
        let archive = world.archive(&world.admin, asked).await.unwrap();
        let dir = tempfile::tempdir().unwrap();
        for (path, content) in unpacked(&archive) {
            std::fs::write(dir.path().join(path.split_once('/').unwrap().1), content).unwrap();
        }
        let report = proof::verify_export(&Asked {
            dir: dir.path(),
            keys: None,
            trust: None,
            progress: &|_| {},
        });
        let report = report.unwrap();
        let found = &report.verification;
        assert_eq!(
            (found.verdict, found.rows, found.covered),
            (Verdict::Intact, 4, 4),
            "{format}: {}",
            found.message
        );
        assert_eq!(report.manifest.format().as_str(), format);
    }
    let beyond = wire::ExportArchiveRequest {
        after_seq: Some(4),
        format: None,
    };
    let refused = world.archive(&world.admin, beyond).await.unwrap_err();
    assert!(
        refused.message().starts_with("after_seq: there are no rows"),
        "{refused}"
    );
}
