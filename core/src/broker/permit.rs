//! Permit: the schema, the target, the limits; and whether the answer is at hand. Pure but for the buckets.

use std::sync::Arc;

use bytes::Bytes;
use toolgate_contract::{
    ids::{TargetId, TenantId},
    registry::{Freshness, Group, ToolDef},
    v1::{TargetChoice, Violation},
};

use super::{
    Rooms,
    admit::Admitted,
    answer::Answer,
    context,
    facts::{Facts, Refusal},
    fleet_tools::{self, Deed},
    for_project::ForProject,
    local, recheck,
    resolve::{Capability, Resolved},
};
use crate::{
    cache::Key,
    canonical::CanonicalJson,
    error::{Error, Missing},
    limits::{Place, Use},
    registry,
    snapshot::{Snapshot, Target},
    telemetry,
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
    /// Under which its answer is shared and kept; `None` for what is asked anew each time.
    pub(super) key: Option<Key>,
    /// The call's place among the tenant's calls under way; given back when the call ends.
    pub(super) place: Place,
    _step: (),
}

/// A call whose answer was kept, or is the gateway's own: it contacts nothing.
#[derive(Debug)]
pub(crate) struct Recalled {
    pub(super) facts: Facts,
    pub(super) capability: &'static str,
    /// The target that answered; none where the gateway itself did.
    pub(super) target_name: Option<String>,
    pub(super) answer: Answer,
    /// What is to be done with its settlement, before it is answered.
    pub(super) deed: Option<Deed>,
    _step: (),
}

/// Where a call goes from here.
#[derive(Debug)]
pub(super) enum Way {
    /// To its target.
    On(Permitted),
    /// Straight to its settlement.
    Home(Recalled),
}

pub(super) fn permit(rooms: &Rooms, resolved: Resolved) -> Result<Way, Box<Refusal>> {
    let Resolved {
        mut admitted,
        capability,
        target,
        ..
    } = resolved;
    if let Capability::Tool(tool) | Capability::Fleet(tool) = capability
        && local::is_local(tool)
    {
        return at_home(rooms, tool, admitted);
    }
    let target = match choice(&capability, target, &mut admitted) {
        Ok(target) => target,
        Err(error) => return Err(Refusal::boxed(admitted.facts, error)),
    };
    let Admitted {
        mut facts,
        arguments,
        deadline,
        ..
    } = admitted;
    // The fleet is no target.
    facts.target = (!matches!(capability, Capability::Fleet(_))).then_some(target.id);
    let arguments = arguments.to_bytes();
    let principal = facts.caller.principal();
    let key = key(&principal.tenant, &target, &capability, &arguments);
    if let Err(error) = unhindered(rooms, &facts, &capability, &target) {
        return Err(Refusal::boxed(facts, error));
    }
    if let (Capability::Tool(tool), Some(key)) = (&capability, &key)
        && let Some(hit) = rooms.cache.look(key)
    {
        telemetry::inventory("hit");
        return Ok(Way::Home(Recalled {
            facts,
            capability: tool.name,
            target_name: Some(target.name.clone()),
            answer: Answer::kept(hit),
            deed: None,
            _step: (),
        }));
    }
    let project = matches!(capability, Capability::Project(_)).then_some(target.id);
    match rooms.in_flight.take(&principal.tenant, project) {
        Ok(place) => Ok(Way::On(Permitted {
            facts,
            capability,
            target,
            arguments,
            deadline,
            key,
            place,
            _step: (),
        })),
        Err(error) => Err(Refusal::boxed(facts, error)),
    }
}

fn at_home(rooms: &Rooms, tool: &'static ToolDef, admitted: Admitted) -> Result<Way, Box<Refusal>> {
    let mut arguments = admitted.arguments.to_value();
    local::without_empty(tool, &mut arguments);
    let mut facts = admitted.facts;
    let answered = schema_holds(tool, &arguments).and_then(|()| {
        if !local::is_exempt(tool) {
            let principal = facts.caller.principal();
            rooms
                .buckets
                .take(Use::Call, &principal.tenant, &principal.name)?;
        }
        match tool.group {
            Some(Group::Fleet) => fleet_tools::answer(rooms, &facts, tool, &arguments),
            _ => local::answer(rooms, &mut facts, tool, &arguments).map(|answer| (answer, None)),
        }
    });
    match answered {
        Ok((answer, deed)) => Ok(Way::Home(Recalled {
            deed,
            facts,
            capability: tool.name,
            target_name: None,
            answer,
            _step: (),
        })),
        Err(error) => Err(Refusal::boxed(facts, error)),
    }
}

fn schema_holds(tool: &ToolDef, arguments: &serde_json::Value) -> Result<(), Error> {
    let violations = registry::violations(tool, arguments);
    match violations.is_empty() {
        true => Ok(()),
        false => Err(Error::ArgumentsInvalid {
            tool: tool.name.to_owned(),
            violations,
        }),
    }
}

// A target whose credential drifted can still be tested: that is how it comes back.
fn unhindered(rooms: &Rooms, facts: &Facts, capability: &Capability, target: &Target) -> Result<(), Error> {
    if matches!(capability, Capability::Tool(_)) && recheck::is_drifted(target) {
        return Err(Error::CredentialDrifted);
    }
    let principal = facts.caller.principal();
    rooms.buckets.take(Use::Call, &principal.tenant, &principal.name)
}

fn choice(
    capability: &Capability,
    target: Option<Arc<Target>>,
    admitted: &mut Admitted,
) -> Result<Arc<Target>, Error> {
    match (capability, target) {
        (Capability::ConnectionTest, Some(target)) => Ok(target),
        (Capability::ConnectionTest | Capability::Project(_), None) => Err(Error::NotFound(Missing::Target)),
        (Capability::Project(message), Some(target)) => {
            own_schema_holds(message, &admitted.arguments)?;
            Ok(target)
        }
        (Capability::Fleet(tool), _) => {
            schema_holds(tool, &admitted.arguments.to_value())?;
            Ok(Target::fleet())
        }
        (Capability::Tool(tool), _) => check(tool, admitted),
    }
}

// Where its project's schema can be read here; every project looks for itself besides.
fn own_schema_holds(message: &ForProject, arguments: &CanonicalJson) -> Result<(), Error> {
    let Some(tool) = &message.tool else { return Ok(()) };
    let schema = tool.tool.schema();
    let violations = schema.map_or_else(Vec::new, |schema| {
        schema.violations(&arguments.to_value(), arguments.as_bytes())
    });
    match violations.is_empty() {
        true => Ok(()),
        false => Err(Error::ArgumentsInvalid {
            tool: tool.name.to_string(),
            violations,
        }),
    }
}

fn key(tenant: &TenantId, target: &Target, capability: &Capability, arguments: &Bytes) -> Option<Key> {
    match capability {
        Capability::Tool(tool) if tool.freshness == Some(Freshness::Inventory) => Some(Key {
            tenant: tenant.clone(),
            target: target.id,
            version: target.version,
            secret: target.secret.clone(),
            tool: tool.name,
            arguments: arguments.clone(),
        }),
        Capability::Tool(_) | Capability::Fleet(_) | Capability::Project(_) | Capability::ConnectionTest => {
            None
        }
    }
}

fn check(tool: &'static ToolDef, admitted: &mut Admitted) -> Result<Arc<Target>, Error> {
    context::without_empty(tool, &mut admitted.arguments);
    // Schemas of agents' tools do not have it, and a model has no other place where it could name a target.
    let mut named = None;
    if tool.is_of_back_end() {
        named = routing_argument(tool, admitted)?;
    }
    schema_holds(tool, &admitted.arguments.to_value())?;
    #[cfg(any(test, feature = "conformance"))]
    if let Some(stand_in) = admitted.facts.caller.snapshot.stand_in_of(tool) {
        return Ok(stand_in);
    }
    if named.is_none() {
        named = routing_argument(tool, admitted)?;
    }
    let caller = &admitted.facts.caller;
    context::completed(tool, &mut admitted.arguments, &caller.context)?;
    let target = choose(tool.adapter, named.as_deref(), &caller.snapshot)?;
    match target.lets(tool) {
        true => Ok(target),
        false => Err(Error::ReadOnly { tool }),
    }
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
