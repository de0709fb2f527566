//! REST routes: every rpc that carries the rest option.

use std::collections::HashMap;

use prost_reflect::{DescriptorPool, FieldDescriptor, Kind, MethodDescriptor};

use super::{
    Mistakes, comments,
    options::{Options, RestOption},
    tools::grpc_path,
};

/// One route.
pub(crate) struct Route {
    pub(crate) verb: String,
    pub(crate) path: String,
    pub(crate) body: bool,
    pub(crate) success: u16,
    pub(crate) frozen: bool,
    pub(crate) download: Option<String>,
    pub(crate) public: bool,
    pub(crate) grpc_path: String,
    pub(crate) input_message: String,
    pub(crate) output_message: String,
    pub(crate) server_streaming: bool,
    pub(crate) description: String,
    /// The rpc's full name.
    pub(crate) rpc: String,
}

/// Reads every route, sorted by path and verb.
pub(crate) fn read(pool: &DescriptorPool, options: &Options, mistakes: &mut Mistakes) -> Vec<Route> {
    let mut routes = Vec::new();
    for method in pool
        .services()
        .flat_map(|service| service.methods().collect::<Vec<_>>())
    {
        if let Some(option) = options.rest(&method.options()) {
            check(&method, &option, mistakes);
            routes.push(route(&method, option));
        }
    }
    routes.sort_by(|a, b| (&a.path, &a.verb).cmp(&(&b.path, &b.verb)));
    check_unique(&routes, mistakes);
    routes
}

/// The variables of a path, in order.
pub(crate) fn variables(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn route(method: &MethodDescriptor, option: RestOption) -> Route {
    Route {
        body: option.body == "*",
        // Out of range was noted as a mistake.
        success: if option.success == 0 {
            200
        } else {
            u16::try_from(option.success).unwrap_or(200)
        },
        verb: option.verb,
        path: option.path,
        frozen: option.frozen,
        download: (!option.download.is_empty()).then_some(option.download),
        grpc_path: grpc_path(method),
        input_message: method.input().full_name().to_owned(),
        output_message: method.output().full_name().to_owned(),
        public: option.public,
        server_streaming: method.is_server_streaming(),
        description: comments::of_method(method),
        rpc: method.full_name().to_owned(),
    }
}

fn check(method: &MethodDescriptor, option: &RestOption, mistakes: &mut Mistakes) {
    let mut wrong = |what: String| mistakes.at(&format!("rpc {}", method.full_name()), what);
    if comments::of_method(method).is_empty() {
        wrong("a route needs a comment; it is the route's description".into());
    }
    if !["GET", "POST", "PUT", "PATCH", "DELETE"].contains(&option.verb.as_str()) {
        wrong(format!(
            "the verb `{}` is none of GET, POST, PUT, PATCH, DELETE",
            option.verb
        ));
    }
    if !option.path.starts_with('/') {
        wrong(format!("the path `{}` must start with `/`", option.path));
    }
    if !["", "*"].contains(&option.body.as_str()) {
        wrong(format!("the body is `*` or absent, not `{}`", option.body));
    }
    if option.success != 0 && !(200..300).contains(&option.success) {
        wrong(format!(
            "the success status {} is not between 200 and 299",
            option.success
        ));
    }
    for variable in variables(&option.path) {
        match method.input().get_field_by_name(variable) {
            Some(field) if fits_a_path(&field) => {}
            Some(_) => wrong(format!(
                "the path variable {{{variable}}} must be a single string or int64"
            )),
            None => wrong(format!(
                "the path variable {{{variable}}} is no field of {}",
                method.input().full_name()
            )),
        }
    }
    if !option.download.is_empty() {
        let chunk = method.output().get_field_by_name("chunk");
        if !method.is_server_streaming() || !chunk.is_some_and(|field| matches!(field.kind(), Kind::Bytes)) {
            wrong("a download streams responses with a `bytes chunk`".into());
        }
    } else if method.is_server_streaming() && !option.frozen {
        wrong("only a download or a frozen route may stream".into());
    }
}

fn fits_a_path(field: &FieldDescriptor) -> bool {
    !field.is_list() && matches!(field.kind(), Kind::String | Kind::Int64)
}

/// Two routes with one verb and one shape of path could not both be reached.
fn check_unique(routes: &[Route], mistakes: &mut Mistakes) {
    let mut taken: HashMap<(&str, String), &Route> = HashMap::new();
    for route in routes {
        let shape: Vec<_> = route
            .path
            .split('/')
            .map(|part| if part.starts_with('{') { "{}" } else { part })
            .collect();
        if let Some(other) = taken.insert((&route.verb, shape.join("/")), route) {
            let place = format!("rpc {}", route.rpc);
            mistakes.at(
                &place,
                format!(
                    "{} {} is already the route of rpc {}",
                    route.verb, route.path, other.rpc
                ),
            );
        }
    }
}
