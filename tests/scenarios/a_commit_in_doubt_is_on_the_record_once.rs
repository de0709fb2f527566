//! The server commits, and its answer is late or never comes; or it never hears of the commit. Nothing is released that
//! may not be on the record, and whatever happened is found by the event's id: once, not twice.

use std::time::Duration;

use toolgate_test_postgres::available;
use toolgate_test_support::{Catch, Postgres, Reply};

use crate::{
    drill::{Drill, SOON, fits},
    record,
};

/// Later than any commit, and in time.
const A_MOMENT: Duration = Duration::from_millis(200);

/// How the connection behaves while the caller waits.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// The answer comes a moment later, still in time.
    Late,
    /// The answer comes when nobody waits for it any more.
    TooLate,
    /// The connection is cut, a new one stands.
    Cut,
}

/// Which commit of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Commit {
    Intent,
    Row,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_in_doubt_is_on_the_record_once() {
    if !available("a_commit_in_doubt_is_on_the_record_once") {
        return;
    }
    let postgres = Postgres::own().await.unwrap().behind_a_proxy().await.unwrap();
    let drill = Drill::on(postgres).await;
    for commit in [Commit::Intent, Commit::Row] {
        for catch in [Catch::Before, Catch::After] {
            for fault in [Fault::Late, Fault::TooLate, Fault::Cut] {
                in_doubt(&drill, commit, catch, fault).await;
            }
        }
    }
    let found = drill.holds("in doubt").await;
    println!("{found:?}");
}

async fn in_doubt(drill: &Drill, commit: Commit, catch: Catch, fault: Fault) {
    let when = format!("{commit:?} {catch:?} {fault:?}");
    let (heard, rows) = (drill.relay.received().len(), drill.rows().await);
    if commit == Commit::Intent {
        drill.proxy().catch(catch);
    }
    drill.relay.replies(Reply::PrintsWhenTold("up\n".into()));
    let call = drill.calling();
    if commit == Commit::Row {
        let seen = drill.relay.wait(SOON, |seen| seen.commands.len() > heard).await;
        assert_eq!(seen.commands.len(), heard + 1, "{when}");
        drill.proxy().catch(catch);
    }
    drill.relay.tell();
    assert!(drill.proxy().caught(SOON).await, "{when}: nothing was caught");
    let released = match fault {
        Fault::Late => {
            tokio::time::sleep(A_MOMENT).await;
            drill.proxy().let_go();
            call.await.unwrap().expect("an answer").expect(&when);
            true
        }
        // What is not known to be on the record is not released, and the host of an intent in doubt not asked.
        Fault::TooLate => {
            let refusal = call.await.unwrap().expect("an answer").expect_err(&when);
            fits(&refusal, &when);
            drill.proxy().let_go();
            false
        }
        // It may be found out in time, over another connection, what became of the commit.
        Fault::Cut => {
            drill.proxy().cut();
            match call.await.unwrap().expect("an answer") {
                Ok(_) => true,
                Err(refusal) => {
                    fits(&refusal, &when);
                    false
                }
            }
        }
    };
    let asked = commit == Commit::Row || released;
    let contacts = drill.relay.received().len() - heard;
    assert_eq!(contacts, usize::from(asked), "{when}: contacts");
    drill.relay.replies(Reply::Prints("up\n".into()));
    drill.is_back(&when).await;
    record::is_whole(&drill.gateway.admin(), &drill.gateway.store(), &when).await;
    // The one that shows that all is well again has its row too.
    let told = drill.rows().await - rows;
    assert_eq!(told, i64::from(asked) + 1, "{when}: rows");
}
