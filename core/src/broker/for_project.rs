//! What is a project's to answer: which project, which of its tools, and the message as its server reads it. No I/O.
//!
//! A name that the gateway has, shown or hidden, never leads here, nor does one in the name space of infrastructure. What
//! a project says of its tools only narrows: under `read_only` nothing goes through that does not say it only reads.

use std::sync::Arc;

use bytes::Bytes;
use toolgate_contract::{frame::FrameId, splice, v1::Violation};

use super::{Rooms, admit::Admitted, ask::Caller, facts::Refusal, resolve::Resolved};
use crate::{
    config::ProjectScope,
    error::{Error, Missing},
    fleet::{Owner, Published, ROUTING, ROUTING_BESIDE},
    profiles, registry,
    snapshot::Target,
    upstream::{Message, Payload, UpstreamError},
};

/// Carries a call of a tool.
const TOOLS_CALL: &str = "tools/call";
/// Lists tools.
const TOOLS_LIST: &str = "tools/list";
/// The token by which the gateway asks for progress.
const PROGRESS: &str = r#"{"progressToken":"toolgate"}"#;
/// What goes through the pipe of a project that may only be read, besides tools that say they only read.
const READS: [&str; 16] = [
    "initialize",
    "ping",
    "server/discover",
    TOOLS_LIST,
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "subscriptions/listen",
    "tasks/get",
    "tasks/list",
];

/// A message to a project's server.
#[derive(Debug)]
pub(crate) struct ForProject {
    /// The message.
    pub(super) message: Message,
    /// The tool that it calls, where its schema is held against here.
    pub(super) tool: Option<Published>,
    /// Its client speaks to the server itself, and reads its answers as they are.
    pub(super) piped: bool,
    /// Tools that do not only read are taken out of the answer.
    pub(super) reads_only: bool,
}

/// What a client of the pipe wants carried.
#[derive(Debug)]
pub struct Piped {
    /// Name of the project.
    pub project: String,
    /// The method.
    pub method: String,
    /// Its parameters as they came; empty for none.
    pub params: Bytes,
    /// The conversation it belongs to; `raw` for one that belongs to none.
    pub conversation: FrameId,
}

/// Whether a call can only be a project's: nothing else is called so, and the tenant has projects.
pub(super) fn is_meant(admitted: &Admitted) -> bool {
    let facts = &admitted.facts;
    let (name, caller) = (&facts.capability, &facts.caller);
    registry::tool(name).is_none()
        && !registry::is_infrastructure_name(name)
        && profiles::has_projects(caller.profile())
        && caller.snapshot.projects().next().is_some()
}

pub(super) fn resolve(rooms: &Rooms, mut admitted: Admitted) -> Result<Resolved, Box<Refusal>> {
    match chosen(rooms, &mut admitted) {
        Ok((message, target)) => {
            let tool = message.tool.as_ref().map(|tool| &tool.tool);
            admitted.facts.writes = tool.is_some_and(|tool| !tool.read_only);
            Ok(Resolved::for_project(admitted, message, target))
        }
        Err(error) => Err(Refusal::boxed(admitted.facts, error)),
    }
}

/// A request that came through the pipe.
pub(super) fn piped(rooms: &Rooms, mut admitted: Admitted, piped: Piped) -> Result<Resolved, Box<Refusal>> {
    admitted.facts.adapter = registry::PROJECT;
    match through(rooms, &mut admitted, piped) {
        Ok((message, target)) => Ok(Resolved::for_project(admitted, message, target)),
        Err(error) => Err(Refusal::boxed(admitted.facts, error)),
    }
}

/// The project whose tools a caller sees in its list: its session's, else its tenant's. What a principal chose outside of
/// sessions steers its calls and not its list (`fleet.md` §2).
pub(crate) fn listed(rooms: &Rooms, caller: &Caller) -> Option<Arc<Target>> {
    profiles::has_projects(caller.profile())
        .then(|| shown(rooms, caller, true))
        .flatten()
}

/// The same whatever the profile; of somebody else the tenant's.
pub(crate) fn shown(rooms: &Rooms, caller: &Caller, is_own: bool) -> Option<Arc<Target>> {
    match owner(rooms, caller) {
        _ if !is_own => default_of(rooms, caller, &[Owner::Tenant]),
        Owner::Principal(_) => default_of(rooms, caller, &[Owner::Tenant]),
        owner => default_of(rooms, caller, &[owner, Owner::Tenant]),
    }
}

/// The project that a call of this caller goes to when it names none.
pub(super) fn current(rooms: &Rooms, caller: &Caller) -> Option<Arc<Target>> {
    default_of(rooms, caller, &[owner(rooms, caller), Owner::Tenant])
}

/// Whose default `switch_project` sets for this caller.
pub(super) fn owner(rooms: &Rooms, caller: &Caller) -> Owner {
    match (rooms.fleet.scope(), &caller.session) {
        (ProjectScope::Tenant, _) => Owner::Tenant,
        (ProjectScope::Caller, Some(session)) => Owner::Session(Arc::clone(session)),
        (ProjectScope::Caller, None) => Owner::Principal(Arc::clone(&caller.principal().name)),
    }
}

/// The project of this name, if this caller may see it.
pub(super) fn named(caller: &Caller, name: &str) -> Result<Arc<Target>, Error> {
    let visible = profiles::has_projects(caller.profile());
    let found = caller.snapshot.project(name).filter(|_| visible);
    found.cloned().ok_or_else(|| no_project(caller, Some(name)))
}

// A choice whose project is gone is no choice: what lies below it is another project.
fn default_of(rooms: &Rooms, caller: &Caller, owners: &[Owner]) -> Option<Arc<Target>> {
    let snapshot = &caller.snapshot;
    let id = owners
        .iter()
        .find_map(|owner| rooms.fleet.defaults().of(snapshot, owner))?;
    let target = snapshot.target(id)?;
    (target.adapter == registry::PROJECT && !target.disabled).then_some(target)
}

fn no_project(caller: &Caller, asked: Option<&str>) -> Error {
    let known = caller.snapshot.projects().map(|project| project.name.clone());
    Error::NoProject {
        asked: asked.map(str::to_owned),
        known: match profiles::has_projects(caller.profile()) {
            true => known.collect(),
            false => vec![],
        },
    }
}

fn chosen(rooms: &Rooms, admitted: &mut Admitted) -> Result<(ForProject, Arc<Target>), Error> {
    admitted.facts.adapter = registry::PROJECT;
    let name = admitted.facts.capability.clone();
    let current = current(rooms, &admitted.facts.caller);
    let routed = routed(rooms, admitted, current.as_deref(), &name)?;
    let target = match routed {
        Some(project) => self::named(&admitted.facts.caller, &project)?,
        None => current.ok_or_else(|| no_project(&admitted.facts.caller, None))?,
    };
    admitted.facts.target = Some(target.id);
    is_reachable(rooms, &target)?;
    let list = rooms
        .fleet
        .list(&target)
        .ok_or_else(|| unknown_yet(rooms, &target))?;
    let tool = list
        .find(&name)
        .ok_or(Error::NotFound(Missing::Tool(None)))?
        .clone();
    admitted.facts.capability = tool.tool.own_name.to_string();
    if !target.may_write() && !tool.tool.read_only {
        return Err(only_read(&target, &tool.tool.own_name));
    }
    let wants_progress = admitted.facts.reports.wants_progress();
    let params = call(&tool.tool.own_name, &admitted.given, wants_progress)?;
    let message = ForProject {
        message: Message {
            method: TOOLS_CALL.into(),
            params: Payload(params),
            conversation: None,
        },
        tool: Some(tool),
        piped: false,
        reads_only: false,
    };
    Ok((message, target))
}

/// The project that the arguments name, taken out of them.
fn routed(
    rooms: &Rooms,
    admitted: &mut Admitted,
    current: Option<&Target>,
    name: &str,
) -> Result<Option<String>, Error> {
    let has_own = || {
        let list = current.and_then(|current| rooms.fleet.list(current));
        list.is_some_and(|list| list.find(name).is_some_and(|tool| tool.tool.has_project))
    };
    if admitted.arguments.member(ROUTING_BESIDE).is_some() {
        let named = taken(admitted, ROUTING_BESIDE, name)?;
        if named.is_some() {
            return Ok(named);
        }
    }
    match admitted.arguments.member(ROUTING).is_some() && !has_own() {
        true => taken(admitted, ROUTING, name),
        false => Ok(None),
    }
}

/// Takes an argument that names a project out of both forms of the arguments; an empty one names none.
fn taken(admitted: &mut Admitted, argument: &'static str, name: &str) -> Result<Option<String>, Error> {
    let project = admitted
        .arguments
        .remove_string(argument)
        .map_err(|_| Error::ArgumentsInvalid {
            tool: name.to_owned(),
            violations: vec![Violation {
                pointer: format!("/{argument}"),
                keyword: "type".into(),
                message: "must be a text: the name of a project".into(),
            }],
        })?;
    let given = text(&admitted.given)?;
    let (left, _) = splice::without(given, argument).map_err(Error::internal)?;
    admitted.given = Bytes::from(left.into_owned());
    Ok(project.filter(|project| !project.is_empty()))
}

fn through(rooms: &Rooms, admitted: &mut Admitted, piped: Piped) -> Result<(ForProject, Arc<Target>), Error> {
    let target = self::named(&admitted.facts.caller, &piped.project)?;
    admitted.facts.target = Some(target.id);
    is_reachable(rooms, &target)?;
    let calls = piped.method == TOOLS_CALL;
    let may_write = target.may_write();
    let tool = match calls {
        true => rooms
            .fleet
            .list(&target)
            .and_then(|list| list.own(&admitted.facts.capability).cloned()),
        false => None,
    };
    let reads = tool.as_ref().is_some_and(|tool| tool.tool.read_only);
    if !may_write && !reads && (calls || !READS.contains(&&*piped.method)) {
        return Err(only_read(&target, &admitted.facts.capability));
    }
    admitted.facts.writes = calls && !reads;
    let params = match piped.params.is_empty() {
        true => Bytes::from_static(b"{}"),
        false => piped.params,
    };
    let message = ForProject {
        reads_only: !may_write && piped.method == TOOLS_LIST,
        message: Message {
            method: piped.method.into(),
            params: Payload(params),
            conversation: Some(piped.conversation),
        },
        tool: None,
        piped: true,
    };
    Ok((message, target))
}

// Whether the project is there at all comes before what it has: the same for a project that is named and for a default.
pub(super) fn is_reachable(rooms: &Rooms, target: &Target) -> Result<(), Error> {
    if rooms.fleet.is_withheld(target.id) {
        return Err(kept_back(target));
    }
    match rooms.adapters.upstream(target, None) {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::Upstream(error)),
    }
}

pub(super) fn kept_back(target: &Target) -> Error {
    Error::Conflict(format!(
        "the tools of project {} have changed, and are kept back until an admin looks at them and accepts them",
        target.name
    ))
}

fn unknown_yet(rooms: &Rooms, target: &Target) -> Error {
    rooms.fleet.ask_again(target.id);
    Error::Upstream(UpstreamError::ProjectDown {
        project: target.name.as_str().into(),
        relay: target.id.to_string().into(),
    })
}

fn only_read(target: &Target, tool: &str) -> Error {
    Error::WriteRejected {
        what: format!(
            "project {} may only be read, and its {} does not say that it only reads",
            target.name,
            tool.escape_debug()
        ),
    }
}

fn call(own_name: &str, arguments: &Bytes, wants_progress: bool) -> Result<Bytes, Error> {
    let name = serde_json::to_string(own_name).map_err(Error::internal)?;
    let arguments = text(arguments)?;
    let meta = match wants_progress {
        true => format!(",\"_meta\":{PROGRESS}"),
        false => String::new(),
    };
    Ok(format!("{{\"name\":{name},\"arguments\":{arguments}{meta}}}").into())
}

fn text(arguments: &Bytes) -> Result<&str, Error> {
    std::str::from_utf8(arguments).map_err(Error::internal)
}
