//! `audit verify --export DIR`: an export, checked where it lies. No gateway, no database, no network.

use std::{path::Path, sync::Arc};

use serde_json::{Value, json};
use toolgate_core::{
    keys::{RecordKeys, RootKeys},
    proof::{Asked, ExportReport, Trust, verify_export},
    rfc3339,
};

use super::told;
use crate::{
    args::VerifyArgs,
    commands::Context,
    failure::{Exit, Failure},
    output::{Output, spinner::while_waiting},
};

/// Runs the command.
pub(super) async fn run(context: &Context, dir: &Path, args: &VerifyArgs) -> Result<Exit, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::failed(error.to_string());
    let keys: Option<Arc<dyn RecordKeys>> = match &args.keys {
        Some(keys) => Some(Arc::new(RootKeys::open(keys).map_err(|error| failed(&error))?)),
        None => None,
    };
    let trust = match &args.trust {
        Some(text) => Some(Trust::read(text).map_err(|error| Failure::usage(format!("--trust: {error}")))?),
        None => None,
    };
    let dir = dir.to_owned();
    let work = tokio::task::spawn_blocking(move || {
        verify_export(&Asked {
            dir: &dir,
            keys,
            trust,
            progress: &|_| {},
        })
    });
    let report = while_waiting("verifying the export", work).await;
    let report = report
        .map_err(|error| failed(&error))?
        .map_err(|error| failed(&error))?;
    print(context.output, &report)?;
    Ok(match report.verification.is_intact() {
        true => Exit::Done,
        false => Exit::NotIntact,
    })
}

fn print(output: Output, report: &ExportReport) -> Result<(), Failure> {
    if output.json {
        return output.value(&value(report));
    }
    let (found, manifest) = (&report.verification, &report.manifest);
    let verdict = output.verdict(found.verdict.as_str(), found.is_intact());
    output.raw(verdict.as_bytes())?;
    if !found.is_intact() {
        let place = match found.seq {
            0 => String::new(),
            seq => format!("at row {seq}: "),
        };
        return output.line(&format!("  {place}{}", found.message));
    }
    output.line(&format!(
        "  {} rows of tenant {}, {} to {}",
        found.rows, manifest.tenant_id, manifest.first_seq, manifest.last_seq
    ))?;
    output.line(&format!("  {}", end(report)))?;
    output.line(&format!(
        "  checkpoints: {}, the last of row {}; {}",
        found.checkpoints,
        found.covered,
        trusted(report)
    ))?;
    output.line(match report.macs {
        true => "  MACs: checked with the given keys",
        false => "  MACs: not checked, no --keys given",
    })
}

/// What is signed about the end. When the export was taken, only its manifest says, which nobody signed.
fn end(report: &ExportReport) -> String {
    match report.signed_us {
        Some(signed) => format!(
            "as of {}, when the gateway signed that the record ended at row {}",
            rfc3339::format(signed),
            report.verification.covered
        ),
        None => "its end is under no checkpoint: nothing says as of when it is".into(),
    }
}

fn trusted(report: &ExportReport) -> String {
    let root = report
        .trust_root
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    match report.pinned {
        true => format!("their key is the trusted one, {root}"),
        false => format!("trust rests on the key in the export, {root}: compare it, or give it with --trust"),
    }
}

fn value(report: &ExportReport) -> Value {
    let mut value = told(&report.verification);
    value["export"] = json!({
        "tenantId": report.manifest.tenant_id,
        "origin": report.manifest.origin,
        "exportedAt": report.manifest.exported_at,
        "firstSeq": report.manifest.first_seq,
        "lastSeq": report.manifest.last_seq,
    });
    value["trustRoot"] = json!(report.trust_root.as_ref().map(ToString::to_string));
    value["signedAt"] = json!(report.signed_us.map(rfc3339::format));
    value["trusted"] = json!(report.pinned);
    value["macsChecked"] = json!(report.macs);
    value
}
