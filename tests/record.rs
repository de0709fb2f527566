//! What must hold of the record after any fault: gate INV-4, from outside.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde_json::{Value, json};
use toolgate_test_support::{Caller, Store, until};

/// Intents that a crash left open are closed within this.
pub(crate) const CLOSED_WITHIN: Duration = Duration::from_secs(60);

/// What was found on a record that holds.
#[derive(Debug)]
pub(crate) struct Found {
    /// Calls that reached a host and were not acknowledged.
    pub(crate) unanswered: usize,
    /// Rows that say so: nobody knows how the call ended.
    pub(crate) unknown: usize,
}

/// Waits until no intent is open, and lets the gateway verify its record.
pub(crate) async fn is_whole(admin: &Caller, store: &Store, when: &str) {
    let closed = until(CLOSED_WITHIN, || async {
        let open = store.count("select count(*) from intent").await;
        (open == Ok(0)).then_some(())
    });
    assert!(
        closed.await.is_some(),
        "{when}: intents are still open after 60 s"
    );
    let verified = admin.post("/api/audit/verify", json!({})).await;
    let told = verified.json();
    assert_eq!(told["verdict"], "intact", "{when}: {} {told}", verified.status);
}

/// Holds the record against what callers and hosts saw: each acknowledged call (command → call) has its row, each
/// command that reached a host has a row, and no call has two. Every command must have been another one. Calls the host
/// again, which must answer.
pub(crate) async fn tells_all(
    admin: &Caller,
    acknowledged: &BTreeMap<String, String>,
    contacts: Vec<String>,
) -> Found {
    // Whatever reached the host without an answer is asked once more: the same arguments have the same keyed hash, so
    // that its row can be told from all others.
    let contacts: BTreeSet<String> = contacts.into_iter().collect();
    let mut asked_again = BTreeMap::new();
    for command in contacts
        .iter()
        .filter(|command| !acknowledged.contains_key(*command))
    {
        asked_again.insert(command.clone(), admin.run(command).await.unwrap().correlation_id);
    }

    let rows: Vec<Value> = admin.audit().await.unwrap();
    let rows: Vec<&Value> = rows
        .iter()
        .filter(|row| row["event"] == "adapter.capability_invoked")
        .collect();
    let by_call: BTreeMap<&str, &Value> = rows
        .iter()
        .map(|row| (row["correlationId"].as_str().unwrap(), *row))
        .collect();
    assert_eq!(by_call.len(), rows.len(), "a call has two rows");
    let lost: Vec<_> = acknowledged
        .values()
        .filter(|call| {
            by_call
                .get(call.as_str())
                .is_none_or(|row| row["result"] != "success")
        })
        .collect();
    assert!(
        lost.is_empty(),
        "{} of {} acknowledged calls have no row: {lost:?}",
        lost.len(),
        acknowledged.len()
    );

    let mut per_arguments: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &rows {
        *per_arguments
            .entry(row["paramsHash"].as_str().unwrap())
            .or_default() += 1;
    }
    for (command, call) in &asked_again {
        let hash = by_call[call.as_str()]["paramsHash"].as_str().unwrap();
        assert!(
            per_arguments[hash] >= 2,
            "{command} reached the host and has no row"
        );
    }
    Found {
        unanswered: asked_again.len(),
        unknown: rows.iter().filter(|row| row["result"] == "unknown").count(),
    }
}
