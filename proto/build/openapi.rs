//! The OpenAPI 3.1 document: every route of the contract, the frozen ones in their exact JSON shapes.
//!
//! Generated routes speak their messages in camelCase. What stands by hand is in `frozen` (five endpoints whose bodies
//! differ from their messages), `openai` and `mcp` (dialects of their own), `session` (a browser's cookie) and `fixed` (problem details and probes,
//! which have no rpc).

mod fixed;
mod frozen;
mod mcp;
mod messages;
mod openai;
mod session;

use prost_reflect::DescriptorPool;
use serde_json::{Map, Value, json};

use self::messages::Components;
use super::{
    options::Options,
    routes::{Route, variables},
    target_types::TargetType,
    tools::Tool,
};

/// Writes the document.
pub(crate) fn document(
    pool: &DescriptorPool,
    options: &Options,
    routes: &[Route],
    tools: &[Tool],
    target_types: &[TargetType],
) -> String {
    let components = Components::new(pool, options);
    let mut paths = Map::new();
    for route in routes {
        let operation = operation(route, &components);
        let verbs = paths.entry(camel_path(route)).or_insert_with(|| json!({}));
        verbs[route.verb.to_lowercase()] = operation;
    }
    paths.extend(fixed::paths());
    paths.extend(openai::paths());
    paths.extend(mcp::paths());
    paths.extend(session::paths());
    paths.sort_keys();
    let mut by_hand = frozen::schemas(target_types);
    by_hand.extend(fixed::schemas(pool));
    by_hand.extend(openai::schemas());
    by_hand.extend(session::schemas());
    let used = json!([paths, reference("Problem")]);
    let mut schemas = components.referred_to(&used, &by_hand);
    for tool in tools {
        schemas.insert(format!("{}.arguments", tool.name), tool.input.clone());
        if let Some(output) = &tool.output {
            schemas.insert(format!("{}.result", tool.name), output.clone());
        }
    }
    for target in target_types {
        schemas.insert(format!("{}.config", target.name), target.config.clone());
        schemas.insert(format!("{}.credential", target.name), target.credential.clone());
    }
    schemas.sort_keys();
    let mut text = format!("{:#}", whole(&paths, &schemas));
    text.push('\n');
    text
}

fn whole(paths: &Map<String, Value>, schemas: &Map<String, Value>) -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Toolgate",
            "version": "1",
            "description": "The gate between AI agents and the systems a company runs. Keys are written in camelCase; \
                            snake_case is accepted as well. Errors are problem details (RFC 9457), whose `type` names \
                            the reason.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{"bearer": []}, {"session": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API token `tgk_…` or a session token `tgs_…`.",
                },
                "session": {
                    "type": "apiKey",
                    "in": "cookie",
                    "name": "__Host-toolgate",
                    "description": "The session of a browser, below `/api` only and only without `Authorization`. Every \
                                    method but GET and HEAD wants the header `X-CSRF-Token` as well, whose value is \
                                    `csrfToken` of `GET /api/session`.",
                },
            },
            "responses": {
                "Problem": {
                    "description": "The request was not carried out.",
                    "headers": {"Retry-After": {
                        "description": "Whole seconds to wait, where waiting helps.",
                        "schema": {"type": "integer", "minimum": 1},
                    }},
                    "content": {"application/problem+json": {"schema": reference("Problem")}},
                },
            },
            "schemas": schemas,
        },
    })
}

/// A reference to a component schema.
fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// A JSON body of a schema.
fn json_content(schema: &Value) -> Value {
    json!({"application/json": {"schema": schema}})
}

fn operation(route: &Route, components: &Components<'_>) -> Value {
    let (service, rpc) = name(route);
    let mut operation = json!({
        "operationId": lower_first(rpc),
        "tags": [service],
        "summary": summary(&route.description),
        "description": route.description,
        "x-grpc": route.grpc_path,
    });
    if route.frozen {
        operation["x-frozen"] = true.into();
    }
    if route.public {
        operation["security"] = json!([]);
    }
    let parameters = parameters(route, components);
    if !parameters.is_empty() {
        operation["parameters"] = Value::Array(parameters);
    }
    if route.body {
        let except: Vec<_> = variables(&route.path).collect();
        let body = components.object(&route.input_message, &except);
        let required = !components.may_be_left_out(&route.input_message);
        operation["requestBody"] = json!({"required": required, "content": json_content(&body)});
    }
    let mut responses = Map::new();
    responses.insert(route.success.to_string(), success(route, components));
    responses.insert(
        "default".into(),
        json!({"$ref": "#/components/responses/Problem"}),
    );
    operation["responses"] = Value::Object(responses);
    frozen::amend(&route.rpc, &mut operation);
    if let Some(responses) = operation["responses"].as_object_mut() {
        responses.sort_keys();
    }
    operation
}

fn success(route: &Route, components: &Components<'_>) -> Value {
    if route.success == 204 {
        return json!({"description": "Done."});
    }
    if let Some(kinds) = &route.download {
        let content = kinds
            .split(", ")
            .map(|kind| (kind.to_owned(), json!({"schema": {"type": "string"}})));
        return json!({"description": "The download.", "content": content.collect::<Map<_, _>>()});
    }
    let schema = components.reference(&route.output_message);
    json!({"description": components.description(&route.output_message), "content": json_content(&schema)})
}

fn parameters(route: &Route, components: &Components<'_>) -> Vec<Value> {
    let in_path: Vec<_> = variables(&route.path).collect();
    let parameter = |(name, json_name, schema, description): (String, String, Value, String)| {
        let place = match in_path.contains(&name.as_str()) {
            true => "path",
            false if route.body => return None,
            false => "query",
        };
        Some(json!({
            "name": json_name,
            "in": place,
            "required": place == "path",
            "description": description,
            "schema": schema,
        }))
    };
    components
        .scalars(&route.input_message)
        .into_iter()
        .filter_map(parameter)
        .collect()
}

fn camel_path(route: &Route) -> String {
    let part = |part: &str| match part.strip_prefix('{') {
        Some(variable) => format!("{{{}", camel(variable)),
        None => part.to_owned(),
    };
    route.path.split('/').map(part).collect::<Vec<_>>().join("/")
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |text, word| {
        let (head, tail) = word.split_at(word.len().min(1));
        text + &head.to_uppercase() + tail
    })
}

/// Service and rpc, without package.
fn name(route: &Route) -> (&str, &str) {
    let mut parts = route.rpc.rsplit('.');
    let rpc = parts.next().unwrap_or_default();
    let service = parts.next().unwrap_or_default();
    (service.strip_suffix("Service").unwrap_or(service), rpc)
}

fn lower_first(name: &str) -> String {
    let (head, tail) = name.split_at(name.len().min(1));
    head.to_lowercase() + tail
}

/// The first sentence, without its full stop.
fn summary(description: &str) -> &str {
    let end = description
        .find(". ")
        .or_else(|| description.rfind('.'))
        .unwrap_or(description.len());
    &description[..end]
}
