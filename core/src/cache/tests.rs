use serde_json::value::RawValue;

use super::{
    table::{LARGEST, MOST_BYTES},
    *,
};

fn answer(bytes: usize) -> Arc<ToolResult> {
    Arc::new(ToolResult {
        content: RawValue::from_string(format!("\"{}\"", "x".repeat(bytes))).unwrap(),
        structured: None,
        is_error: false,
        raw: None,
    })
}

fn key(arguments: &str) -> Key {
    Key {
        tenant: TenantId::system(),
        target: TargetId::mint(),
        version: 1,
        secret: None,
        tool: "proxmox.list_vms",
        arguments: Bytes::copy_from_slice(arguments.as_bytes()),
    }
}

#[test]
fn an_answer_is_used_for_a_minute_with_its_age_and_then_no_more() {
    let clock = Clock::manual(1_000_000);
    let (cache, key) = (Cache::new(clock.clone()), key("{}"));
    cache.keep(key.clone(), &answer(2));
    let check = |after: Duration, age: Option<u64>| {
        clock.advance(after);
        let found = cache.look(&key);
        assert_eq!(found.as_ref().map(|hit| hit.age.as_secs()), age);
        assert!(found.is_none_or(|hit| hit.kept_us == 1_000_000));
    };
    check(Duration::ZERO, Some(0));
    check(Duration::from_secs(59), Some(59));
    // Being used does not make it younger.
    check(Duration::from_millis(999), Some(59));
    check(Duration::from_millis(1), None);
}

#[test]
fn whatever_differs_in_the_key_is_another_answer() {
    let (cache, kept) = (Cache::new(Clock::manual(0)), key("{}"));
    cache.keep(kept.clone(), &answer(2));
    let secret = SecretRef::vault("a", None).unwrap();
    let others = [
        Key {
            tenant: TenantId::mint(),
            ..kept.clone()
        },
        Key {
            target: TargetId::mint(),
            ..kept.clone()
        },
        Key {
            version: 2,
            ..kept.clone()
        },
        Key {
            secret: Some(secret),
            ..kept.clone()
        },
        Key {
            tool: "github.list_repos",
            ..kept.clone()
        },
        Key {
            arguments: Bytes::from_static(b"{\"node\":\"a\"}"),
            ..kept.clone()
        },
    ];
    for other in others {
        assert!(cache.look(&other).is_none(), "{other:?}");
    }
    assert!(cache.look(&kept).is_some());
}

#[test]
fn what_went_wrong_or_is_too_large_is_not_kept() {
    let (cache, key) = (Cache::new(Clock::manual(0)), key("{}"));
    cache.keep(
        key.clone(),
        &Arc::new(ToolResult {
            content: RawValue::from_string("[]".into()).unwrap(),
            structured: None,
            is_error: true,
            raw: None,
        }),
    );
    assert!(cache.look(&key).is_none());
    cache.keep(key.clone(), &answer(LARGEST));
    assert!(cache.look(&key).is_none());
    assert_eq!(cache.table().size(), (0, 0));
}

#[test]
fn the_least_recently_used_goes_first_when_bytes_are_short() {
    let cache = Cache::new(Clock::manual(0));
    let keys: Vec<Key> = (0..4).map(|n| key(&n.to_string())).collect();
    for key in &keys {
        cache.keep(key.clone(), &answer(LARGEST - 4_096));
    }
    assert!(cache.look(&keys[0]).is_some());
    let fifth = key("5");
    cache.keep(fifth.clone(), &answer(LARGEST - 4_096));
    let kept: Vec<bool> = keys.iter().map(|key| cache.look(key).is_some()).collect();
    assert_eq!(kept, [true, false, true, true]);
    assert!(cache.look(&fifth).is_some());
    assert!(cache.table().size().1 <= MOST_BYTES);
}

#[test]
fn there_are_only_so_many_entries() {
    let cache = Cache::new(Clock::manual(0));
    for n in 0..5_000 {
        cache.keep(key(&n.to_string()), &answer(1));
    }
    assert_eq!(cache.table().size().0, 4_096);
}

#[test]
fn what_is_old_or_of_a_target_that_changed_is_dropped() {
    let clock = Clock::manual(0);
    let cache = Cache::new(clock.clone());
    let (old, changed, stays) = (key("old"), key("changed"), key("stays"));
    let elsewhere = Key {
        tenant: TenantId::mint(),
        ..key("elsewhere")
    };
    cache.keep(old.clone(), &answer(1));
    clock.advance(AGE);
    for key in [&changed, &stays, &elsewhere] {
        cache.keep(key.clone(), &answer(1));
    }
    cache.sweep(&TenantId::system(), |key| key.target == stays.target);
    let kept = [&old, &changed, &stays, &elsewhere].map(|key| cache.look(key).is_some());
    assert_eq!(kept, [false, false, true, true]);
    assert_eq!(cache.table().size().0, 2);
}
