//! `audit verify`: recomputes the chain and tells the first fault.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    commands::{Context, text},
    failure::{Exit, Failure},
    output::{Output, spinner::while_waiting},
};

/// Runs the command.
pub(super) async fn run(context: &Context) -> Result<Exit, Failure> {
    let gateway = context.gateway()?;
    let asked = json!({});
    let verified = gateway.send(Method::POST, "/api/audit/verify", &asked);
    print(
        context.output,
        &while_waiting("verifying the record", verified).await?,
    )
}

fn print(output: Output, found: &Value) -> Result<Exit, Failure> {
    let verdict = text(found, "verdict");
    let intact = verdict == "intact";
    if output.json {
        output.value(found)?;
    } else {
        let rows = found["rows"].as_i64().unwrap_or_default();
        output.raw(output.verdict(verdict, intact).as_bytes())?;
        match intact {
            true => output.line(&format!("  {rows} rows, head {}", text(found, "headHash")))?,
            false => output.line(&format!("  at row {}: {}", found["seq"], text(found, "message")))?,
        }
    }
    Ok(if intact { Exit::Done } else { Exit::NotIntact })
}
