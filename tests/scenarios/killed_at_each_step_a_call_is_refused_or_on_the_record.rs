//! The server, or the gateway itself, is killed at each step of a call: before and after its intent is durable, while
//! the host works, before and after its row is durable, and while its answer is on the way. A caller gets an answer that
//! is on the record, or none; a host is contacted only after the intent is durable; what was left open is closed.

use serde_json::json;
use toolgate_test_postgres::available;
use toolgate_test_support::{Catch, Postgres, Reply};

use crate::drill::{Drill, SOON, fits};

/// Where the call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The server has not heard of the intent.
    BeforeIntent,
    /// The intent is durable, the gateway does not know yet.
    AfterIntent,
    /// The host works.
    Contact,
    /// The host has answered, the server has not heard of the row.
    BeforeSettle,
    /// The row is durable, the gateway does not know yet.
    AfterSettle,
    /// The result waits for its reader.
    Release,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Postgres,
    Gateway,
}

const STEPS: [Step; 6] = [
    Step::BeforeIntent,
    Step::AfterIntent,
    Step::Contact,
    Step::BeforeSettle,
    Step::AfterSettle,
    Step::Release,
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_postgres_killed_at_each_step_a_call_is_refused_or_on_the_record() {
    killed_at_each_step(
        Victim::Postgres,
        "with_postgres_killed_at_each_step_a_call_is_refused_or_on_the_record",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_the_gateway_killed_at_each_step_a_call_is_lost_or_on_the_record() {
    killed_at_each_step(
        Victim::Gateway,
        "with_the_gateway_killed_at_each_step_a_call_is_lost_or_on_the_record",
    )
    .await;
}

async fn killed_at_each_step(victim: Victim, test: &str) {
    if !available(test) {
        return;
    }
    let postgres = Postgres::own().await.unwrap().behind_a_proxy().await.unwrap();
    let mut drill = Drill::on(postgres).await;
    for step in STEPS {
        let when = format!("{victim:?} killed at {step:?}");
        if step == Step::Release {
            released(&mut drill, victim, &when).await;
        } else {
            killed(&mut drill, victim, step, &when).await;
        }
        drill.is_back(&when).await;
        crate::record::is_whole(&drill.gateway.admin(), &drill.gateway.store(), &when).await;
    }
    let found = drill.holds(test).await;
    println!("{found:?}");
}

async fn killed(drill: &mut Drill, victim: Victim, step: Step, when: &str) {
    let heard = drill.relay.received().len();
    drill.relay.replies(Reply::PrintsWhenTold("up\n".into()));
    match step {
        Step::BeforeIntent => drill.proxy().catch(Catch::Before),
        Step::AfterIntent => drill.proxy().catch(Catch::After),
        Step::Contact | Step::BeforeSettle | Step::AfterSettle | Step::Release => {}
    }
    let call = drill.calling();
    if let Step::Contact | Step::BeforeSettle | Step::AfterSettle = step {
        let seen = drill.relay.wait(SOON, |seen| seen.commands.len() > heard).await;
        assert_eq!(seen.commands.len(), heard + 1, "{when}: the host was not asked");
    }
    match step {
        Step::BeforeSettle => drill.proxy().catch(Catch::Before),
        Step::AfterSettle => drill.proxy().catch(Catch::After),
        Step::BeforeIntent | Step::AfterIntent | Step::Contact | Step::Release => {}
    }
    if let Step::BeforeSettle | Step::AfterSettle = step {
        drill.relay.tell();
    }
    if step != Step::Contact {
        assert!(drill.proxy().caught(SOON).await, "{when}: nothing was caught");
    }

    kill(drill, victim).await;
    if step == Step::Contact && victim == Victim::Postgres {
        drill.relay.tell();
    }

    match (victim, call.await.unwrap()) {
        (Victim::Postgres, Some(Err(refusal))) => fits(&refusal, when),
        (Victim::Postgres, told) => panic!("{when}: {told:?}"),
        (Victim::Gateway, told) => assert!(told.is_none(), "{when}: {told:?}"),
    }
    if let Step::BeforeIntent | Step::AfterIntent = step {
        assert_eq!(
            drill.relay.received().len(),
            heard,
            "{when}: the host was contacted"
        );
    }
    drill.relay.replies(Reply::Prints("up\n".into()));
    mend(drill, victim, when).await;
}

/// What is settled may be read although the server has gone; a gateway that has gone takes it along.
async fn released(drill: &mut Drill, victim: Victim, when: &str) {
    let admin = drill.gateway.admin();
    let rows = drill.rows().await;
    let call = admin
        .invoke(
            "ssh.run_whitelisted_command",
            json!({"command": "systemctl status released"}),
        )
        .await
        .unwrap();
    let settled = toolgate_test_support::until(SOON, || async { (drill.rows().await > rows).then_some(()) });
    settled.await.expect("the row");

    kill(drill, victim).await;

    if victim == Victim::Postgres {
        let events = admin.watch(&call).await.map(|events| events.all());
        match events {
            Ok(events) => {
                let events = events.await;
                let told: Vec<&str> = events.iter().map(|event| event.event.as_str()).collect();
                assert_eq!(told, ["tool_result", "done"], "{when}");
            }
            // Who asks must be known, and that is the server's to say where it is not at hand.
            Err(refusal) => assert_eq!(refusal.status, 503, "{when}: {refusal:?}"),
        }
    }
    mend(drill, victim, when).await;
}

async fn kill(drill: &mut Drill, victim: Victim) {
    match victim {
        Victim::Postgres => drill.postgres.cluster().kill().await,
        Victim::Gateway => drill.gateway.kill9().await,
    }
    drill.proxy().cut();
}

async fn mend(drill: &mut Drill, victim: Victim, when: &str) {
    match victim {
        Victim::Postgres => drill.postgres.cluster().start().await.unwrap(),
        Victim::Gateway => {
            drill.relay.hang_up();
            let up = drill.gateway.up().await;
            up.unwrap_or_else(|error| panic!("{when}: {error}"));
            drill.relay.dial(drill.gateway.url()).await.unwrap();
        }
    }
}
