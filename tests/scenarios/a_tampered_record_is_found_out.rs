//! Gate INV-4. The record cannot be changed through the store's own door, and whoever goes around it is found out: each
//! kind of change has its own verdict, in `audit verify` as in the API.

use std::{collections::BTreeMap, fs, path::Path};

use rusqlite::{Connection, params};
use serde_json::Value;
use toolgate_test_support::{Gateway, run, until};

/// How each kind of tampering is done, by someone who owns the file and knows SQL.
const TAMPERINGS: [(&str, &str); 6] = [
    (
        "an edited byte",
        "update audit_event set bytes = cast(substr(bytes, 1, 20) || x'7f' || substr(bytes, 22) as blob) where tenant_id = ?1 and seq = 3",
    ),
    (
        "a deleted row",
        "delete from audit_event where tenant_id = ?1 and seq = 3",
    ),
    (
        "a deleted tail",
        "delete from audit_event where tenant_id = ?1 and seq = (select max(seq) from audit_event where tenant_id = ?1)",
    ),
    (
        "swapped rows",
        "update audit_event set seq = case seq when 3 then -4 when 4 then -3 end where tenant_id = ?1 and seq in (3, 4); update audit_event set seq = -seq where seq < 0",
    ),
    (
        "an inserted row",
        "update audit_event set seq = -seq - 1 where tenant_id = ?1 and seq > 3; update audit_event set seq = -seq where seq < 0; insert into audit_event select tenant_id, 4, event_id || 'X', prev, bytes, hash, mac, algorithm, key_id, time_us, kind, principal, capability, target_id, result, correlation_id from audit_event where tenant_id = ?1 and seq = 3",
    ),
    (
        "an edited head",
        "update audit_head set hash = zeroblob(32) where tenant_id = ?1",
    ),
];

#[tokio::test]
async fn a_tampered_record_is_found_out() {
    let mut gateway = Gateway::start(&[]).await.unwrap();
    let admin = gateway.admin();
    until(std::time::Duration::from_secs(20), || async {
        admin.run("uptime").await.ok()
    })
    .await
    .expect("answers");
    for _ in 0..5 {
        admin.run("uptime").await.unwrap();
    }
    let data_dir = gateway.data_dir().display().to_string();
    let asked = [
        "--json",
        "audit",
        "verify",
        "--url",
        gateway.url(),
        "--data-dir",
        &data_dir,
    ];
    let live = verdict(&asked, gateway.folder()).await;
    assert_eq!(live, (0, "intact".into()), "while it runs");
    gateway.terminate().await;
    assert_eq!(
        verify(&gateway.data_dir(), gateway.folder()).await,
        (0, "intact".into()),
        "when it has stopped"
    );

    let mut verdicts = BTreeMap::new();
    for (what, statements) in TAMPERINGS {
        let copy = gateway.folder().join(what.replace(' ', "-"));
        copy_folder(&gateway.data_dir(), &copy);
        tamper(&copy, statements);
        let (code, verdict) = verify(&copy, gateway.folder()).await;
        assert_eq!(code, 5, "{what}: {verdict}");
        assert_ne!(verdict, "intact", "{what}");
        if let Some(other) = verdicts.insert(verdict.clone(), what) {
            panic!("{what} and {other} are both told as {verdict}");
        }
    }
    println!("{verdicts:?}");
}

#[tokio::test]
async fn the_store_itself_refuses_to_change_the_record() {
    let mut gateway = Gateway::start(&["--relay-built-in=false"]).await.unwrap();
    gateway.terminate().await;
    let store = Connection::open(gateway.data_dir().join("toolgate.db")).unwrap();

    for statement in ["update audit_event set result = 'x'", "delete from audit_event"] {
        let refused = store.execute(statement, []).unwrap_err().to_string();
        assert!(refused.contains("append-only"), "{statement}: {refused}");
    }
}

fn tamper(data_dir: &Path, statements: &str) {
    let store = Connection::open(data_dir.join("toolgate.db")).unwrap();
    store
        .execute_batch("drop trigger audit_event_is_never_updated; drop trigger audit_event_is_never_deleted")
        .unwrap();
    let tenant: String = store
        .query_row("select id from tenants where id <> 'system'", [], |row| {
            row.get(0)
        })
        .unwrap();
    for statement in statements.split(';') {
        let parameters = statement.contains("?1");
        let changed = match parameters {
            true => store.execute(statement, params![tenant]),
            false => store.execute(statement, []),
        };
        assert!(changed.unwrap() > 0, "{statement}");
    }
}

/// Exit code and first verdict that is not intact, read from the files of a gateway that has stopped.
async fn verify(data_dir: &Path, folder: &Path) -> (i32, String) {
    let data_dir = data_dir.display().to_string();
    verdict(&["--json", "audit", "verify", "--data-dir", &data_dir], folder).await
}

async fn verdict(arguments: &[&str], folder: &Path) -> (i32, String) {
    let output = run(arguments, &[], folder).await.unwrap();
    let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let mut verdicts = Vec::new();
    collect(&told, &mut verdicts);
    let worst = verdicts
        .iter()
        .find(|verdict| *verdict != "intact")
        .or(verdicts.first());
    let worst = worst
        .cloned()
        .unwrap_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned());
    (output.status.code().unwrap_or(-1), worst)
}

fn collect(value: &Value, verdicts: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            if let Some(verdict) = members.get("verdict").and_then(Value::as_str) {
                verdicts.push(verdict.to_owned());
            }
            members.values().for_each(|member| collect(member, verdicts));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, verdicts)),
        _ => {}
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy_folder(&source, &target);
        } else if entry.file_type().unwrap().is_file() {
            fs::copy(source, target).unwrap();
        }
    }
}
