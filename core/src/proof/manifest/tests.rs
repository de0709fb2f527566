use proptest::prelude::*;

use super::*;

fn manifest() -> Manifest {
    let listed = |name: &str| Listed {
        name: name.into(),
        bytes: 7,
        sha256: "ab".repeat(32),
    };
    Manifest::from(Told {
        format: Format::Csv,
        origin: "toolgate/01ARZ3NDEKTSV4RRFFQ69G5FAV".into(),
        tenant_id: "local".into(),
        first: JoinPoint {
            seq: 1,
            hash: [1; 32],
        },
        last: JoinPoint {
            seq: 9,
            hash: [2; 32],
        },
        count: 9,
        exported_at: "2026-01-31T09:30:00.000000Z".into(),
        exported_by: "toolgate 0.1.0".into(),
        files: vec![
            listed("events-000000000001.csv"),
            listed("events-000000000005.csv"),
            listed(CHECKPOINTS),
            listed(KEYS),
        ],
    })
}

#[test]
fn a_manifest_is_read_as_it_was_written_and_names_its_files() {
    let manifest = manifest();
    let read = Manifest::parse(manifest.to_text().as_bytes()).unwrap();
    assert_eq!(read, manifest);
    assert_eq!(read.format(), Format::Csv);
    assert_eq!(read.segments().count(), 2);
    let sums = read.sums();
    assert_eq!(sums.lines().count(), 5);
    assert!(
        sums.lines()
            .all(|line| line.len() > 66 && line[64..].starts_with("  "))
    );
}

#[test]
fn what_cannot_be_is_refused() {
    let check = |from: &str, to: &str, expected: &str| {
        let text = manifest().to_text();
        assert!(text.contains(from), "{from}");
        let refused = Manifest::parse(text.replace(from, to).as_bytes())
            .unwrap_err()
            .to_string();
        assert!(refused.contains(expected), "{refused}");
    };
    check("toolgate-audit-export", "something", "type");
    check("\"version\": 1", "\"version\": 2", "newer build");
    check("\"csv\"", "\"xml\"", "neither ndjson nor csv");
    check("\"firstSeq\": 1", "\"firstSeq\": 0", "places");
    check("\"lastSeq\": 9", "\"lastSeq\": -1", "places");
    check(&"02".repeat(32), "02", "a hash");
    check("events-000000000005.csv", "events-000000000001.csv", "order");
    check(
        "events-000000000005.csv",
        "../../etc/passwd",
        "belongs to no export",
    );
    check("events-000000000005.csv", "events-5.csv", "belongs to no export");
    check("keys.ndjson", "checkpoints.ndjson", "each once");
    check("\"count\": 9", "\"count\":  9", "changed or cut");
    check("\"count\": 9", "\"count\": 9, \"more\": 1", "no manifest");
    assert!(Manifest::parse("[".repeat(100_000).as_bytes()).is_err());
    assert!(Manifest::parse(b"").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_changed_byte_gives_another_manifest_or_none(at in any::<prop::sample::Index>(), by in 1u8..) {
        let mut text = manifest().to_text().into_bytes();
        let at = at.index(text.len());
        text[at] = text[at].wrapping_add(by);
        if let Ok(read) = Manifest::parse(&text) {
            prop_assert_ne!(read.sums(), manifest().sums());
        }
    }
}
