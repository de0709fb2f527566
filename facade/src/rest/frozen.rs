//! The frozen endpoints, by hand: their shapes are promises to callers that cannot be rebuilt with us.
//!
//! They stand against the golden OpenAPI document. Nothing here builds a JSON tree: arguments and results are spliced
//! as the bytes they are.

pub(super) mod adapter;
pub(super) mod held;
pub(super) mod invoke;
pub(super) mod stream;
pub(super) mod tools;

/// Verb and path of every route that stands here.
pub(super) const ROUTES: [(&str, &str); 6] = [
    ("GET", tools::PATH),
    ("POST", invoke::PATH),
    ("GET", stream::PATH),
    ("POST", adapter::PATH),
    ("PATCH", adapter::ONE_PATH),
    ("DELETE", adapter::ONE_PATH),
];
