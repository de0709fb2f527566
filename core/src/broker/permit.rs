//! Permit: the schema, the target, the limits. Pure but for the buckets.

use std::sync::Arc;

use bytes::Bytes;
use toolgate_contract::{
    ids::TargetId,
    registry::ToolDef,
    v1::{TargetChoice, Violation},
};

use super::{
    Rooms,
    admit::Admitted,
    facts::{Facts, Refusal},
    resolve::{Capability, Resolved},
};
use crate::{
    error::{Error, Missing},
    limits::{Place, Use},
    registry,
    snapshot::{Snapshot, Target},
};

/// A call that may run.
#[derive(Debug)]
pub(crate) struct Permitted {
    pub(super) facts: Facts,
    pub(super) capability: Capability,
    pub(super) target: Arc<Target>,
    /// Canonical arguments without the routing argument.
    pub(super) arguments: Bytes,
    pub(super) deadline: Option<std::time::Duration>,
    /// The call's place among the tenant's calls under way; given back when the call ends.
    pub(super) place: Place,
    _step: (),
}

pub(super) fn permit(rooms: &Rooms, resolved: Resolved) -> Result<Permitted, Box<Refusal>> {
    let Resolved {
        mut admitted,
        capability,
        target,
        ..
    } = resolved;
    let checked = match (capability, target) {
        (Capability::ConnectionTest, Some(target)) => Ok(target),
        (Capability::ConnectionTest, None) => Err(Error::NotFound(Missing::Target)),
        (Capability::Tool(tool), _) => check(tool, &mut admitted),
    };
    let granted = checked.and_then(|target| {
        admitted.facts.target = Some(target.id);
        let principal = admitted.facts.caller.principal();
        rooms
            .buckets
            .take(Use::Call, &principal.tenant, &principal.name)?;
        let place = rooms.in_flight.take(&principal.tenant)?;
        Ok((target, place))
    });
    let Admitted {
        facts,
        arguments,
        deadline,
        ..
    } = admitted;
    match granted {
        Ok((target, place)) => Ok(Permitted {
            facts,
            capability,
            target,
            arguments: arguments.to_bytes(),
            deadline,
            place,
            _step: (),
        }),
        Err(error) => Err(Refusal::boxed(facts, error)),
    }
}

fn check(tool: &'static ToolDef, admitted: &mut Admitted) -> Result<Arc<Target>, Error> {
    let violations = registry::violations(tool, &admitted.arguments.to_value());
    if !violations.is_empty() {
        return Err(Error::ArgumentsInvalid {
            tool: tool.name.to_owned(),
            violations,
        });
    }
    let named = routing_argument(tool, admitted)?;
    choose(tool.adapter, named.as_deref(), &admitted.facts.caller.snapshot)
}

// `target_id` may stand in the arguments or beside them; both and different is an error.
fn routing_argument(tool: &ToolDef, admitted: &mut Admitted) -> Result<Option<String>, Error> {
    let inside = admitted
        .arguments
        .remove_string("target_id")
        .ok()
        .flatten()
        .filter(|id| !id.is_empty());
    let beside = admitted.target_id.take().filter(|id| !id.is_empty());
    match (inside, beside) {
        (Some(inside), Some(beside)) if inside != beside => Err(Error::ArgumentsInvalid {
            tool: tool.name.to_owned(),
            violations: vec![Violation {
                pointer: "/target_id".into(),
                keyword: "const".into(),
                message: "differs from the target named beside the arguments; give one of them".into(),
            }],
        }),
        (inside, beside) => Ok(inside.or(beside)),
    }
}

fn choose(adapter: &'static str, named: Option<&str>, snapshot: &Snapshot) -> Result<Arc<Target>, Error> {
    let mut fitting = snapshot.targets_of(adapter);
    if let Some(named) = named {
        let id = named
            .parse::<TargetId>()
            .map_err(|_| Error::NotFound(Missing::Target))?;
        return fitting
            .find(|target| target.id == id)
            .cloned()
            .ok_or(Error::NotFound(Missing::Target));
    }
    let Some(first) = fitting.next() else {
        return Err(Error::NotFound(Missing::AnyTarget(adapter)));
    };
    let others: Vec<_> = fitting.collect();
    if others.is_empty() {
        return Ok(Arc::clone(first));
    }
    let choices = std::iter::once(first)
        .chain(others)
        .map(|target| TargetChoice {
            id: target.id.to_string(),
            name: target.name.clone(),
        })
        .collect();
    Err(Error::TargetRequired { adapter, choices })
}
