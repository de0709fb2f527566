//! Resolve: the catalog, else the write guard, else not found. No I/O: snapshots only.

use std::sync::Arc;

use toolgate_contract::{
    ids::TargetId,
    registry::{Effect, Group, ToolDef},
    ssh,
};

use super::{
    Rooms,
    admit::Admitted,
    facts::{Facts, Refusal},
    for_project::{self, ForProject},
};
use crate::{
    error::{Error, Missing},
    registry,
    snapshot::{Hidden, Target},
};

/// What a call asks of a target.
#[derive(Debug, Clone)]
pub(super) enum Capability {
    Tool(&'static ToolDef),
    /// A tool that asks every project at once.
    Fleet(&'static ToolDef),
    /// A message to a project's server: a tool of its own, or whatever the pipe carries.
    Project(Arc<ForProject>),
    ConnectionTest,
}

/// A call of something that the caller may see.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(super) admitted: Admitted,
    pub(super) capability: Capability,
    /// Already chosen for a connection test, and for whatever is a project's.
    pub(super) target: Option<Arc<Target>>,
    _step: (),
}

impl Resolved {
    /// A message to a project's server.
    pub(super) fn for_project(admitted: Admitted, message: ForProject, target: Arc<Target>) -> Self {
        Self {
            admitted,
            capability: Capability::Project(Arc::new(message)),
            target: Some(target),
            _step: (),
        }
    }
}

pub(super) fn resolve(rooms: &Rooms, mut admitted: Admitted) -> Result<Resolved, Box<Refusal>> {
    if for_project::is_meant(&admitted) {
        return for_project::resolve(rooms, admitted);
    }
    match find(&admitted) {
        Ok(tool) => {
            admitted.facts.capability = tool.name.to_owned();
            admitted.facts.adapter = tool.adapter;
            admitted.facts.writes = tool.effect == Effect::Write;
            match guard(tool, &admitted) {
                Ok(()) => Ok(Resolved {
                    admitted,
                    capability: match tool.group {
                        Some(Group::Fleet) => Capability::Fleet(tool),
                        _ => Capability::Tool(tool),
                    },
                    target: None,
                    _step: (),
                }),
                Err(error) => Err(Refusal::boxed(admitted.facts, error)),
            }
        }
        Err(error) => {
            // It is told as what it is, so its row may be as well.
            if let Error::ReadOnly { tool } = error {
                tool.name.clone_into(&mut admitted.facts.capability);
                admitted.facts.adapter = tool.adapter;
            }
            Err(Refusal::boxed(admitted.facts, error))
        }
    }
}

pub(super) fn connection_test(mut admitted: Admitted, target_id: &str) -> Result<Resolved, Box<Refusal>> {
    let found = target_id
        .parse::<TargetId>()
        .ok()
        .and_then(|id| admitted.facts.caller.snapshot.target(id));
    let Some(target) = found.filter(|target| !target.disabled) else {
        return Err(Refusal::boxed(admitted.facts, Error::NotFound(Missing::Target)));
    };
    "test_connection".clone_into(&mut admitted.facts.capability);
    admitted.facts.adapter = target.adapter;
    Ok(Resolved {
        admitted,
        capability: Capability::ConnectionTest,
        target: Some(target),
        _step: (),
    })
}

fn find(admitted: &Admitted) -> Result<&'static ToolDef, Error> {
    let Facts {
        caller,
        capability: name,
        ..
    } = &admitted.facts;
    let hides = |tool: &ToolDef| caller.snapshot.hides(tool, caller.profile());
    let shows = |tool: &ToolDef| hides(tool).is_none();
    match registry::tool(name).map(|tool| (tool, hides(tool))) {
        Some((tool, None)) => Ok(tool),
        Some((tool, Some(Hidden::ReadOnly))) => Err(Error::ReadOnly { tool }),
        None if registry::is_write_attempt(name) => Err(Error::WriteRejected {
            what: unknown_read(registry::near(name, shows)),
        }),
        // A hidden tool is answered by the same function of name and catalog as one that does not exist.
        Some(_) | None => Err(Error::NotFound(Missing::Tool(registry::near(name, shows)))),
    }
}

// The grammar runs here and not in the schema, so that a foreign command is a rejected write and not a typing error.
fn guard(tool: &ToolDef, admitted: &Admitted) -> Result<(), Error> {
    if tool.name != "ssh.run_whitelisted_command" {
        return Ok(());
    }
    match admitted.arguments.string("command") {
        Some(command) => ssh::parse(&command).map(drop).map_err(foreign_command),
        // Absent or no text: the schema says so.
        None => Ok(()),
    }
}

fn unknown_read(near: Option<&str>) -> String {
    const WHAT: &str = "this is not one of the known reads of infrastructure";
    near.map_or_else(|| WHAT.into(), |near| format!("{WHAT}, did you mean {near}"))
}

fn foreign_command(refused: ssh::Refused) -> Error {
    let what = match refused {
        ssh::Refused::Unknown => format!("this command is {refused}"),
        ssh::Refused::Service | ssh::Refused::Lines => refused.to_string(),
    };
    Error::WriteRejected { what }
}
