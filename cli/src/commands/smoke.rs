//! `smoke`: every tool of one adapter against a real account, through a whole gateway that is thrown away afterwards.
//!
//! For people with accounts, and for their CI. Credentials come from the environment, go into the throw-away store first
//! and from there the usual way. Without them nothing was tested: that is told loudly and is never a success.

pub(crate) mod account;
mod throwaway;
mod walk;

use serde_json::json;

use self::{account::Account, throwaway::Throwaway, walk::Seen};
use super::Context;
use crate::{
    args::SmokeArgs,
    failure::{Exit, Failure},
    output::{Output, Table, spinner::while_waiting},
};

/// Runs the command.
pub(crate) async fn run(context: &Context, args: &SmokeArgs) -> Result<Exit, Failure> {
    if let Some(problem) = context.environment.problems().first() {
        return Err(Failure::usage(format!("{}: {}", problem.place, problem.text)));
    }
    let account = match Account::of(args.adapter, &context.environment)? {
        Ok(account) => account,
        Err(missing) => return skipped(context.output, args, &missing),
    };
    let throwaway = Throwaway::start().await?;
    let walked = while_waiting(
        &format!("reading {}", args.adapter.name()),
        walk::walk(throwaway.gateway(), &account),
    )
    .await;
    throwaway.end().await;
    told(context.output, args, &walked?)
}

fn skipped(output: Output, args: &SmokeArgs, missing: &[&str]) -> Result<Exit, Failure> {
    let adapter = args.adapter.name();
    match output.json {
        true => output.value(&json!({"adapter": adapter, "verdict": "skipped", "missing": missing}))?,
        false => output.line(&format!(
            "SKIPPED: nothing of {adapter} was tested\n  not set: {}\n  next: set them and run `toolgate smoke {adapter}` again",
            missing.join(", ")
        ))?,
    }
    Ok(Exit::NotRun)
}

fn told(output: Output, args: &SmokeArgs, seen: &[Seen]) -> Result<Exit, Failure> {
    let passed = seen.iter().all(|each| each.failed.is_none());
    let verdict = if passed { "passed" } else { "failed" };
    if output.json {
        let steps: Vec<_> = seen
            .iter()
            .map(|each| json!({"step": each.step, "ok": each.failed.is_none(), "ms": each.ms, "told": each.told, "reason": each.failed}))
            .collect();
        output.value(&json!({"adapter": args.adapter.name(), "verdict": verdict, "steps": steps}))?;
    } else {
        let mut table = Table::new(["STEP", "OK", "MS", "WHAT"]);
        for each in seen {
            table.row([
                each.step.to_owned(),
                if each.failed.is_none() { "yes" } else { "NO" }.to_owned(),
                each.ms.to_string(),
                each.failed.clone().unwrap_or_else(|| each.told.clone()),
            ]);
        }
        output.table(&table)?;
        output.line(&output.verdict(verdict, passed))?;
    }
    Ok(if passed { Exit::Done } else { Exit::Failed })
}
