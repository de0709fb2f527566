//! The closed registry: every tool, profile and REST route that the contract names, fixed at build time.
//!
//! The tables are generated from `proto/`; a tool, profile or route that is not written there does not exist. Holds
//! no policy: what one caller may see is decided in core.

/// One tool: everything that lists, routes and dispatch need to know of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolDef {
    /// Canonical name, such as `ssh.run_whitelisted_command`.
    pub name: &'static str,
    /// The name with `_` for `.`, for clients that refuse dots. Accepted on calls as well.
    pub function_name: &'static str,
    /// Short title for people.
    pub title: &'static str,
    /// What the tool does and answers.
    pub description: &'static str,
    /// The adapter type that carries the call.
    pub adapter: &'static str,
    /// What the tool may do to the system behind it.
    pub effect: Effect,
    /// How old an answer may be; `None` for tools that contact no infrastructure.
    pub freshness: Option<Freshness>,
    /// JSON Schema 2020-12 of the arguments, compact. Closed; infrastructure tools have `target_id` in it.
    pub input_schema: &'static str,
    /// The subject, by which profiles take tools together; `None` for infrastructure.
    pub group: Option<Group>,
    /// The request that carries it to a back end of agents; `None` for all other tools.
    pub http: Option<HttpDef>,
    /// JSON Schema 2020-12 of the structured result, compact; empty where none is promised.
    pub output_schema: &'static str,
    /// The path of the typed rpc, `/toolgate.tools.v1.SshService/RunWhitelistedCommand`.
    pub grpc_path: &'static str,
    /// Full name of the request message. It has no `target_id`: that one travels beside the arguments.
    pub input_message: &'static str,
    /// Full name of the response message.
    pub output_message: &'static str,
}

impl ToolDef {
    /// Whether the tool belongs to infrastructure: it needs a target, and only reads.
    #[must_use]
    pub fn is_infrastructure(&self) -> bool {
        INFRASTRUCTURE.contains(&self.adapter)
    }

    /// Whether the tool is one of those that a back end of agents answers.
    #[must_use]
    pub fn is_of_back_end(&self) -> bool {
        self.http.is_some()
    }
}

/// The subject of a tool (`agent-tools.md` §1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// What agents remember.
    Memory,
    /// The graph of the code.
    CodeGraph,
    /// Projects, tasks and their outcomes.
    Operator,
    /// Rooms in which agents talk.
    Chat,
    /// What an agent says of the platform itself.
    Platform,
    /// What the gateway offers about its own tools and results, where a profile asks for it.
    Gateway,
    /// What can be asked of all projects at once, where a tenant has one.
    Fleet,
}

impl Group {
    /// The word used in lists and docs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::CodeGraph => "code_graph",
            Self::Operator => "operator",
            Self::Chat => "chat",
            Self::Platform => "platform",
            Self::Gateway => "gateway",
            Self::Fleet => "fleet",
        }
    }
}

/// The one HTTP request by which a tool's call is carried to its back end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpDef {
    /// The method.
    pub method: HttpMethod,
    /// The path below the back end's base; each `{argument}` is one percent-encoded segment.
    pub path: &'static str,
    /// Members of the body that are the same in every call.
    pub constants: &'static [(&'static str, &'static str)],
    /// The other path, where an argument chooses between two.
    pub alternative: Option<Alternative>,
    /// Every argument of the tool, in the order of the contract.
    pub arguments: &'static [HttpArgument],
}

/// The methods of back ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HttpMethod {
    /// GET.
    Get,
    /// POST.
    Post,
    /// PATCH.
    Patch,
    /// DELETE.
    Delete,
}

/// The other path of a tool that lists, or gets one by its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alternative {
    /// The argument that chooses. The first path never sends it.
    pub discriminator: &'static str,
    /// What it must be for this path; whatever else it is, it is as if it were absent.
    pub form: Form,
    /// The path, of the same method.
    pub path: &'static str,
    /// Every argument of its query.
    pub query: &'static [&'static str],
}

/// When a tool asks the other of its two paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// When the argument is text that is not empty.
    NonEmpty,
    /// When the argument is an integer, or a number or text whose value is one.
    Integer,
}

/// Where one argument travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpArgument {
    /// Its name as it is published.
    pub name: &'static str,
    /// Its name in query or body.
    pub wire: &'static str,
    /// Where it stands in the request.
    pub place: Place,
    /// What stands in for it when it is absent.
    pub context: Option<Context>,
    /// Whether it must be there.
    pub required: bool,
    /// Whether it is text; an empty one that is not required counts as absent.
    pub text: bool,
}

/// Where an argument stands in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// In the path, as one segment.
    Path,
    /// In the query.
    Query,
    /// In the body, as a member.
    Body,
    /// Its value is the body.
    WholeBody,
}

/// What a call knows beside its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Context {
    /// The project that the agent works for.
    Project,
    /// The task that the agent works on.
    Task,
}

impl Context {
    /// The argument's name, which is also how headers and variables end.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Task => "task",
        }
    }
}

/// The adapter types of infrastructure. Their name spaces are public and closed: any other name in them is a write.
pub const INFRASTRUCTURE: [&str; 4] = ["proxmox", "ssh", "github", "gitea"];

/// What a tool may do to the system behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Only reads.
    Read,
    /// May change something in its back end.
    Write,
    /// Is answered by Toolgate itself and contacts nothing.
    Local,
}

impl Effect {
    /// The word used in lists, labels and docs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Local => "local",
        }
    }
}

/// How old an answer may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Freshness {
    /// Every call contacts the target.
    Live,
    /// An answer may be up to 60 seconds old and says how old it is.
    Inventory,
}

impl Freshness {
    /// The word used in lists and docs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Inventory => "inventory",
        }
    }
}

/// A built-in profile: a named set of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProfileDef {
    /// The name by which it is chosen.
    pub name: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// Canonical names of its tools, sorted.
    pub tools: &'static [&'static str],
    /// Kinds of tasks whose pods get it.
    pub task_kinds: &'static [&'static str],
    /// Whether it has every tool that a project brings.
    pub projects: bool,
}

/// One REST route and the rpc behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteDef {
    /// HTTP method in upper case.
    pub verb: &'static str,
    /// Path with `{field}` segments, each the proto name of a string or int64 field of the request.
    pub path: &'static str,
    /// True when the JSON body is the request; else the query fills it.
    pub body: bool,
    /// Status of success. With 204 the response message is not written.
    pub success: u16,
    /// True for the endpoints whose route is written by hand.
    pub frozen: bool,
    /// Content types of a streamed download made of the responses' `chunk` bytes, with `, ` between them.
    pub download: Option<&'static str>,
    /// True when no credential is asked for.
    pub public: bool,
    /// The path of the rpc.
    pub grpc_path: &'static str,
    /// Full name of the request message.
    pub input_message: &'static str,
    /// Full name of the response message.
    pub output_message: &'static str,
    /// True when the rpc answers with a stream.
    pub server_streaming: bool,
}

/// A type of targets: what is asked of whoever adds one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetTypeDef {
    /// The adapter type.
    pub name: &'static str,
    /// Short title for people.
    pub title: &'static str,
    /// What it is, and what it needs.
    pub description: &'static str,
    /// Whether a relay dials in for it, so that it is never dialled.
    pub relay: bool,
    /// JSON Schema 2020-12 of a target's name.
    pub name_schema: &'static str,
    /// JSON Schema 2020-12 of its settings, closed, properties in the order of the form.
    pub config_schema: &'static str,
    /// JSON Schema 2020-12 of its credential, closed; without properties where it takes none.
    pub credential_schema: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/registry.rs"));

/// The OpenAPI 3.1 document of every route.
pub static OPENAPI: &str = include_str!(concat!(env!("OUT_DIR"), "/openapi.json"));

/// Finds a tool by its canonical name or its alias.
#[must_use]
pub fn tool(name: &str) -> Option<&'static ToolDef> {
    let by_name = TOOLS
        .binary_search_by(|tool| tool.name.cmp(name))
        .ok()
        .map(|at| &TOOLS[at]);
    by_name.or_else(|| TOOLS.iter().find(|tool| tool.function_name == name))
}

/// The profile of pods that carry out tasks of this kind; `None` for a kind that nobody knows.
#[must_use]
pub fn profile_for_kind(kind: &str) -> Option<&'static ProfileDef> {
    PROFILES.iter().find(|profile| profile.task_kinds.contains(&kind))
}

/// The profile as metrics tell it: by name where the contract has it, so that the labels are a closed set.
#[must_use]
pub fn profile_label(name: Option<&str>) -> &'static str {
    match name {
        None => "all",
        Some("closed") => "closed",
        Some(name) => profile(name).map_or("own", |profile| profile.name),
    }
}

/// Finds a built-in profile.
#[must_use]
pub fn profile(name: &str) -> Option<&'static ProfileDef> {
    PROFILES.iter().find(|profile| profile.name == name)
}
