//! Gate C8. Fifty sessions and ten callers without one, twenty projects, `switch_project` and calls that name their project in
//! between: every answer is the right project's, and a call that names one changes no default. With TOOLGATE_FULL it is
//! 100,000 calls.

use std::sync::Arc;

use serde_json::json;
use toolgate_test_support::{Caller, Does, McpClient, Revision, Role, World, project::WHO};

const PROJECTS: usize = 20;
const SESSIONS: usize = 50;
const CALLERS: usize = 10;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_comes_from_a_wrong_project() {
    let calls = calls_in_all() / (SESSIONS + CALLERS);
    let mut world = World::new().unlimited();
    for number in 0..PROJECTS {
        world = world.project_with(&name(number), &[WHO]);
    }
    for number in 0..CALLERS {
        world = world.principal(&format!("caller-{number}"), Role::Engineer);
    }
    let world = Arc::new(world.default_project(&name(0)).start().await);
    // Some answer late, so that answers overtake each other.
    for number in (0..PROJECTS).step_by(3) {
        let late = Does::After(
            std::time::Duration::from_millis(number as u64 % 7),
            Box::new(Does::Echoes),
        );
        world.project(&name(number)).when("who_are_you", late);
    }

    let mut racers = tokio::task::JoinSet::new();
    for number in 0..SESSIONS {
        let caller = world.admin().clone();
        racers.spawn(race(caller, Revision::November2025, number, calls));
    }
    for number in 0..CALLERS {
        let caller = world.as_principal(&format!("caller-{number}")).clone();
        racers.spawn(race(caller, Revision::July2026, SESSIONS + number, calls));
    }
    let wrong: Vec<String> = racers.join_all().await.into_iter().flatten().collect();
    assert!(
        wrong.is_empty(),
        "{} wrong answers, such as {:?}",
        wrong.len(),
        &wrong[..wrong.len().min(3)]
    );

    // What arrived is what was sent, each once, and the tenant's default is still the first.
    let mut arrived = 0;
    for number in 0..PROJECTS {
        let seen = world.project(&name(number)).seen();
        assert!(
            seen.calls()
                .all(|asked| asked.params.contains("\"word\"") && !asked.params.contains("\"project\""))
        );
        arrived += seen.calls().count();
    }
    assert_eq!(arrived, calls * (SESSIONS + CALLERS));
    assert_eq!(
        world
            .call("who_are_you", json!({"word": "end"}))
            .await
            .unwrap()
            .text(),
        name(0)
    );
}

/// One racer, whose own default nobody else changes; gives what was wrong.
async fn race(caller: Caller, revision: Revision, number: usize, calls: usize) -> Vec<String> {
    let client = McpClient::open(&caller, "/mcp", revision).await;
    let mut dice = Dice(number as u64 + 1);
    let mut own = name(0);
    let mut wrong = Vec::new();
    for call in 0..calls {
        if dice.throw(5) == 0 {
            own = name(dice.throw(PROJECTS));
            let switched = client
                .call("switch_project", &json!({"project": own}).to_string())
                .await;
            if switched.value()["structuredContent"]["project"] != own.as_str() {
                wrong.push(format!("{number} could not switch to {own}: {}", switched.answer));
            }
        }
        let word = format!("{number}-{call}");
        let (arguments, expected) = match dice.throw(2) {
            0 => (json!({ "word": word }), own.clone()),
            _ => {
                let named = name(dice.throw(PROJECTS));
                (json!({"word": word, "project": named}), named)
            }
        };
        let heard = client.call("who_are_you", &arguments.to_string()).await;
        let structured = &heard.value()["structuredContent"];
        if structured["project"] != expected.as_str() || structured["arguments"]["word"] != word.as_str() {
            wrong.push(format!("{number} asked {expected} {arguments}: {}", heard.answer));
        }
    }
    wrong
}

fn name(number: usize) -> String {
    format!("project-{number}")
}

fn calls_in_all() -> usize {
    match crate::kill_cycles::full() {
        true => 100_020,
        false => 4_020,
    }
}

/// Numbers that look like chance and are the same each time.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}
