//! `audit verify`: recomputes the chain and tells the first fault.
//!
//! The running gateway is asked, which puts the verification itself on the record. Where none runs in the data
//! directory, store and keys are read as they are.

use std::path::Path;

use data_encoding::HEXLOWER;
use reqwest::Method;
use serde_json::{Value, json};
use toolgate_core::audit::offline::{TenantReport, verify_directory};

use crate::{
    client::Gateway,
    commands::{Context, list, text},
    config::{Config, Reader},
    failure::{Exit, Failure},
    output::{Output, spinner::while_waiting},
    serve::owner,
};

/// Runs the command.
pub(super) async fn run(context: &Context) -> Result<Exit, Failure> {
    let config = context.config(Reader::Client)?;
    let local = config.url.is_empty() || names_directory(context);
    let found = match local.then(|| owner::runs_in(&config.data_dir)) {
        Some(false) => offline(&config.data_dir).await,
        Some(true) => match online(context, &config).await {
            // It runs, but not where we look for it; reading beside it does no harm.
            Err(failure) if failure.exit == Exit::Unreachable => offline(&config.data_dir).await,
            answer => answer,
        },
        None => online(context, &config).await,
    }?;
    print(context.output, &found)
}

// A directory named on the command line is meant more than an address of the environment.
fn names_directory(context: &Context) -> bool {
    let given = |name: &str| context.given.flags.iter().any(|(key, _)| key.name == name);
    given("data_dir") && !given("url")
}

async fn online(context: &Context, config: &Config) -> Result<Value, Failure> {
    let gateway = Gateway::reach(config, &context.environment)?;
    let asked = json!({});
    let verified = gateway.send(Method::POST, "/api/audit/verify", &asked);
    while_waiting("verifying the record", verified).await
}

async fn offline(dir: &Path) -> Result<Value, Failure> {
    let reports = while_waiting("verifying the record", verify_directory(dir)).await;
    let reports = reports.map_err(|error| Failure::failed(error.to_string()))?;
    let tenants: Vec<Value> = reports.iter().map(report).collect();
    let fault = tenants.iter().find(|tenant| text(tenant, "verdict") != INTACT);
    Ok(json!({
        "verdict": fault.map_or(INTACT, |tenant| text(tenant, "verdict")),
        "offline": true,
        "tenants": tenants,
    }))
}

const INTACT: &str = "intact";

fn report(report: &TenantReport) -> Value {
    let found = &report.verification;
    json!({
        "tenantId": report.tenant_id,
        "name": report.name,
        "verdict": found.verdict.as_str(),
        "rows": found.rows,
        "seq": found.seq,
        "message": found.message,
        "headHash": HEXLOWER.encode(&found.head.hash),
    })
}

fn print(output: Output, found: &Value) -> Result<Exit, Failure> {
    if output.json {
        output.value(found)?;
    } else if list(found, "tenants").is_empty() {
        line(output, "", found)?;
    } else {
        for tenant in list(found, "tenants") {
            let name = match text(tenant, "name") {
                "" => text(tenant, "tenantId"),
                name => name,
            };
            line(output, &format!("  tenant {name}"), tenant)?;
        }
    }
    Ok(if text(found, "verdict") == INTACT {
        Exit::Done
    } else {
        Exit::NotIntact
    })
}

fn line(output: Output, who: &str, found: &Value) -> Result<(), Failure> {
    let verdict = text(found, "verdict");
    let intact = verdict == INTACT;
    output.raw(output.verdict(verdict, intact).as_bytes())?;
    if intact {
        return output.line(&format!(
            "{who}  {} rows, head {}",
            found["rows"],
            text(found, "headHash")
        ));
    }
    output.line(&format!(
        "{who}  at row {}: {}",
        found["seq"],
        text(found, "message")
    ))
}
