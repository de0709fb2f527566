//! `GET /openai/v1/tools`: the caller's catalog as `tools` for a model, written once per catalog version and form.

use axum::{
    extract::{RawQuery, State},
    response::Response,
};
use http::HeaderMap;

use super::{form, translate};
use crate::{
    catalog::Found,
    entity_tags::{self, Tags},
    link::Caller,
    problem::Problem,
    routes::Shared,
};

pub(super) const PATH: &str = "/openai/v1/tools";

pub(super) async fn tools(
    State(shared): State<Shared>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    caller: Caller,
) -> Result<Response, Problem> {
    let form = form::of(query.as_deref())?;
    let had = Tags::of(&headers);
    let lists = shared.openai.lists(form);
    let found = lists
        .ask_unless(&shared.link, caller, had.first(), |catalog| {
            translate::tools(form, &catalog.tools)
        })
        .await?;
    Ok(match found {
        Found::Same(version) => entity_tags::not_modified(&version),
        Found::List(list) if had.contains(&list.version) => entity_tags::not_modified(&list.version),
        Found::List(list) => entity_tags::answer(&list),
    })
}
