//! Gate INV-4. The record cannot be changed through the store's own door, and whoever goes around it is found out: each
//! kind of change has its own verdict, in `audit verify` as in the API.

use std::{collections::BTreeMap, fs, path::Path};

use rusqlite::Connection;
use serde_json::Value;
use toolgate_test_support::{Ground, Postgres, on_each_store, run, until};

/// How each kind of tampering is done, by someone who owns the store and knows SQL. `BYTES` is a column whose 21st byte
/// is another one.
const TAMPERINGS: [(&str, &str); 6] = [
    (
        "an edited byte",
        "update audit_event set bytes = BYTES where tenant_id = 'TENANT' and seq = 3",
    ),
    (
        "a deleted row",
        "delete from audit_event where tenant_id = 'TENANT' and seq = 3",
    ),
    (
        "a deleted tail",
        "delete from audit_event where tenant_id = 'TENANT' and seq = (select max(seq) from audit_event where tenant_id = 'TENANT')",
    ),
    (
        "swapped rows",
        "update audit_event set seq = case seq when 3 then -4 when 4 then -3 end where tenant_id = 'TENANT' and seq in (3, 4); update audit_event set seq = -seq where seq < 0",
    ),
    (
        "an inserted row",
        "update audit_event set seq = -seq - 1 where tenant_id = 'TENANT' and seq > 3; update audit_event set seq = -seq where seq < 0; insert into audit_event select tenant_id, 4, event_id || 'X', prev, bytes, hash, mac, algorithm, key_id, time_us, kind, principal, capability, target_id, result, correlation_id from audit_event where tenant_id = 'TENANT' and seq = 3",
    ),
    (
        "an edited head",
        "update audit_head set hash = prev from audit_event where audit_head.tenant_id = 'TENANT' and audit_event.tenant_id = 'TENANT' and audit_event.seq = 3",
    ),
];

on_each_store!(a_tampered_record_is_found_out);

async fn a_tampered_record_is_found_out(ground: Ground) {
    let mut gateway = ground.gateway(&[]).await.unwrap();
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
    let live = verdict(&asked, None, gateway.folder()).await;
    assert_eq!(live, (0, "intact".into()), "while it runs");
    gateway.terminate().await;
    let own = match &ground {
        Ground::Sqlite => None,
        Ground::Postgres(postgres) => Some(&**postgres),
    };
    assert_eq!(
        verify(&gateway.data_dir(), own, gateway.folder()).await,
        (0, "intact".into()),
        "when it has stopped"
    );

    let mut verdicts = BTreeMap::new();
    for (what, statements) in TAMPERINGS {
        let copy = gateway.folder().join(what.replace(' ', "-"));
        copy_folder(&gateway.data_dir(), &copy);
        let (code, verdict) = match own {
            None => {
                tamper(&copy, statements);
                verify(&copy, None, gateway.folder()).await
            }
            Some(postgres) => {
                let copied = tampered_copy(postgres, statements).await;
                verify(&copy, Some(&copied), gateway.folder()).await
            }
        };
        assert_eq!(code, 5, "{what}: {verdict}");
        assert_ne!(verdict, "intact", "{what}");
        if let Some(other) = verdicts.insert(verdict.clone(), what) {
            panic!("{what} and {other} are both told as {verdict}");
        }
    }
    println!("{verdicts:?}");
}

on_each_store!(the_store_itself_refuses_to_change_the_record);

async fn the_store_itself_refuses_to_change_the_record(ground: Ground) {
    let mut gateway = ground.gateway(&["--relay-built-in=false"]).await.unwrap();
    gateway.terminate().await;
    for statement in ["update audit_event set result = 'x'", "delete from audit_event"] {
        let refused = match &ground {
            Ground::Sqlite => {
                let store = Connection::open(gateway.data_dir().join("toolgate.db")).unwrap();
                store.execute(statement, []).unwrap_err().to_string()
            }
            Ground::Postgres(postgres) => {
                let statement = format!("set search_path = audit; {statement}");
                postgres.database().execute(&statement).await.unwrap_err()
            }
        };
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
    let edited = "cast(substr(bytes, 1, 20) || x'7f' || substr(bytes, 22) as blob)";
    let statements = statements.replace("TENANT", &tenant).replace("BYTES", edited);
    for statement in statements.split(';') {
        assert!(store.execute(statement, []).unwrap() > 0, "{statement}");
    }
}

/// A copy of the database, tampered with by a superuser, whom no trigger stops.
async fn tampered_copy(postgres: &Postgres, statements: &str) -> Postgres {
    let tenant = "select id from toolgate.tenants where id <> 'system'";
    let tenant = postgres.database().column(tenant).await.unwrap().remove(0);
    let copied = postgres.copied().await.unwrap();
    let edited = "set_byte(bytes, 20, 127)";
    let statements = statements.replace("TENANT", &tenant).replace("BYTES", edited);
    for statement in statements.split(';') {
        let statement = format!("{statement} returning 1");
        let past_triggers =
            format!("set session_replication_role = replica; set search_path = audit; {statement}");
        let changed = copied.database().column(&past_triggers).await.unwrap();
        assert!(!changed.is_empty(), "{statement}");
    }
    copied
}

/// Exit code and first verdict that is not intact, read from the files of a gateway that has stopped.
async fn verify(data_dir: &Path, postgres: Option<&Postgres>, folder: &Path) -> (i32, String) {
    let data_dir = data_dir.display().to_string();
    let arguments = ["--json", "audit", "verify", "--data-dir", &data_dir];
    verdict(&arguments, postgres, folder).await
}

async fn verdict(arguments: &[&str], postgres: Option<&Postgres>, folder: &Path) -> (i32, String) {
    let url = postgres.map(Postgres::url).unwrap_or_default();
    let environment = [("TOOLGATE_DATABASE_URL", url.as_str())];
    let environment = if postgres.is_some() { &environment[..] } else { &[] };
    let output = run(arguments, environment, folder).await.unwrap();
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
