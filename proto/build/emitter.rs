//! The emitter: reads a compiled contract and gives registry, schemas, routes, profiles and OpenAPI.
//!
//! Plain code over a descriptor pool, included by `build.rs` and by the contract tests. Does no I/O and knows no
//! tool by name. Every mistake in the proto files is collected, so that one build tells them all.

mod binding;
mod check;
mod comments;
mod openapi;
pub(crate) mod options;
mod profiles;
mod routes;
mod schema;
mod source;
mod target_types;
mod tools;

use std::fmt;

use prost_reflect::DescriptorPool;

use self::{options::Options, profiles::Profile, routes::Route, target_types::TargetType, tools::Tool};

/// What the contract says, checked and expanded.
pub(crate) struct Contract {
    pub(crate) tools: Vec<Tool>,
    pub(crate) profiles: Vec<Profile>,
    pub(crate) always_on: Vec<String>,
    pub(crate) routes: Vec<Route>,
    pub(crate) target_types: Vec<TargetType>,
    openapi: String,
}

/// Reads and checks the whole contract.
pub(crate) fn emit(pool: &DescriptorPool) -> Result<Contract, Mistakes> {
    let mut mistakes = Mistakes::default();
    let options = match Options::of(pool) {
        Ok(options) => options,
        Err(mistake) => return Err(Mistakes(vec![mistake])),
    };
    let tools = tools::read(pool, &options, &mut mistakes);
    check::names(&tools, &mut mistakes);
    let always_on = profiles::always_on(pool, &options, &tools, &mut mistakes);
    let profiles = profiles::read(pool, &options, &tools, &always_on, &mut mistakes);
    let routes = routes::read(pool, &options, &mut mistakes);
    let target_types = target_types::read(pool, &options, &mut mistakes);
    if !mistakes.0.is_empty() {
        return Err(mistakes);
    }
    let openapi = openapi::document(pool, &options, &routes, &tools, &target_types);
    Ok(Contract {
        tools,
        profiles,
        always_on,
        routes,
        target_types,
        openapi,
    })
}

impl Contract {
    /// The Rust source of the closed registry.
    pub(crate) fn registry_source(&self) -> String {
        source::registry(self)
    }

    /// The OpenAPI 3.1 document, pretty-printed.
    pub(crate) fn openapi(&self) -> &str {
        &self.openapi
    }
}

/// Every mistake found, each naming the rpc, field or value.
#[derive(Debug, Default)]
pub(crate) struct Mistakes(pub(crate) Vec<String>);

impl Mistakes {
    /// Notes a mistake at a place.
    pub(crate) fn at(&mut self, place: &str, what: impl fmt::Display) {
        self.0.push(format!("{place}: {what}"));
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for Mistakes {}
