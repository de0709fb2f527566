//! One truth in every dialect. The same generated calls go through each of them, each by a principal of its own: results,
//! reasons, what they cost and what stands on the record are the same, to the byte where there are bytes.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_test_support::{BackEnds, Dialect, Role, Speaker, Told, World, until};

/// Calls that one principal has; more than are made, so that what is left tells what they cost.
const LIMIT: u32 = 150;
const GENERATED: usize = 40;

struct Case {
    tool: String,
    arguments: String,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_dialects_tell_every_call_alike() {
    let mut described = World::new()
        .clock_by_hand()
        .user_limit(LIMIT)
        .tenant_limit(1_000_000)
        .upstream_timeout(Duration::from_millis(400))
        .with_fixtures();
    for dialect in Dialect::ALL {
        described = described.principal(&name(dialect), Role::Engineer);
    }
    let world = described.start().await;
    let back_ends = BackEnds::added(world.admin(), "read_write").await;
    let back_ends = back_ends.expect("back ends are added");
    let cases = cases();

    let mut told: Vec<Vec<Told>> = Vec::new();
    for dialect in Dialect::ALL {
        let speaker = world.as_principal(&name(dialect)).by(dialect).await;
        let mut answers = Vec::new();
        for case in &cases {
            answers.push(speaker.call_with(&case.tool, &case.arguments).await);
        }
        told.push(answers);
    }
    let first = back_ends.asked();
    let (each, rest) = (first.len() / Dialect::ALL.len(), first.len() % Dialect::ALL.len());
    assert!(
        each > 0 && rest == 0,
        "each dialect asks the back ends as often: {}",
        first.len()
    );

    let mut left = Vec::new();
    for dialect in Dialect::ALL {
        let speaker = world.as_principal(&name(dialect)).by(dialect).await;
        left.push(calls_left(&speaker).await);
    }

    for (dialect, answers) in Dialect::ALL.iter().zip(&told) {
        for ((case, of_rest), answer) in cases.iter().zip(&told[0]).zip(answers) {
            assert!(
                alike(of_rest, answer),
                "{dialect:?} {} {}\nREST {of_rest:?}\n     {answer:?}",
                case.tool,
                case.arguments
            );
        }
    }
    assert!(left.iter().all(|calls| *calls == left[0]), "calls left: {left:?}");
    assert!(
        left[0] > 0 && left[0] < LIMIT,
        "the calls cost something: {left:?}"
    );

    world.clock().advance(Duration::from_secs(61));
    let mut of_rest = None;
    for dialect in Dialect::ALL {
        let name = name(dialect);
        // Counted refusals are written when their minute ends.
        let rows = until(Duration::from_secs(10), || async {
            let rows = rows(&world, &name).await;
            rows.iter()
                .any(|row| row["reason"] == "RATE_LIMITED")
                .then_some(rows)
        });
        let rows = rows.await.expect("the refusals are counted");
        assert!(
            rows.iter().all(|row| row["facade"] == dialect.on_record()),
            "{dialect:?}: {rows:?}"
        );
        let bare: Vec<Value> = rows.iter().map(bare).collect();
        let first = of_rest.get_or_insert_with(|| bare.clone());
        for (of_rest, row) in first.iter().zip(&bare) {
            assert_eq!(of_rest, row, "{dialect:?}: the record of the same calls");
        }
        assert_eq!(
            first.len(),
            bare.len(),
            "{dialect:?}: the record of the same calls"
        );
    }
}

fn name(dialect: Dialect) -> String {
    format!("{dialect:?}").replace(['(', ')'], "-").to_lowercase()
}

/// The same to the byte; where a dialect has no content of its own, what it gives in its place.
fn alike(of_rest: &Told, other: &Told) -> bool {
    match (of_rest, other) {
        (
            Told::Result {
                content: Some(content),
                structured,
                is_error,
            },
            Told::Result {
                content: None,
                structured: Some(given),
                ..
            },
        ) => {
            let text = serde_json::from_str::<Value>(content).unwrap_or_default()[0]["text"].clone();
            match structured {
                Some(structured) if !is_error => structured == given,
                _ => text
                    .as_str()
                    .is_some_and(|text| given.contains(text) || given.contains(&json!(text).to_string())),
            }
        }
        _ => of_rest == other,
    }
}

async fn calls_left(speaker: &Speaker) -> u32 {
    for made in 0..LIMIT {
        match speaker.call("test_echo", &json!({})).await.reason() {
            "" => {}
            "RATE_LIMITED" => return made,
            reason => panic!("{reason}"),
        }
    }
    LIMIT
}

async fn rows(world: &World, principal: &str) -> Vec<Value> {
    let mut rows = world.audit().await;
    rows.retain(|row| row["principal"] == principal);
    rows
}

/// A row without what has to differ, calls in their order and counts by reason.
fn bare(row: &Value) -> Value {
    let mut bare = row.clone();
    for key in [
        "seq",
        "time",
        "principal",
        "facade",
        "correlationId",
        "durationMs",
    ] {
        bare.as_object_mut().expect("a row").remove(key);
    }
    bare
}

fn cases() -> Vec<Case> {
    let case = |tool: &str, arguments: &str| Case {
        tool: tool.into(),
        arguments: arguments.into(),
    };
    let ssh = "ssh.run_whitelisted_command";
    let mut cases = vec![
        // As written, beyond what a float holds.
        case(
            "test_echo",
            r#"{"id":9007199254740993,"big":18446744073709551615,"small":-9223372036854775808}"#,
        ),
        case(
            "test_echo",
            r#"{"e":1E5,"f":0.10,"z":-0.0,"t":1.7976931348623157e308}"#,
        ),
        case(
            "test_echo",
            r#"{"text":"\u2028\u2029 \ud83d\ude80 é \u0000 \" \\ </script>"}"#,
        ),
        case("test_echo", r#"{"b":1,"a":{"d":[],"c":null}}"#),
        case("test_echo", "{}"),
        case("test_echo", r#" { "spaced" : [ 1 , 2 ] } "#),
        // Not what they should be.
        case("test_echo", r#"{"a":1,"a":2}"#),
        case("test_echo", "[1]"),
        case("test_echo", "7"),
        case("test_echo", "\"text\""),
        case(
            "test_echo",
            &format!("{}1{}", r#"{"a":"#.repeat(70), "}".repeat(70)),
        ),
        case(ssh, "{}"),
        case(ssh, r#"{"command":7}"#),
        case(ssh, r#"{"command":"uptime","extra":true}"#),
        case(
            "github.get_workflow_run",
            r#"{"owner":"a","repo":"b","run_id":9007199254740993}"#,
        ),
        case(
            ssh,
            r#"{"command":"uptime","target_id":"01JDZ3V8Q4T7X9K2M5N6P8R0TG"}"#,
        ),
        // Refused.
        case(ssh, r#"{"command":"rm -rf /"}"#),
        case("proxmox.shutdown_vm", r#"{"vmid":100}"#),
        case("GITHUB_DELETE_repo", "{}"),
        case("github.list_repos", "{}"),
        case("nothing.like_it", "{}"),
        case("", "{}"),
        case("ünïcode\u{202e}", "{}"),
        // At their end.
        case("test_slow", r#"{"ms":60000}"#),
        case("test_big", r#"{"bytes":1000000}"#),
        case("test_big", r#"{"bytes":9000000}"#),
        case("test_error_handling", "{}"),
        // Tools of agents: carried, refused, and answered by the gateway itself.
        case("task_get", r#"{"task":"a/b?c"}"#),
        case("task_get", "{}"),
        case("get_memory", r#"{"id":".."}"#),
        case("create_memory", r#"{"text":"\u2028 é","metadata":{"a":"b"}}"#),
        case(
            "patch_entity",
            r#"{"id":"e","patch":{"n":9007199254740993,"x":[1E400]}}"#,
        ),
        case("code_communities", r#"{"repo":"r","community":{"no":1}}"#),
        case("code_communities", r#"{"repo":"r","community":3.0}"#),
        case("already_done", r#"{"reason":" \u00a0","task":"t"}"#),
        case("code_community", r#"{"repo":"r","community":3}"#),
        case(
            "report_internal_issue",
            r#"{"category":"auth","description":"no token"}"#,
        ),
        case(
            "report_internal_issue",
            r#"{"category":"weather","description":"rain"}"#,
        ),
        case("find_tools", r#"{"query":"anything"}"#),
    ];
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    for _ in 0..GENERATED {
        let object = object(&mut numbers, 3);
        cases.push(case("test_echo", &object));
    }
    cases
}

/// xorshift64: the same numbers in every run, so that a failure comes again.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

fn object(numbers: &mut Numbers, depth: u64) -> String {
    let members: Vec<String> = (0..numbers.below(5))
        .map(|at| {
            format!(
                "{}:{}",
                json!(format!("{at}{}", text(numbers))),
                value(numbers, depth)
            )
        })
        .collect();
    format!("{{{}}}", members.join(","))
}

fn value(numbers: &mut Numbers, depth: u64) -> String {
    match numbers.below(if depth == 0 { 6 } else { 8 }) {
        0 => "null".into(),
        1 => "true".into(),
        2 => numbers.below(u64::MAX).to_string(),
        3 => format!("-{}.{:03}", numbers.below(1000), numbers.below(1000)),
        4 => format!("{}e-{}", numbers.below(100), numbers.below(20)),
        5 => json!(text(numbers)).to_string(),
        6 => object(numbers, depth - 1),
        _ => {
            let items: Vec<String> = (0..numbers.below(4)).map(|_| value(numbers, depth - 1)).collect();
            format!("[{}]", items.join(","))
        }
    }
}

fn text(numbers: &mut Numbers) -> String {
    (0..numbers.below(12))
        .filter_map(|_| match numbers.below(4) {
            0 => char::from_u32(u32::try_from(numbers.below(0x1_0000)).unwrap_or_default()),
            1 => char::from_u32(0x1_F600 + u32::try_from(numbers.below(64)).unwrap_or_default()),
            2 => char::from_u32(u32::try_from(numbers.below(32)).unwrap_or_default()),
            _ => char::from_u32(97 + u32::try_from(numbers.below(26)).unwrap_or_default()),
        })
        .collect()
}
