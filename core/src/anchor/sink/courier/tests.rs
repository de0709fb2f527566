use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::BoxFuture;

use super::*;
use crate::anchor::{
    files::Files,
    sink::webhook::tests::{peer, webhook},
};

const PACE: Pace = Pace {
    first_wait: Duration::from_millis(1),
    longest_wait: Duration::from_millis(4),
    most_bytes: 8,
    last_lines: Duration::from_secs(2),
};

/// Keeps what it takes; refuses the first so many times.
#[derive(Debug, Default)]
struct Shelf {
    taken: Mutex<Vec<u8>>,
    posts: AtomicUsize,
    refuse: AtomicUsize,
}

impl Sink for Shelf {
    fn name(&self) -> &'static str {
        "shelf"
    }

    fn append(&self, lines: Vec<u8>) -> BoxFuture<'_, Result<(), SinkError>> {
        Box::pin(async move {
            self.posts.fetch_add(1, Ordering::SeqCst);
            let refused = self
                .refuse
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
            if refused.is_ok() {
                return Err(SinkError("away".into()));
            }
            self.taken.lock().unwrap().extend(lines);
            Ok(())
        })
    }
}

impl Shelf {
    fn taken(&self) -> String {
        String::from_utf8(self.taken.lock().unwrap().clone()).unwrap()
    }
}

fn courier(shelf: &Arc<Shelf>, files: &Files, folder: &Path, peer: &str) -> Courier {
    Courier::new(Arc::clone(shelf) as _, peer, folder, files.durable(), PACE)
}

#[tokio::test]
async fn whole_lines_are_brought_in_order_over_files_and_restarts_each_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut files = Files::open(dir.path()).unwrap();
    let shelf = Arc::new(Shelf::default());
    files.append("2026-01-01.ndjson", b"one\ntwo\nthree\n").unwrap();
    files.append("2026-01-02.ndjson", b"four\n").unwrap();
    courier(&shelf, &files, dir.path(), "me")
        .bring_all()
        .await
        .unwrap();
    assert_eq!(shelf.taken(), "one\ntwo\nthree\nfour\n");
    assert!(shelf.posts.load(Ordering::SeqCst) >= 3);

    files.append("2026-01-02.ndjson", b"five\n").unwrap();
    let mut again = courier(&shelf, &files, dir.path(), "me");
    again.bring_all().await.unwrap();
    again.bring_all().await.unwrap();
    assert_eq!(shelf.taken(), "one\ntwo\nthree\nfour\nfive\n");
}

#[tokio::test]
async fn what_is_not_durable_yet_is_not_brought() {
    let dir = tempfile::tempdir().unwrap();
    let mut files = Files::open(dir.path()).unwrap();
    files.append("2026-01-01.ndjson", b"one\n").unwrap();
    let path = dir.path().join("2026-01-01.ndjson");
    std::fs::write(&path, "one\nnot yet\n").unwrap();
    let shelf = Arc::new(Shelf::default());
    courier(&shelf, &files, dir.path(), "me")
        .bring_all()
        .await
        .unwrap();
    assert_eq!(shelf.taken(), "one\n");
}

#[tokio::test]
async fn a_new_receiver_begins_with_the_oldest_file() {
    let dir = tempfile::tempdir().unwrap();
    let mut files = Files::open(dir.path()).unwrap();
    files.append("2026-01-01.ndjson", b"one\n").unwrap();
    let (first, second) = (Arc::new(Shelf::default()), Arc::new(Shelf::default()));
    courier(&first, &files, dir.path(), "me")
        .bring_all()
        .await
        .unwrap();
    courier(&second, &files, dir.path(), "other")
        .bring_all()
        .await
        .unwrap();
    assert_eq!((first.taken(), second.taken()), ("one\n".into(), "one\n".into()));
}

#[tokio::test]
async fn a_damaged_cursor_or_a_shorter_file_is_told_again_and_never_skipped() {
    let dir = tempfile::tempdir().unwrap();
    let mut files = Files::open(dir.path()).unwrap();
    files.append("2026-01-01.ndjson", b"one\ntwo\n").unwrap();
    let cursor = dir.path().join("shelf.cursor");
    for text in [
        "",
        "garbage",
        "2026-01-01.ndjson x me",
        "2026-01-01.ndjson 4 other",
        "../keys 4 me",
        "2026-01-01.ndjson 4000 me",
    ] {
        std::fs::write(&cursor, text).unwrap();
        let shelf = Arc::new(Shelf::default());
        courier(&shelf, &files, dir.path(), "me")
            .bring_all()
            .await
            .unwrap();
        assert_eq!(shelf.taken(), "one\ntwo\n", "{text:?}");
    }
}

#[tokio::test]
async fn a_peer_that_is_away_gets_everything_when_it_is_back() {
    let dir = tempfile::tempdir().unwrap();
    let mut files = Files::open(dir.path()).unwrap();
    let shelf = Arc::new(Shelf::default());
    shelf.refuse.store(5, Ordering::SeqCst);
    let stop = CancellationToken::new();
    let task = tokio::spawn(courier(&shelf, &files, dir.path(), "me").bring(stop.clone()));
    for line in ["one\n", "two\n", "three\n"] {
        files.append("2026-01-01.ndjson", line.as_bytes()).unwrap();
        tokio::task::yield_now().await;
    }
    // At its end a courier tries once more, so nothing needs to be waited for.
    stop.cancel();
    task.await.unwrap();
    let mut rest = courier(&shelf, &files, dir.path(), "me");
    while rest.bring_all().await.is_err() {}
    assert_eq!(shelf.taken(), "one\ntwo\nthree\n");
}

#[tokio::test]
async fn a_hanging_peer_keeps_nobody_from_stopping() {
    let dir = tempfile::tempdir().unwrap();
    let mut files = Files::open(dir.path()).unwrap();
    files.append("2026-01-01.ndjson", b"one\n").unwrap();
    let (url, mut told) = peer(None).await;
    let pace = Pace {
        last_lines: Duration::from_millis(50),
        ..PACE
    };
    let courier = Courier::new(webhook(&url, None), "me", dir.path(), files.durable(), pace);
    let stop = CancellationToken::new();
    let task = tokio::spawn(courier.bring(stop.clone()));
    told.recv().await.unwrap();
    stop.cancel();
    time::timeout(Duration::from_secs(5), task)
        .await
        .unwrap()
        .unwrap();
}

#[test]
fn waits_grow_to_the_longest_and_half_of_each_is_chance() {
    let pace = Pace::default();
    for failures in 1..80 {
        let whole = Duration::from_secs(1 << (failures - 1).min(6)).min(Duration::from_secs(60));
        let wait = wait(pace, failures);
        assert!(wait >= whole / 2 && wait <= whole, "{failures}: {wait:?}");
    }
}
