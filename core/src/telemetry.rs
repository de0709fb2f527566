//! The words of spans and metrics, fixed in one place. Arguments, results and credentials have no place here.

use std::time::Duration;

use toolgate_contract::{ids::CallId, registry::profile_label};
use tracing::{Span, debug_span};

use crate::{
    audit::Outcome,
    error::NotSignedIn,
    identity::{Principal, jwt},
};

/// The span of one call.
#[must_use]
pub fn call_span(call: CallId, principal: &Principal) -> Span {
    debug_span!("tool_call", call_id = %call, tenant = %principal.tenant, principal = %principal.name)
}

/// Counts a settled call. Tools and adapters are closed sets, so the labels are too.
pub fn settled(adapter: &'static str, tool: &'static str, result: Outcome, took: Duration) {
    metrics::counter!("toolgate_calls_total", "adapter" => adapter, "tool" => tool, "result" => result.as_str())
        .increment(1);
    metrics::histogram!("toolgate_call_duration_seconds", "adapter" => adapter).record(took);
}

/// Tells about how many tokens a result costs the model that reads it.
pub fn result_tokens(adapter: &'static str, tokens: usize) {
    let tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
    metrics::histogram!("toolgate_result_tokens_estimated", "adapter" => adapter).record(f64::from(tokens));
}

/// Counts a request that was not carried out, by its reason.
pub fn refused(reason: &'static str) {
    metrics::counter!("toolgate_refusals_total", "reason" => reason).increment(1);
}

/// Counts an inventory read, by where its answer comes from: `hit`, `joined` or `missed`.
pub fn inventory(outcome: &'static str) {
    metrics::counter!("toolgate_inventory_requests_total", "outcome" => outcome).increment(1);
}

/// Counts what happened to sessions of MCP clients: `opened`, `closed`, or `unknown` where a request brought one that
/// does not go on.
pub fn mcp_session(event: &'static str) {
    metrics::counter!("toolgate_mcp_sessions_total", "event" => event).increment(1);
}

/// Tells how many sessions are remembered as closed before their time.
pub fn mcp_tombstones(count: usize) {
    metrics::gauge!("toolgate_mcp_session_tombstones").set(u32::try_from(count).unwrap_or(u32::MAX));
}

/// Counts a report of a problem of the platform. Values come out of the schema of the tool, so the labels are closed.
pub fn internal_issue(category: &str, severity: &str) {
    metrics::counter!("tatara_mcp_internal_issue_total", "category" => category.to_owned(), "severity" => severity.to_owned())
        .increment(1);
}

/// Tells how many tools the list has that was made last under a profile.
pub fn registered_tools(profile: Option<&str>, count: usize) {
    metrics::gauge!("tatara_mcp_registered_tools", "profile" => profile_label(profile))
        .set(u32::try_from(count).unwrap_or(u32::MAX));
}

/// Lets a series of these reports begin at zero.
pub fn no_internal_issue(category: &str, severity: &str) {
    metrics::counter!("tatara_mcp_internal_issue_total", "category" => category.to_owned(), "severity" => severity.to_owned())
        .absolute(0);
}

/// Counts a verification of the record. Verdicts are a closed set.
pub fn verified(verdict: &'static str, rows: i64, took: Duration) {
    metrics::counter!("toolgate_audit_verifications_total", "verdict" => verdict).increment(1);
    metrics::counter!("toolgate_audit_verified_rows_total").increment(u64::try_from(rows).unwrap_or(0));
    metrics::histogram!("toolgate_audit_verification_seconds").record(took);
}

/// Counts a JWT that was not accepted, by the rule it did not hold to.
pub fn jwt_refused(why: jwt::Refused) {
    metrics::counter!("toolgate_jwt_refused_total", "reason" => why.as_str()).increment(1);
}

/// Counts a reading of the issuer's keys.
pub fn issuer_keys_read(whole: bool) {
    let outcome = if whole { "ok" } else { "failed" };
    metrics::counter!("toolgate_jwt_key_refreshes_total", "outcome" => outcome).increment(1);
}

/// Counts the end of a sign-in with OpenID Connect: `signed_in`, or the word of why not.
pub fn signed_in_with_oidc(outcome: &'static str) {
    metrics::counter!("toolgate_oidc_sign_ins_total", "outcome" => outcome).increment(1);
}

/// Counts a reading of the addresses and keys of the provider that people sign in with.
pub fn provider_read(whole: bool) {
    let outcome = if whole { "ok" } else { "failed" };
    metrics::counter!("toolgate_oidc_provider_refreshes_total", "outcome" => outcome).increment(1);
}

/// Says what the metrics are, for whoever reads them, and lets those without labels begin at zero.
pub fn describe() {
    use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram};
    describe_counter!(
        "toolgate_calls_total",
        "Calls settled on the record, by adapter, tool and result"
    );
    describe_histogram!(
        "toolgate_call_duration_seconds",
        Unit::Seconds,
        "Time from admission to settlement of a call"
    );
    describe_histogram!(
        "toolgate_result_tokens_estimated",
        "Tokens that a released result costs the model that reads it, estimated from its length, by adapter"
    );
    describe_counter!("toolgate_refusals_total", "Requests not carried out, by reason");
    describe_histogram!(
        "toolgate_journal_commit_seconds",
        Unit::Seconds,
        "Time of one group commit of the journal, from its first statement until it is durable"
    );
    describe_histogram!(
        "toolgate_journal_commit_ops",
        Unit::Count,
        "Intents, settlements and other rows that one group commit carried"
    );
    describe_counter!(
        "toolgate_journal_failed_commits_total",
        "Group commits that failed; nothing of them was released"
    );
    describe_counter!(
        "toolgate_journal_broken_chains_total",
        "Tenants whose chain was found broken by the journal; their calls are refused until the next start"
    );
    describe_counter!(
        "toolgate_inventory_requests_total",
        "Inventory reads, by outcome: hit in the cache, joined to a read under way, missed"
    );
    describe_counter!(
        "toolgate_secret_requests_total",
        "Secrets asked for, by provider and outcome: hit or refused out of the cache, joined to a fetch under way, missed"
    );
    describe_histogram!(
        "toolgate_secret_fetch_seconds",
        Unit::Seconds,
        "Time of one fetch of a secret at its provider"
    );
    describe_counter!(
        "toolgate_secret_failures_total",
        "Fetches that gave no secret, by provider and fault"
    );
    describe_counter!(
        "toolgate_mcp_sessions_total",
        "Sessions of MCP clients, by event: opened, closed by the client, unknown where a request brought one that does not go on"
    );
    describe_counter!(
        "tatara_mcp_internal_issue_total",
        "Problems of the platform that agents reported, by category and severity"
    );
    describe_gauge!(
        "tatara_mcp_registered_tools",
        "Tools in the list that was last made under a profile, by profile"
    );
    describe_gauge!(
        "toolgate_mcp_session_tombstones",
        "Sessions that are remembered as closed before their time; an open one is remembered nowhere"
    );
    describe_counter!(
        "toolgate_audit_verifications_total",
        "Verifications of the record, by verdict"
    );
    describe_counter!(
        "toolgate_audit_verified_rows_total",
        "Rows of the record that verifications looked at"
    );
    describe_histogram!(
        "toolgate_audit_verification_seconds",
        Unit::Seconds,
        "Time of one verification of the record"
    );
    describe_counter!(
        "toolgate_jwt_refused_total",
        "JWTs that were not accepted, by the rule they did not hold to"
    );
    describe_counter!(
        "toolgate_jwt_key_refreshes_total",
        "Readings of the keys of the issuer of JWTs, by outcome"
    );
    describe_counter!(
        "toolgate_oidc_sign_ins_total",
        "Sign-ins with OpenID Connect that came back from the provider, by outcome: signed_in, the word of why not, or failed where the gateway could not"
    );
    describe_counter!(
        "toolgate_oidc_provider_refreshes_total",
        "Readings of the addresses and keys of the provider of sign-ins, by outcome"
    );
    for why in jwt::Refused::ALL {
        counter!("toolgate_jwt_refused_total", "reason" => why.as_str()).absolute(0);
    }
    for outcome in ["ok", "failed"] {
        counter!("toolgate_jwt_key_refreshes_total", "outcome" => outcome).absolute(0);
        counter!("toolgate_oidc_provider_refreshes_total", "outcome" => outcome).absolute(0);
    }
    let words = NotSignedIn::ALL.map(NotSignedIn::as_str);
    for outcome in ["signed_in", "failed"].into_iter().chain(words) {
        counter!("toolgate_oidc_sign_ins_total", "outcome" => outcome).absolute(0);
    }
    counter!("toolgate_journal_failed_commits_total").absolute(0);
    counter!("toolgate_journal_broken_chains_total").absolute(0);
    counter!("toolgate_audit_verified_rows_total").absolute(0);
    for event in ["opened", "closed", "unknown"] {
        counter!("toolgate_mcp_sessions_total", "event" => event).absolute(0);
    }
    for outcome in ["hit", "joined", "missed"] {
        counter!("toolgate_inventory_requests_total", "outcome" => outcome).absolute(0);
    }
}
