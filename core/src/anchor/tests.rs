//! The example of `docs/audit.md`, made by the code and checked by a checker that was written from the page alone.

use std::sync::Mutex;

use data_encoding::{BASE64, HEXLOWER};
use futures::future::BoxFuture;
use ring::{
    digest,
    signature::{ED25519, UnparsedPublicKey},
};
use serde_json::Value;
use toolgate_contract::ids::TenantId;

use super::{
    key::PublicKeys,
    root::{Said, Tree},
    *,
};
use crate::store::StoreConfig;

const PAGE: &str = include_str!("../../../docs/audit.md");
const KEY_ID: &str = "01KDVDNTR00000000000000000";
const TENANT: &str = "01KDVDNTR00000000000000001";
/// 2026-01-01T00:00:00.000001Z.
const TIME_US: i64 = 1_767_225_600_000_001;

fn example() -> [String; 3] {
    let seed: Vec<u8> = (0..32).collect();
    let seed = seed.try_into().unwrap();
    let key = CheckpointKey::of_seed(KEY_ID, &format!("toolgate/{KEY_ID}"), &seed).unwrap();
    let public = PublicKeys::beginning_with(&key);
    let key_line = public.lines().next().unwrap();
    let tenant: TenantId = TENANT.parse().unwrap();
    let checkpoint = Checkpoint::sign(&key, &tenant, 3, [0xab; 32], TIME_US);
    let mut tree = Tree::default();
    tree.push(TENANT, 3, &[0xab; 32]);
    let lines = format!("{key_line}\n{}\n", checkpoint.to_line());
    let root = Root::sign(
        &key,
        Said {
            number: 1,
            tenants: 1,
            root: tree.root(),
            lines: line::sha256(lines.as_bytes()),
            prev: [0; 32],
            time_us: TIME_US,
        },
    );
    [key_line, checkpoint.to_line(), root.to_line()]
}

#[test]
fn the_example_of_the_page_is_what_the_code_writes() {
    let expected = format!("```\n{}\n```\n", example().join("\n"));
    assert!(PAGE.contains(&expected), "docs/audit.md should hold\n{expected}");
}

#[test]
fn a_checker_written_from_the_page_alone_accepts_the_example() {
    let [key, checkpoint, root] = example();
    let lines = format!("{key}\n{checkpoint}\n");
    let [key, checkpoint, root] =
        [key, checkpoint, root].map(|line| serde_json::from_str::<Value>(&line).unwrap());
    let public = HEXLOWER.decode(text(&key, "publicKey").as_bytes()).unwrap();

    let signed = parts(&[
        b"toolgate/checkpoint-key/v1",
        text(&key, "origin").as_bytes(),
        &1_i64.to_be_bytes(),
        text(&key, "keyId").as_bytes(),
        &public,
        text(&key, "signedBy").as_bytes(),
    ]);
    assert!(holds(&public, &signed, &key));

    let hash = HEXLOWER.decode(text(&checkpoint, "hash").as_bytes()).unwrap();
    let signed = parts(&[
        b"toolgate/checkpoint/v1",
        text(&checkpoint, "origin").as_bytes(),
        text(&checkpoint, "tenantId").as_bytes(),
        &checkpoint["seq"].as_i64().unwrap().to_be_bytes(),
        &hash,
        &checkpoint["count"].as_i64().unwrap().to_be_bytes(),
        &TIME_US.to_be_bytes(),
        text(&checkpoint, "keyId").as_bytes(),
    ]);
    assert!(holds(&public, &signed, &checkpoint));

    let leaf = parts(&[
        b"toolgate/root/v1/leaf",
        text(&checkpoint, "tenantId").as_bytes(),
        &checkpoint["seq"].as_i64().unwrap().to_be_bytes(),
        &hash,
    ]);
    let leaf = sha256(&[&[0], leaf.as_slice()].concat());
    assert_eq!(HEXLOWER.encode(&leaf), text(&root, "root"));
    assert_eq!(HEXLOWER.encode(&sha256(lines.as_bytes())), text(&root, "lines"));
    let signed = parts(&[
        b"toolgate/root/v1",
        text(&root, "origin").as_bytes(),
        &root["number"].as_i64().unwrap().to_be_bytes(),
        &root["tenants"].as_i64().unwrap().to_be_bytes(),
        &leaf,
        &sha256(lines.as_bytes()),
        &[0; 32],
        &TIME_US.to_be_bytes(),
        text(&root, "keyId").as_bytes(),
    ]);
    assert!(holds(&public, &signed, &root));
}

/// Keeps what it is given.
#[derive(Debug, Default)]
struct Shelf(Mutex<Vec<u8>>);

impl Sink for Shelf {
    fn name(&self) -> &'static str {
        "shelf"
    }

    fn append(&self, lines: Vec<u8>) -> BoxFuture<'_, Result<(), SinkError>> {
        self.0.lock().unwrap().extend(lines);
        Box::pin(async { Ok(()) })
    }
}

#[tokio::test]
async fn a_sink_of_somebody_elses_has_every_line_when_the_anchor_has_closed() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(StoreConfig::sqlite(dir.path().join("toolgate.db")))
        .await
        .unwrap();
    let shelf = Arc::new(Shelf::default());
    let config = AnchorConfig {
        sinks: vec![Arc::clone(&shelf) as _],
        ..AnchorConfig::default()
    };
    let clock = Clock::manual(TIME_US);
    let anchor = Anchor::start(dir.path(), &config, false, store, Arc::default(), clock)
        .await
        .unwrap();
    anchor.close().await;
    let file = std::fs::read(folder(dir.path()).join("2026-01-01.ndjson")).unwrap();
    assert!(!file.is_empty());
    assert_eq!(*shelf.0.lock().unwrap(), file);
}

fn parts(parts: &[&[u8]]) -> Vec<u8> {
    let each = parts
        .iter()
        .map(|part| [&(part.len() as u64).to_be_bytes(), *part].concat());
    each.collect::<Vec<_>>().concat()
}

fn holds(public: &[u8], signed: &[u8], line: &Value) -> bool {
    let signature = BASE64.decode(text(line, "signature").as_bytes()).unwrap();
    UnparsedPublicKey::new(&ED25519, public)
        .verify(signed, &signature)
        .is_ok()
}

fn sha256(bytes: &[u8]) -> Vec<u8> {
    digest::digest(&digest::SHA256, bytes).as_ref().to_vec()
}

fn text<'a>(line: &'a Value, name: &str) -> &'a str {
    line[name].as_str().unwrap()
}
