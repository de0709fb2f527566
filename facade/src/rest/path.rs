//! Variables of the path, percent-decoded. One that does not decode to text is a problem, not the router's own answer.

use axum::extract::{FromRequestParts, RawPathParams};
use http::request::Parts;

use crate::{body::malformed, problem::Problem, routes::Shared};

/// Every variable by name.
#[derive(Debug)]
pub(super) struct Variables(pub(super) RawPathParams);

/// The one variable of a path that has one.
#[derive(Debug)]
pub(super) struct Variable(pub(super) String);

impl FromRequestParts<Shared> for Variables {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Problem> {
        let read = RawPathParams::from_request_parts(parts, shared).await;
        Ok(Self(read.map_err(|_| {
            malformed("a segment of the path does not decode to text")
        })?))
    }
}

impl FromRequestParts<Shared> for Variable {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Problem> {
        let Variables(all) = Variables::from_request_parts(parts, shared).await?;
        let value = all.iter().next().map(|(_, value)| value.to_owned());
        Ok(Self(value.ok_or_else(|| malformed("the path has no variable"))?))
    }
}
