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
    /// JSON Schema 2020-12 of the structured result, compact.
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
}

/// One REST route and the rpc behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteDef {
    /// HTTP method in upper case.
    pub verb: &'static str,
    /// Path with `{field}` segments, each the proto name of a string field of the request.
    pub path: &'static str,
    /// True when the JSON body is the request; else the query fills it.
    pub body: bool,
    /// Status of success. With 204 the response message is not written.
    pub success: u16,
    /// True for the endpoints whose route is written by hand.
    pub frozen: bool,
    /// Content type of a streamed download made of the responses' `chunk` bytes.
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

/// Finds a built-in profile.
#[must_use]
pub fn profile(name: &str) -> Option<&'static ProfileDef> {
    PROFILES.iter().find(|profile| profile.name == name)
}
