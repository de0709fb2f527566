//! The Rust source of the closed registry, included by `proto/registry.rs`.

use std::fmt::Write as _;

use super::{
    Contract, binding::Http, profiles::Profile, routes::Route, target_types::TargetType, tools::Tool,
};

/// Writes the tables.
pub(crate) fn registry(contract: &Contract) -> String {
    let mut source = String::from("// Generated from proto/ by build.rs.\n\n");
    table(
        &mut source,
        "TOOLS",
        "ToolDef",
        "Every tool, sorted by name.",
        &contract.tools,
        tool,
    );
    table(
        &mut source,
        "PROFILES",
        "ProfileDef",
        "Every profile, sorted by name.",
        &contract.profiles,
        profile,
    );
    let _ = writeln!(
        source,
        "/// The tools that no profile leaves out, by canonical name, sorted.\npub static ALWAYS_ON: &[&str] = &{:?};\n",
        contract.always_on
    );
    table(
        &mut source,
        "ROUTES",
        "RouteDef",
        "Every route, sorted by path and verb.",
        &contract.routes,
        route,
    );
    table(
        &mut source,
        "TARGET_TYPES",
        "TargetTypeDef",
        "Every type of targets, in the order of the contract.",
        &contract.target_types,
        target_type,
    );
    source
}

fn table<T>(source: &mut String, name: &str, of: &str, doc: &str, rows: &[T], row: fn(&T) -> String) {
    // Writing to a String cannot fail.
    let _ = writeln!(source, "/// {doc}\npub static {name}: &[{of}] = &[");
    for entry in rows {
        let _ = writeln!(source, "    {of} {{\n{}    }},", row(entry));
    }
    source.push_str("];\n\n");
}

fn fields<const N: usize>(fields: [(&str, String); N]) -> String {
    fields.iter().fold(String::new(), |mut text, (name, value)| {
        let _ = writeln!(text, "        {name}: {value},");
        text
    })
}

fn text(value: impl AsRef<str>) -> String {
    format!("{:?}", value.as_ref())
}

fn tool(tool: &Tool) -> String {
    fields([
        ("name", text(&tool.name)),
        ("function_name", text(&tool.function_name)),
        ("title", text(&tool.title)),
        ("description", text(&tool.description)),
        ("adapter", text(&tool.adapter)),
        ("effect", format!("Effect::{}", tool.effect)),
        (
            "freshness",
            tool.freshness
                .map_or("None".into(), |name| format!("Some(Freshness::{name})")),
        ),
        (
            "group",
            tool.group
                .map_or("None".into(), |name| format!("Some(Group::{name})")),
        ),
        (
            "http",
            tool.http
                .as_ref()
                .map_or("None".into(), |binding| format!("Some({})", http(binding))),
        ),
        ("input_schema", text(tool.input.to_string())),
        (
            "output_schema",
            text(tool.output.as_ref().map(ToString::to_string).unwrap_or_default()),
        ),
        ("grpc_path", text(&tool.grpc_path)),
        ("input_message", text(&tool.input_message)),
        ("output_message", text(&tool.output_message)),
    ])
}

fn profile(profile: &Profile) -> String {
    fields([
        ("name", text(&profile.name)),
        ("description", text(&profile.description)),
        ("tools", format!("&{:?}", profile.tools)),
        ("task_kinds", format!("&{:?}", profile.task_kinds)),
        ("projects", profile.projects.to_string()),
    ])
}

fn http(http: &Http) -> String {
    let arguments = http.arguments.iter().map(|argument| {
        let context = argument
            .context
            .map_or("None".into(), |name| format!("Some(Context::{name})"));
        format!(
            "HttpArgument {{ name: {:?}, wire: {:?}, place: Place::{}, context: {context}, required: {}, text: {} }}",
            argument.name, argument.wire, argument.place, argument.required, argument.text
        )
    });
    let alternative = http.alternative.as_ref().map_or("None".into(), |other| {
        format!(
            "Some(Alternative {{ discriminator: {:?}, form: Form::{}, path: {:?}, query: &{:?} }})",
            other.discriminator, other.form, other.path, other.query
        )
    });
    format!(
        "HttpDef {{ method: HttpMethod::{}, path: {:?}, constants: &{:?}, alternative: {alternative}, arguments: &[{}] }}",
        http.method,
        http.path,
        http.constants,
        arguments.collect::<Vec<_>>().join(", ")
    )
}

fn route(route: &Route) -> String {
    fields([
        ("verb", text(&route.verb)),
        ("path", text(&route.path)),
        ("body", route.body.to_string()),
        ("success", route.success.to_string()),
        ("frozen", route.frozen.to_string()),
        ("download", format!("{:?}", route.download)),
        ("public", route.public.to_string()),
        ("grpc_path", text(&route.grpc_path)),
        ("input_message", text(&route.input_message)),
        ("output_message", text(&route.output_message)),
        ("server_streaming", route.server_streaming.to_string()),
    ])
}

fn target_type(target: &TargetType) -> String {
    fields([
        ("name", text(&target.name)),
        ("title", text(&target.title)),
        ("description", text(&target.description)),
        ("relay", target.relay.to_string()),
        ("name_schema", text(target.name_schema.to_string())),
        ("config_schema", text(target.config.to_string())),
        ("credential_schema", text(target.credential.to_string())),
    ])
}
