//! `POST /api/mcp/adapter`, `PATCH` and `DELETE /api/mcp/adapter/{id}`: targets in the documented flat shape.

use std::borrow::Cow;

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolgate_contract::v1::{
    CreateTargetRequest, DeleteTargetRequest, Enrolment, LastTest, Stage, Target, UpdateTargetRequest,
    Validation,
};

use super::super::path::Variable;
use crate::{
    body::ObjectBody,
    link::Caller,
    problem::Problem,
    routes::{Shared, json_answer},
};

pub(in crate::rest) const PATH: &str = "/api/mcp/adapter";
pub(in crate::rest) const ONE_PATH: &str = "/api/mcp/adapter/{id}";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Addition<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    config: Option<&'a RawValue>,
    #[serde(borrow)]
    credential: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    config: Option<&'a RawValue>,
    #[serde(borrow)]
    credential: Option<&'a RawValue>,
    disabled: Option<bool>,
}

pub(in crate::rest) async fn create(
    State(shared): State<Shared>,
    caller: Caller,
    body: ObjectBody,
) -> Result<Response, Problem> {
    let addition: Addition<'_> = body.parse()?;
    let request = CreateTargetRequest {
        r#type: addition.r#type.into_owned(),
        name: addition.name.into_owned(),
        config: slice(&body, addition.config).unwrap_or_default(),
        credential: slice(&body, addition.credential).unwrap_or_default(),
    };
    let answer = shared
        .link
        .ask(shared.link.targets().create_target(caller.request(request)))
        .await?;
    written(StatusCode::CREATED, answer.target, answer.enrolment)
}

pub(in crate::rest) async fn update(
    State(shared): State<Shared>,
    Variable(id): Variable,
    caller: Caller,
    body: ObjectBody,
) -> Result<Response, Problem> {
    let change: Change<'_> = body.parse()?;
    let request = UpdateTargetRequest {
        id,
        name: change.name.map(Cow::into_owned),
        config: slice(&body, change.config),
        credential: slice(&body, change.credential),
        disabled: change.disabled,
    };
    let answer = shared
        .link
        .ask(shared.link.targets().update_target(caller.request(request)))
        .await?;
    written(StatusCode::OK, answer.target, None)
}

pub(in crate::rest) async fn delete(
    State(shared): State<Shared>,
    Variable(id): Variable,
    caller: Caller,
) -> Result<Response, Problem> {
    shared
        .link
        .ask(
            shared
                .link
                .targets()
                .delete_target(caller.request(DeleteTargetRequest { id })),
        )
        .await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

fn slice(body: &ObjectBody, raw: Option<&RawValue>) -> Option<Bytes> {
    raw.map(|raw| body.0.slice_ref(raw.get().as_bytes()))
}

fn written(
    status: StatusCode,
    target: Option<Target>,
    enrolment: Option<Enrolment>,
) -> Result<Response, Problem> {
    let target = target.ok_or_else(|| fault("an answer of the core holds no target"))?;
    let body = serde_json::to_vec(&Adapter::of(&target, enrolment.as_ref())?)
        .map_err(|error| fault(&error.to_string()))?;
    Ok(json_answer(status, body.into()))
}

fn fault(what: &str) -> Problem {
    tracing::error!(what, "an answer of the core cannot be written");
    Problem::internal()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Adapter<'a> {
    id: &'a str,
    r#type: &'a str,
    name: &'a str,
    config: &'a RawValue,
    status: &'a str,
    validation: Verdict<'a>,
    created_at: &'a str,
    updated_at: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_test: Option<Tested<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enrolment: Option<Ticket<'a>>,
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Verdict<'a> {
    verdict: &'a str,
    stages: Vec<Step<'a>>,
    not_provable: &'a [String],
    proven: &'a [String],
    wider: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    checked_at: Option<&'a str>,
}

#[derive(Serialize)]
struct Step<'a> {
    name: &'a str,
    ok: bool,
    ms: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pointer: Option<&'a str>,
}

#[derive(Serialize)]
struct Tested<'a> {
    at: &'a str,
    ok: bool,
    stages: Vec<Step<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Ticket<'a> {
    token: &'a str,
    command: &'a str,
    expires_at: &'a str,
}

impl<'a> Adapter<'a> {
    fn of(target: &'a Target, enrolment: Option<&'a Enrolment>) -> Result<Self, Problem> {
        let config: &[u8] = if target.config.is_empty() {
            b"{}"
        } else {
            &target.config
        };
        Ok(Self {
            id: &target.id,
            r#type: &target.r#type,
            name: &target.name,
            config: serde_json::from_slice(config).map_err(|error| fault(&error.to_string()))?,
            status: &target.status,
            validation: target.validation.as_ref().map(Verdict::of).unwrap_or_default(),
            created_at: &target.created_at,
            updated_at: &target.updated_at,
            last_test: target.last_test.as_ref().map(Tested::of),
            enrolment: enrolment.map(|each| Ticket {
                token: &each.token,
                command: &each.command,
                expires_at: &each.expires_at,
            }),
        })
    }
}

impl<'a> Verdict<'a> {
    fn of(validation: &'a Validation) -> Self {
        Self {
            verdict: &validation.verdict,
            stages: validation.stages.iter().map(Step::of).collect(),
            not_provable: &validation.not_provable,
            proven: &validation.proven,
            wider: &validation.wider,
            checked_at: validation.checked_at.as_deref(),
        }
    }
}

impl<'a> Tested<'a> {
    fn of(test: &'a LastTest) -> Self {
        Self {
            at: &test.at,
            ok: test.ok,
            stages: test.stages.iter().map(Step::of).collect(),
        }
    }
}

impl<'a> Step<'a> {
    fn of(stage: &'a Stage) -> Self {
        Self {
            name: &stage.name,
            ok: stage.ok,
            ms: stage.ms,
            reason: stage.reason.as_deref(),
            pointer: stage.pointer.as_deref(),
        }
    }
}
