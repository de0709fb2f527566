use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use tokio::sync::{Notify, oneshot};

use super::*;

fn flights() -> Flights<&'static str, u32> {
    Flights::new(TaskTracker::new())
}

/// Says that it was dropped.
struct Dropped(Option<oneshot::Sender<()>>);

impl Drop for Dropped {
    fn drop(&mut self) {
        let _heard = self.0.take().unwrap().send(());
    }
}

#[tokio::test]
async fn however_many_wait_the_errand_is_done_once() {
    let (flights, done, go) = (flights(), Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let seats: Vec<_> = (0..50)
        .map(|_| {
            let (done, go) = (Arc::clone(&done), Arc::clone(&go));
            flights.seat("vms", |_| async move {
                go.notified().await;
                done.fetch_add(1, Ordering::SeqCst);
                7
            })
        })
        .collect();
    assert_eq!(seats.iter().filter(|seat| !seat.joined()).count(), 1);
    go.notify_one();
    for mut seat in seats {
        assert_eq!(seat.arrival().await, Some(7));
    }
    assert_eq!(done.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn keys_do_not_wait_for_each_other() {
    let flights = flights();
    let _hanging = flights.seat("one", |_| std::future::pending());
    let mut other = flights.seat("two", |_| std::future::ready(2));
    assert_eq!(other.arrival().await, Some(2));
}

#[tokio::test]
async fn the_starter_may_leave_and_the_others_have_their_answer() {
    let (flights, go) = (flights(), Arc::new(Notify::new()));
    let gone = Arc::clone(&go);
    let starter = flights.seat("vms", |_| async move {
        gone.notified().await;
        7
    });
    let mut other = flights.seat("vms", |_| std::future::ready(8));
    drop(starter);
    go.notify_one();
    assert_eq!(other.arrival().await, Some(7));
}

#[tokio::test]
async fn with_the_last_seat_the_errand_is_dropped_and_a_new_one_flies() {
    let flights = flights();
    let (sender, dropped) = oneshot::channel();
    let token = Arc::new(Mutex::new(None));
    let (held, shown) = (Dropped(Some(sender)), Arc::clone(&token));
    let first = flights.seat("vms", |given_up| {
        *shown.lock().unwrap() = Some(given_up);
        async move {
            let _held = held;
            std::future::pending().await
        }
    });
    let second = flights.seat("vms", |_| std::future::ready(0));
    drop(first);
    assert!(!token.lock().unwrap().as_ref().unwrap().is_cancelled());
    drop(second);
    assert!(token.lock().unwrap().as_ref().unwrap().is_cancelled());
    let mut anew = flights.seat("vms", |_| std::future::ready(9));
    assert!(!anew.joined());
    assert_eq!(anew.arrival().await, Some(9));
    tokio::time::timeout(Duration::from_secs(5), dropped)
        .await
        .unwrap()
        .unwrap();
}

#[tokio::test]
async fn what_an_errand_held_is_free_before_its_answer_is_told() {
    let flights = flights();
    let held = Arc::new(());
    let lent = Arc::clone(&held);
    let mut seat = flights.seat("vms", |_| async move {
        tokio::task::yield_now().await;
        let _lent = lent;
        1
    });
    seat.arrival().await.unwrap();
    assert_eq!(Arc::strong_count(&held), 1);
}

#[tokio::test]
async fn a_lost_errand_is_told_and_off_the_table() {
    let flights = flights();
    let mut seat = flights.seat("vms", |_| async { panic!("on purpose") });
    assert_eq!(seat.arrival().await, None);
    let mut anew = flights.seat("vms", |_| std::future::ready(1));
    assert_eq!(anew.arrival().await, Some(1));
}
