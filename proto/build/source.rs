//! The Rust source of the closed registry, included by `proto/registry.rs`.

use std::fmt::Write as _;

use super::{Contract, profiles::Profile, routes::Route, tools::Tool};

/// Writes the three tables.
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
    table(
        &mut source,
        "ROUTES",
        "RouteDef",
        "Every route, sorted by path and verb.",
        &contract.routes,
        route,
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
        ("input_schema", text(tool.input.to_string())),
        ("output_schema", text(tool.output.to_string())),
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
    ])
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
