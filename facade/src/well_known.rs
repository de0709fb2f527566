//! The gateway as a protected resource, for clients that look for its issuer (RFC 9728). Needs no credential.
//!
//! Each MCP address is a resource of its own: clients compare `resource` with the address they were given.

use axum::{
    Router,
    extract::{Path, State},
    response::Response,
    routing::get,
};
use http::StatusCode;
use serde::Serialize;
use toolgate_contract::v1::ErrorReason;

use crate::{
    challenge::{WELL_KNOWN, is_profile},
    problem::Problem,
    routes::{Shared, json_answer},
};

const OF_PART: &str = "/.well-known/oauth-protected-resource/{*path}";

/// The templates of its paths.
pub(crate) const PATHS: [&str; 2] = [WELL_KNOWN, OF_PART];

/// The routes of the metadata.
pub(crate) fn routes() -> Router<Shared> {
    Router::new()
        .route(WELL_KNOWN, get(of_whole))
        .route(OF_PART, get(of_part))
}

#[derive(Serialize)]
struct Metadata<'a> {
    resource: String,
    authorization_servers: &'a [String],
    bearer_methods_supported: [&'a str; 1],
    resource_name: &'a str,
}

async fn of_whole(State(shared): State<Shared>) -> Result<Response, Problem> {
    metadata(&shared, "")
}

async fn of_part(State(shared): State<Shared>, Path(path): Path<String>) -> Result<Response, Problem> {
    let path = format!("/{path}");
    let path = shared.challenges.below_base(&path);
    let part = ["/mcp/p/", "/mcp/project/"];
    let part = part.iter().find_map(|of| path.strip_prefix(of));
    match path == "/mcp" || part.is_some_and(is_profile) {
        true => metadata(&shared, path),
        false => Err(nothing(
            "no such resource; there are /mcp, /mcp/p/{profile} and /mcp/project/{name}",
        )),
    }
}

fn metadata(shared: &Shared, path: &str) -> Result<Response, Problem> {
    let resource = shared.challenges.resource(path);
    let resource = resource.ok_or_else(|| nothing("no issuer is configured here; an admin makes a token"))?;
    let told = Metadata {
        resource,
        authorization_servers: &shared.authorization_servers,
        // Never in a query or a body.
        bearer_methods_supported: ["header"],
        resource_name: "Toolgate",
    };
    let json = serde_json::to_vec(&told).map_err(|_| Problem::internal())?;
    Ok(json_answer(StatusCode::OK, json.into()))
}

fn nothing(text: &str) -> Problem {
    Problem::new(ErrorReason::ResourceNotFound, text)
}
