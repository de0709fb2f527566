//! `docs/conformance.md`: what passed, and why what did not may not. No dates, so that it only changes when we do.

use std::fmt::Write;

use super::suite::{Checks, Run, Verdict};

const HEAD: &str = "\
# Conformance to MCP

Written by the test `the_conformance_suite_passes_in_three_revisions` from what the official suite says: npm
`@modelcontextprotocol/conformance` 0.2.0-alpha.12. `UPDATE=1` rewrites this page; anything else that differs from it fails.

The suite talks to a gateway with authorization, limits and the audit record on. It has no way to send a credential, so a proxy
adds one to each request and changes nothing else. A warning counts as a failure, and so does an expected failure that passes.
The suite's client always offers 2025-11-25 in its handshake; that 2025-06-18 is spoken as it was written is held by our own
tests.

Declared are `tools` with `listChanged`, and `logging` in the revisions that have it. Scenarios of what is not declared fail, each
with its reason below.
";

/// The page being written.
pub(super) struct Report(String);

impl Report {
    pub(super) fn new() -> Self {
        Self(HEAD.to_owned())
    }

    /// One list of tools in all revisions.
    pub(super) fn section(&mut self, tools: &str, which: &str, runs: &[Run]) {
        for run in runs {
            let passed = run
                .scenarios
                .iter()
                .filter(|(scenario, checks)| !run.reasons.contains_key(scenario) && all_passed(checks))
                .count();
            let text = &mut self.0;
            let _ = write!(
                text,
                "\n## {tools}, {}\n\nRun: {which}. {passed} of {} pass whole.\n\n| scenario | checks passed | result |\n|---|---|---|\n",
                run.revision,
                run.scenarios.len()
            );
            for (scenario, checks) in &run.scenarios {
                let _ = writeln!(text, "{}", row(run, scenario, checks));
            }
        }
    }

    /// The same scenarios at a server itself and through the pipe.
    pub(super) fn piped(&mut self, tools: &str, what: &str, runs: &[Run], piped: &[Run]) {
        let text = &mut self.0;
        let _ = write!(
            text,
            "\n## {tools}, through the pipe\n\n{what}\n\n\
             | revision | scenarios | checks passed at the server | checks passed through the pipe |\n|---|---|---|---|\n"
        );
        for (run, piped) in runs.iter().zip(piped) {
            let ((passed, all), (piped_passed, piped_all)) = (run.counts(), piped.counts());
            let _ = writeln!(
                text,
                "| {} | {} | {passed} of {all} | {piped_passed} of {piped_all} |",
                run.revision,
                run.scenarios.len()
            );
        }
    }

    pub(super) fn text(self) -> String {
        self.0
    }
}

fn row(run: &Run, scenario: &str, checks: &Checks) -> String {
    let passed = checks
        .values()
        .filter(|verdict| **verdict == Verdict::Passed)
        .count();
    let result = match run.reasons.get(scenario) {
        Some(why) => format!("expected failure: {why}"),
        None if checks.is_empty() => {
            "nothing to check: what is answered in one piece is no stream".to_owned()
        }
        None if all_passed(checks) => "pass".to_owned(),
        None => checks
            .iter()
            .filter(|(_, verdict)| **verdict != Verdict::Passed)
            .map(|(id, _)| {
                let why = run.reasons.get(&format!("{scenario}:{id}"));
                let why = why.map_or("NOT EXPECTED", String::as_str);
                format!("`{id}` expected to fail: {why}")
            })
            .collect::<Vec<_>>()
            .join("; "),
    };
    format!("| `{scenario}` | {passed} of {} | {result} |", checks.len())
}

fn all_passed(checks: &Checks) -> bool {
    !checks.is_empty() && checks.values().all(|verdict| *verdict == Verdict::Passed)
}
