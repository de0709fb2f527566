//! The call inside of a call: what `call_tool` asks for is from here on the call itself.
//!
//! Right after admission and before anything is decided, so that permissions, limits, context and the record are those
//! of the same call made directly. Where the caller's catalog has no `call_tool` nothing is changed here, and it answers
//! like every other tool that is not there.

use serde_json::Value;
use toolgate_contract::v1::Violation;

use super::{
    Rooms,
    admit::{Admitted, bounded},
    facts::{Facts, Refusal},
};
use crate::{canonical::CanonicalJson, error::Error, profiles::CALL_TOOL, registry};

/// Where the arguments of the inner call stand in those of the outer one.
const PLACE: &str = "/arguments";

pub(super) fn unwrap(rooms: &Rooms, mut admitted: Admitted) -> Result<Admitted, Box<Refusal>> {
    if !is_call_of_a_call(&admitted.facts) {
        return Ok(admitted);
    }
    let name = match name(&admitted.arguments.to_value()) {
        Ok(name) => name,
        Err(violations) => {
            let tool = CALL_TOOL.to_owned();
            return Err(Refusal::boxed(
                admitted.facts,
                Error::ArgumentsInvalid { tool, violations },
            ));
        }
    };
    let inner = admitted.arguments.member("arguments");
    admitted.arguments = inner.unwrap_or_else(CanonicalJson::empty_object);
    admitted.given = admitted.arguments.to_bytes();
    let facts = &mut admitted.facts;
    facts.capability = bounded(name);
    facts.by_call_tool = true;
    let key = rooms.keys.arguments_key(&facts.caller.principal.tenant);
    facts.params_hash = Some(key.hash(admitted.arguments.as_bytes()));
    Ok(admitted)
}

fn is_call_of_a_call(facts: &Facts) -> bool {
    let caller = &facts.caller;
    let tool = registry::tool(&facts.capability).filter(|tool| tool.name == CALL_TOOL);
    tool.is_some_and(|tool| caller.snapshot.shows(tool, caller.profile()))
}

/// The name of the inner tool. A call of itself inside of itself says nothing that one of them does not.
fn name(arguments: &Value) -> Result<String, Vec<Violation>> {
    if let Some(tool) = registry::tool(CALL_TOOL) {
        let violations = registry::violations(tool, arguments);
        if !violations.is_empty() {
            return Err(violations);
        }
    }
    match arguments["name"].as_str() {
        Some(name) if name != CALL_TOOL => Ok(name.to_owned()),
        _ => Err(vec![Violation {
            pointer: "/name".into(),
            keyword: "not".into(),
            message: format!("must name the tool to call, which is never {CALL_TOOL} itself"),
        }]),
    }
}

/// The error with its places as the caller wrote them.
pub(super) fn as_asked(facts: &Facts, mut error: Error) -> Error {
    if facts.by_call_tool
        && let Error::ArgumentsInvalid { violations, .. } = &mut error
    {
        for violation in violations {
            violation.pointer.insert_str(0, PLACE);
        }
    }
    error
}
