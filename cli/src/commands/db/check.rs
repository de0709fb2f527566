//! `db check`: whether a gateway could be started on a database, and what stands against it.

use serde_json::{Value, json};
use toolgate_core::store::{
    DatabaseUrl,
    schema::{self, Check},
};

use super::failed;
use crate::{
    failure::{Exit, Failure},
    output::{Output, spinner::while_waiting},
};

/// Whose rights are looked at, whoever asks.
const GATEWAY: &str = "toolgate_app";

pub(super) async fn run(output: Output, url: &DatabaseUrl) -> Result<Exit, Failure> {
    let checks = while_waiting("checking the database", schema::check(url))
        .await
        .map_err(|error| failed(url, &error))?;
    let sound = checks.iter().all(|check| check.faults.is_empty());
    if output.json {
        let checks: Vec<Value> = checks.iter().map(shown).collect();
        output.value(
            &json!({"database": url.to_string(), "sound": sound, "checks": checks, "rights_of": GATEWAY}),
        )?;
    } else {
        for check in &checks {
            tell(output, check)?;
        }
        if url.user() != GATEWAY {
            output.line(&format!(
                "rights are those of {GATEWAY}, the role that `up` signs in as; you signed in as {}",
                url.user()
            ))?;
        }
    }
    Ok(if sound { Exit::Done } else { Exit::Failed })
}

fn shown(check: &Check) -> Value {
    json!({"name": check.name, "ok": check.faults.is_empty(), "faults": check.faults})
}

fn tell(output: Output, check: &Check) -> Result<(), Failure> {
    let sound = check.faults.is_empty();
    let verdict = output.verdict(if sound { "ok" } else { "failed" }, sound);
    output.line(&format!("{verdict}  {}", check.name))?;
    for fault in &check.faults {
        output.line(&format!("  {fault}"))?;
    }
    Ok(())
}
