//! An export is verified where neither gateway nor database is, against a key that was pinned before; whatever is
//! changed in it afterwards is found. A later run goes on with it. Both stores.

use std::{fs, path::Path};

use serde_json::Value;
use toolgate_test_support::{Ground, on_each_store, run, until};

on_each_store!(an_export_convinces_without_its_gateway);

async fn an_export_convinces_without_its_gateway(ground: Ground) {
    let mut gateway = ground.gateway(&[]).await.unwrap();
    let admin = gateway.admin();
    let answers = until(std::time::Duration::from_secs(20), || async {
        admin.run("uptime").await.ok()
    });
    answers.await.expect("this host answers");
    let data_dir = gateway.data_dir().display().to_string();
    let url = gateway.url().to_owned();
    let folder = gateway.folder().to_owned();
    let asked = |more: &[&str]| -> Vec<String> {
        let shared = ["--json", "--url", &url, "--data-dir", &data_dir];
        more.iter().chain(&shared).map(|&text| text.to_owned()).collect()
    };

    for (format, out) in [("ndjson", "lines"), ("csv", "cells")] {
        let (code, manifest) = told(
            &asked(&["audit", "export", "--out", out, "--format", format]),
            &folder,
        )
        .await;
        assert_eq!((code, &manifest["firstSeq"]), (0, &1.into()), "{manifest}");
        admin.run("df -h").await.unwrap();
        let (code, later) = told(
            &asked(&["audit", "export", "--out", out, "--format", format]),
            &folder,
        )
        .await;
        assert!(
            code == 0 && later["count"].as_i64() > manifest["count"].as_i64(),
            "{later}"
        );
    }
    let since = asked(&["audit", "verify", "--incremental"]);
    assert_eq!(told(&since, &folder).await.1["fromSeq"], 1);
    let (code, found) = told(&since, &folder).await;
    assert_eq!((code, &found["verdict"]), (0, &"intact".into()), "{found}");
    assert!(found["fromSeq"].as_i64() > Some(1), "{found}");

    let pinned = fs::read_to_string(gateway.data_dir().join("checkpoints/keys.ndjson")).unwrap();
    fs::write(folder.join("pinned"), pinned).unwrap();
    gateway.terminate().await;
    // The record itself, every tenant of it, with nobody running.
    let database = match &ground {
        Ground::Sqlite => Vec::new(),
        Ground::Postgres(postgres) => vec![("TOOLGATE_DATABASE_URL", postgres.url())],
    };
    let environment: Vec<_> = database.iter().map(|(name, url)| (*name, url.as_str())).collect();
    let arguments = ["--json", "audit", "verify", "--data-dir", &data_dir];
    let output = run(&arguments, &environment, &folder).await.unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    assert_eq!(
        (
            output.status.code(),
            &found["verdict"],
            found["tenants"].as_array().map(Vec::len)
        ),
        (Some(0), &"intact".into(), Some(2)),
        "{found} {}",
        String::from_utf8_lossy(&output.stderr)
    );
    // Nothing of it is left but the exports and the key.
    fs::rename(gateway.data_dir(), folder.join("gone")).unwrap();

    for out in ["lines", "cells"] {
        let (code, found) = verify(&folder, out).await;
        assert_eq!(
            (code, &found["verdict"], &found["trusted"]),
            (0, &"intact".into(), &true.into()),
            "{found}"
        );
        assert_eq!(found["checkpointSeq"], found["throughSeq"], "{found}");
        for file in fs::read_dir(folder.join(out)).unwrap() {
            spoil(&folder, out, &file.unwrap().path()).await;
        }
        let (code, found) = verify(&folder, out).await;
        assert_eq!(code, 0, "as it was: {found}");
    }
    let other = "00".repeat(32);
    let arguments = [
        "--json", "audit", "verify", "--export", "lines", "--trust", &other,
    ];
    let (code, found) = told(&arguments.map(str::to_owned), &folder).await;
    assert_eq!((code, &found["verdict"]), (5, &"bad_signature".into()), "{found}");
}

/// Changes a byte in the middle of a file, and puts it back.
async fn spoil(folder: &Path, out: &str, path: &Path) {
    let whole = fs::read(path).unwrap();
    let mut changed = whole.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    fs::write(path, changed).unwrap();
    let (code, found) = verify(folder, out).await;
    assert!(code == 5 || code == 1, "{}: {code} {found}", path.display());
    assert_ne!(found["verdict"], "intact", "{}", path.display());
    fs::write(path, whole).unwrap();
}

async fn verify(folder: &Path, out: &str) -> (i32, Value) {
    let arguments = ["--json", "audit", "verify", "--export", out, "--trust", "pinned"];
    told(&arguments.map(str::to_owned), folder).await
}

async fn told(arguments: &[String], folder: &Path) -> (i32, Value) {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = run(&arguments, &[], folder).await.unwrap();
    let told = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| String::from_utf8_lossy(&output.stderr).into_owned().into());
    (output.status.code().unwrap_or(-1), told)
}
