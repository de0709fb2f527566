//! Tools: every rpc that carries the tool option, with its schemas.

use prost_reflect::{DescriptorPool, MethodDescriptor};

use super::{
    Mistakes, binding,
    binding::Http,
    check, comments,
    options::{Options, ToolOption},
    schema,
};

/// The adapter types whose targets are infrastructure: only read, and chosen by `target_id`.
pub(crate) const INFRASTRUCTURE: [&str; 4] = ["proxmox", "ssh", "github", "gitea"];

/// The group whose tools answer with structure of ours although they are no infrastructure.
const FLEET: i32 = 7;

/// One tool of the closed registry.
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) function_name: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) adapter: String,
    pub(crate) effect: &'static str,
    pub(crate) freshness: Option<&'static str>,
    pub(crate) group: Option<&'static str>,
    /// The number of the group, as profiles name it.
    pub(crate) group_number: i32,
    pub(crate) http: Option<Http>,
    pub(crate) input: serde_json::Value,
    /// `None` for a tool that promises no structured result.
    pub(crate) output: Option<serde_json::Value>,
    pub(crate) grpc_path: String,
    pub(crate) input_message: String,
    pub(crate) output_message: String,
    /// The rpc, for messages about mistakes.
    pub(crate) rpc: String,
}

/// Reads every tool, sorted by name.
pub(crate) fn read(pool: &DescriptorPool, options: &Options, mistakes: &mut Mistakes) -> Vec<Tool> {
    let methods = pool
        .services()
        .flat_map(|service| service.methods().collect::<Vec<_>>());
    let mut tools: Vec<Tool> = methods
        .filter_map(|method| {
            let option = options.tool(&method.options())?;
            Some(tool(&method, option, options, mistakes))
        })
        .collect();
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    tools
}

/// The canonical name with `_` for `.`.
pub(crate) fn alias(name: &str) -> String {
    name.replace('.', "_")
}

/// The path of an rpc on the wire.
pub(crate) fn grpc_path(method: &MethodDescriptor) -> String {
    format!("/{}/{}", method.parent_service().full_name(), method.name())
}

fn tool(method: &MethodDescriptor, option: ToolOption, options: &Options, mistakes: &mut Mistakes) -> Tool {
    let description = comments::of_method(method);
    check::tool(method, &option, &description, mistakes);
    let infrastructure = INFRASTRUCTURE.contains(&option.adapter.as_str());
    let input = schema::arguments(&method.input(), infrastructure, options, mistakes);
    // What a back end answers is told as it comes, and has no schema of ours.
    let structured = infrastructure || option.group == FLEET;
    let output = structured.then(|| schema::result(&method.output(), options, mistakes));
    let http = option
        .http
        .as_ref()
        .and_then(|http| binding::read(method, http, options, mistakes));
    Tool {
        function_name: alias(&option.name),
        title: option.title,
        description,
        adapter: option.adapter,
        effect: effect(option.effect),
        freshness: freshness(option.freshness),
        group: group(option.group),
        group_number: option.group,
        http,
        input,
        output,
        grpc_path: grpc_path(method),
        input_message: method.input().full_name().to_owned(),
        output_message: method.output().full_name().to_owned(),
        rpc: method.full_name().to_owned(),
        name: option.name,
    }
}

// An unknown effect has been noted as a mistake, so nothing is emitted from it.
fn effect(number: i32) -> &'static str {
    match number {
        1 => "Read",
        2 => "Write",
        _ => "Local",
    }
}

fn group(number: i32) -> Option<&'static str> {
    match number {
        1 => Some("Memory"),
        2 => Some("CodeGraph"),
        3 => Some("Operator"),
        4 => Some("Chat"),
        5 => Some("Platform"),
        6 => Some("Gateway"),
        7 => Some("Fleet"),
        _ => None,
    }
}

fn freshness(number: i32) -> Option<&'static str> {
    match number {
        1 => Some("Live"),
        2 => Some("Inventory"),
        _ => None,
    }
}
