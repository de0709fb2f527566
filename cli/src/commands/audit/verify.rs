//! `audit verify`: recomputes the chain, holds it against the signed checkpoints and tells the first fault.
//!
//! The running gateway is asked, which puts the verification itself on the record. Where none runs in the data
//! directory, store, keys and checkpoints are read as they are. An export needs none of them.

mod export;

use data_encoding::HEXLOWER;
use reqwest::Method;
use serde_json::{Value, json};
use toolgate_core::{
    audit::verify::Verification,
    proof::{TenantReport, verify_directory},
};

use crate::{
    args::VerifyArgs,
    client::Gateway,
    commands::{Context, list, text},
    config::{Config, Reader},
    failure::{Exit, Failure},
    output::{Output, spinner::while_waiting},
    serve::owner,
};

/// Runs the command.
pub(super) async fn run(context: &Context, args: &VerifyArgs) -> Result<Exit, Failure> {
    if let Some(dir) = &args.export {
        return export::run(context, dir, args).await;
    }
    let config = context.config(Reader::Record)?;
    let local = config.url.is_empty() || is_given(context, "data_dir") || is_given(context, "database_url");
    let found = match local.then(|| owner::runs_in(&config.data_dir)) {
        Some(false) => offline(&config, args).await,
        Some(true) => match online(context, &config, args).await {
            // It runs, but not where we look for it; reading beside it does no harm.
            Err(failure) if failure.exit == Exit::Unreachable => offline(&config, args).await,
            answer => answer,
        },
        None => online(context, &config, args).await,
    }?;
    print(context.output, &found)
}

// What is named on the command line is meant more than an address of the environment.
fn is_given(context: &Context, name: &str) -> bool {
    let given = |name: &str| context.given.flags.iter().any(|(key, _)| key.name == name);
    given(name) && !given("url")
}

async fn online(context: &Context, config: &Config, args: &VerifyArgs) -> Result<Value, Failure> {
    let gateway = Gateway::reach(config, &context.environment)?;
    let path = match args.incremental {
        true => "/api/audit/verify?incremental=true",
        false => "/api/audit/verify",
    };
    let asked = json!({});
    let verified = gateway.send_patiently(Method::POST, path, &asked);
    while_waiting("verifying the record", verified).await
}

async fn offline(config: &Config, args: &VerifyArgs) -> Result<Value, Failure> {
    if args.incremental {
        return Err(
            Failure::usage("without a gateway there is no former verification to go on from")
                .next("leave --incremental away to verify the whole record"),
        );
    }
    let work = verify_directory(&config.data_dir, config.database_url.as_ref());
    let reports = while_waiting("verifying the record", work).await;
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
    let mut told = told(&report.verification);
    told["tenantId"] = json!(report.tenant_id);
    told["name"] = json!(report.name);
    told
}

/// A verification as the gateway tells it.
fn told(found: &Verification) -> Value {
    json!({
        "verdict": found.verdict.as_str(),
        "rows": found.rows,
        "seq": found.seq,
        "message": found.message,
        "headHash": HEXLOWER.encode(&found.head.hash),
        "fromSeq": found.from,
        "throughSeq": found.head.seq,
        "checkpoints": found.checkpoints,
        "checkpointSeq": found.covered,
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
    if !intact {
        return output.line(&format!(
            "{who}  at row {}: {}",
            found["seq"],
            text(found, "message")
        ));
    }
    let mut told = format!("{who}  {} rows", found["rows"]);
    if found["fromSeq"].as_i64().is_some_and(|from| from > 1) {
        told.push_str(&format!(" from row {}", found["fromSeq"]));
    }
    if let Some(covered) = found["checkpointSeq"].as_i64().filter(|covered| *covered > 0) {
        told.push_str(&format!(
            ", {} checkpoints up to row {covered}",
            found["checkpoints"]
        ));
    }
    output.line(&format!("{told}, head {}", text(found, "headHash")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_faulty_verification_ends_with_its_own_exit_code() {
        let output = Output::new(true, true);
        assert_eq!(print(output, &json!({"verdict": "intact"})).unwrap(), Exit::Done);
        assert_eq!(
            print(output, &json!({"verdict": "fork"})).unwrap(),
            Exit::NotIntact
        );
    }
}
