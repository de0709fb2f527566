//! What a validation or a connection test found, for people: a line per stage, what was seen, what is left to see to.

use serde_json::Value;

use super::super::{list, text};
use crate::{failure::Failure, output::Output};

/// The stages, with a tick where they passed.
pub(super) fn stages(output: Output, found: &Value) -> Result<(), Failure> {
    for stage in list(found, "stages") {
        let ok = stage["ok"] == true;
        output.raw(format!("  {} ", output.verdict(mark(ok), ok)).as_bytes())?;
        output.line(&told(stage))?;
    }
    Ok(())
}

/// The stages, and what the credential was seen to be able to do.
pub(super) fn whole(output: Output, found: &Value) -> Result<(), Failure> {
    stages(output, found)?;
    for line in seen(found) {
        output.line(&format!("  {line}"))?;
    }
    Ok(())
}

/// A refusal that holds what was found, with a line for each of it and the next step.
pub(super) fn refused(mut failure: Failure) -> Failure {
    let Some(problem) = &failure.problem else {
        return failure;
    };
    let Some(found) = problem.get("validation").filter(|found| found.is_object()) else {
        return failure;
    };
    let stages = list(found, "stages").iter();
    let lines = stages.map(|stage| format!("{} {}", mark(stage["ok"] == true), told(stage)));
    let lines: Vec<_> = lines.chain(seen(found)).collect();
    let next = next(problem.get("reason").and_then(Value::as_str).unwrap_or_default());
    failure.details.extend(lines);
    failure.next = failure.next.or_else(|| next.map(str::to_owned));
    failure
}

fn mark(ok: bool) -> &'static str {
    if ok { "✓" } else { "✗" }
}

fn told(stage: &Value) -> String {
    let ms = stage["ms"].as_i64().unwrap_or_default();
    let line = format!("{} ({ms} ms) {}", text(stage, "name"), text(stage, "reason"));
    line.trim_end().to_owned()
}

fn seen(found: &Value) -> Vec<String> {
    let line = |name: &str, says: &str| {
        let texts: Vec<_> = list(found, name).iter().filter_map(Value::as_str).collect();
        (!texts.is_empty()).then(|| format!("{says}: {}", texts.join(", ")))
    };
    [
        line("proven", "can, as it should"),
        line("wider", "can, and should not"),
        line(
            "notProvable",
            "cannot be told by reading, so see to it where the token was made",
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn next(reason: &str) -> Option<&'static str> {
    match reason {
        "ROLE_VIOLATION" | "SCOPE_VIOLATION" => Some(
            "copy the token anew where it was not accepted, else change what it may do, and run the command again; \
             nothing was stored",
        ),
        "UPSTREAM_TLS" => Some(
            "--ca-certificate FILE trusts its authority, --fingerprint SHA256 its certificate; nothing was stored",
        ),
        "UPSTREAM_UNREACHABLE" | "UPSTREAM_TIMEOUT" => Some(
            "what is above names the address and what is wrong there; where it says that it may be allowed, --allow-private \
             NETWORK, --allow-loopback or --allow-http do so; nothing was stored",
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::failure::Exit;

    #[test]
    fn a_refusal_says_which_stage_failed_what_is_too_much_and_the_next_step() {
        let mut failure = Failure::new(Exit::Refused, "role violation: VM.PowerMgmt is too much");
        let problem = json!({"reason": "ROLE_VIOLATION", "validation": {
            "verdict": "failed",
            "stages": [
                {"name": "reach", "ok": true, "ms": 3},
                {"name": "privileges", "ok": false, "ms": 40, "reason": "VM.PowerMgmt is too much"},
            ],
            "proven": ["VM.Audit", "Sys.Audit"],
            "wider": ["VM.PowerMgmt"],
            "notProvable": [],
        }});
        failure.problem = problem.as_object().cloned().map(Box::new);
        let told = refused(failure).text();
        assert_eq!(
            told,
            "error: role violation: VM.PowerMgmt is too much\n  \
             ✓ reach (3 ms)\n  \
             ✗ privileges (40 ms) VM.PowerMgmt is too much\n  \
             can, as it should: VM.Audit, Sys.Audit\n  \
             can, and should not: VM.PowerMgmt\n\
             next: copy the token anew where it was not accepted, else change what it may do, and run the command again; nothing was stored"
        );
    }

    #[test]
    fn a_refusal_without_findings_stays_as_it_was() {
        let failure = Failure::new(Exit::Refused, "conflict").next("choose another name");
        assert_eq!(refused(failure.clone()), failure);
    }
}
