//! Every route that is not frozen, served by one handler from the contract's table.
//!
//! Path, query and body fill the request message, the rpc of the route is called, its answer is written as JSON or
//! streamed as a download. A route that cannot be served that way keeps the facade from starting.

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    extract::{FromRequest, RawPathParams, Request},
    response::{IntoResponse, Response},
    routing::{MethodFilter, on},
};
use futures::{StreamExt, TryStreamExt, stream};
use http::{HeaderValue, Method, StatusCode, header, uri::PathAndQuery};
use prost_reflect::{DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor};
use tonic::{Status, Streaming};
use toolgate_contract::registry::RouteDef;

use super::{
    path::Variables,
    transcode::{DynamicCodec, JsonFields, read_object, set_text, write},
};
use crate::{
    FacadeError,
    body::{ObjectBody, malformed},
    link::Caller,
    problem::Problem,
    query::pairs,
    routes::{Shared, json_answer},
};

/// One route, with all that can be looked up once.
#[derive(Debug)]
struct Plan {
    input: MessageDescriptor,
    output: MessageDescriptor,
    rpc: PathAndQuery,
    body: bool,
    /// Every field may be left out, and the whole body with them.
    may_be_bodiless: bool,
    success: StatusCode,
    download: Option<Download>,
    json_fields: Arc<JsonFields>,
}

#[derive(Debug)]
struct Download {
    /// The first is the one where an answer does not say.
    content_types: Vec<&'static str>,
    said: Option<FieldDescriptor>,
    chunk: FieldDescriptor,
}

/// Adds the routes of the table that are not frozen.
pub(super) fn add(
    mut router: Router<Shared>,
    routes: &[RouteDef],
    frozen: &[(&str, &str)],
    pool: &DescriptorPool,
) -> Result<Router<Shared>, FacadeError> {
    let json_fields = Arc::new(JsonFields::of(pool));
    let mut taken: Vec<(&str, &str)> = frozen.to_vec();
    for route in routes.iter().filter(|route| !route.frozen) {
        check_free(route, &taken)?;
        taken.push((route.verb, route.path));
        let plan = Arc::new(Plan::of(route, pool, &json_fields).map_err(|message| fault(route, message))?);
        let filter = Method::from_bytes(route.verb.as_bytes())
            .ok()
            .and_then(|method| MethodFilter::try_from(method).ok())
            .ok_or_else(|| fault(route, "the verb is no HTTP method"))?;
        router = router.route(
            route.path,
            on(filter, move |state, caller, path, request| {
                serve(Arc::clone(&plan), state, caller, path, request)
            }),
        );
    }
    Ok(router)
}

/// The router panics on conflicts; they are told before.
fn check_free(route: &RouteDef, taken: &[(&str, &str)]) -> Result<(), FacadeError> {
    for (verb, path) in taken {
        if *verb == route.verb && shape(path) == shape(route.path) {
            return Err(fault(route, "the route stands twice"));
        }
        if shape(path) == shape(route.path) && *path != route.path {
            return Err(fault(
                route,
                format!("its variables are named otherwise in {path}"),
            ));
        }
    }
    Ok(())
}

fn shape(path: &str) -> Vec<&str> {
    path.split('/')
        .map(|segment| if segment.starts_with('{') { "{}" } else { segment })
        .collect()
}

fn fault(route: &RouteDef, message: impl Into<String>) -> FacadeError {
    FacadeError::Route {
        verb: route.verb,
        path: route.path,
        message: message.into(),
    }
}

impl Plan {
    fn of(route: &RouteDef, pool: &DescriptorPool, json_fields: &Arc<JsonFields>) -> Result<Self, String> {
        let message = |name: &str| {
            pool.get_message_by_name(name)
                .ok_or_else(|| format!("no message {name}"))
        };
        let (input, output) = (message(route.input_message)?, message(route.output_message)?);
        for variable in route
            .path
            .split('/')
            .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        {
            let field = input
                .get_field_by_name(variable)
                .ok_or_else(|| format!("no field {variable}"))?;
            if !matches!(field.kind(), Kind::String | Kind::Int64) || field.is_list() {
                return Err(format!(
                    "field {variable} of the path is neither a text nor an int64"
                ));
            }
        }
        let download = match (route.server_streaming, route.download) {
            (false, None) => None,
            (true, Some(content_types)) => Some(Download::of(content_types, &output)?),
            (true, None) => return Err("a stream needs the content type of its download".into()),
            (false, Some(_)) => return Err("a download needs a stream".into()),
        };
        let is_optional = |field: FieldDescriptor| field.supports_presence() && !field.is_list();
        let may_be_bodiless = input.fields().all(is_optional);
        Ok(Self {
            may_be_bodiless,
            input,
            output,
            rpc: PathAndQuery::from_static(route.grpc_path),
            body: route.body,
            success: StatusCode::from_u16(route.success).map_err(|error| error.to_string())?,
            download,
            json_fields: Arc::clone(json_fields),
        })
    }

    async fn request(
        &self,
        shared: &Shared,
        path: &RawPathParams,
        request: Request,
    ) -> Result<DynamicMessage, Problem> {
        let mut message = DynamicMessage::new(self.input.clone());
        let query = request.uri().query().map(pairs).transpose()?.unwrap_or_default();
        if self.body {
            if let Some((name, _)) = query.first() {
                return Err(malformed(format!(
                    "unknown parameter {name:?}; this route takes its input in the body"
                )));
            }
            let body = match self.may_be_bodiless {
                true => ObjectBody::or_empty(request, shared).await?,
                false => ObjectBody::from_request(request, shared).await?,
            };
            read_object(&mut message, &body.0, &self.json_fields)?;
        }
        for (name, value) in path {
            set_text(&mut message, name, value)?;
        }
        for (name, value) in &query {
            set_text(&mut message, name, value)?;
        }
        Ok(message)
    }

    fn answer(&self, message: &DynamicMessage) -> Result<Response, Problem> {
        if self.success == StatusCode::NO_CONTENT {
            return Ok(self.success.into_response());
        }
        let json = write(message, &self.json_fields).map_err(|error| {
            tracing::error!(%error, rpc = %self.rpc, "an answer of the core cannot be written");
            Problem::internal()
        })?;
        Ok(json_answer(self.success, json.into()))
    }
}

impl Download {
    fn of(content_types: &'static str, output: &MessageDescriptor) -> Result<Self, String> {
        let chunk = output
            .get_field_by_name("chunk")
            .ok_or("a download needs a field chunk")?;
        if !matches!(chunk.kind(), Kind::Bytes) {
            return Err("the field chunk of a download must be bytes".into());
        }
        let content_types: Vec<_> = content_types.split(", ").collect();
        let said = output.get_field_by_name("content_type");
        if content_types.len() > 1
            && !said
                .as_ref()
                .is_some_and(|said| matches!(said.kind(), Kind::String))
        {
            return Err("a download of several content types needs a text content_type".into());
        }
        Ok(Self {
            content_types,
            said,
            chunk,
        })
    }

    /// What an answer says it is, among what the contract says it may be.
    fn content_type(&self, first: Option<&DynamicMessage>) -> HeaderValue {
        let said = self.said.as_ref().zip(first).and_then(|(said, first)| {
            let text = first.get_field(said);
            let known = |kind: &&&str| text.as_str() == Some(**kind);
            self.content_types.iter().find(known)
        });
        let content_type = said.or(self.content_types.first()).copied();
        HeaderValue::from_static(content_type.unwrap_or("application/octet-stream"))
    }

    /// A failure before the first piece is a problem; one in the midst cuts the body, so that it cannot be taken for
    /// whole.
    async fn answer(&self, mut messages: Streaming<DynamicMessage>) -> Result<Response, Problem> {
        let first = messages.message().await?;
        let content_type = self.content_type(first.as_ref());
        let first = first.map(Ok);
        let chunk = self.chunk.clone();
        let bytes = stream::iter(first).chain(messages).map(move |message| {
            message.map(|message| message.get_field(&chunk).as_bytes().cloned().unwrap_or_default())
        });
        let mut response = Response::new(Body::from_stream(bytes.into_stream().map_err(cut)));
        response.headers_mut().insert(header::CONTENT_TYPE, content_type);
        Ok(response)
    }
}

fn cut(status: Status) -> std::io::Error {
    tracing::warn!(code = ?status.code(), "a download was cut");
    std::io::Error::other("the download was cut")
}

async fn serve(
    plan: Arc<Plan>,
    shared: axum::extract::State<Shared>,
    caller: Caller,
    Variables(path): Variables,
    request: Request,
) -> Result<Response, Problem> {
    let message = caller.request(plan.request(&shared, &path, request).await?);
    let codec = DynamicCodec::new(plan.output.clone());
    let mut core = shared.link.any();
    core.ready()
        .await
        .map_err(|error| Status::unavailable(error.to_string()))?;
    match &plan.download {
        Some(download) => {
            let answer = core.server_streaming(message, plan.rpc.clone(), codec);
            download.answer(shared.link.ask(answer).await?).await
        }
        None => {
            let answer = core.unary(message, plan.rpc.clone(), codec);
            plan.answer(&shared.link.ask(answer).await?)
        }
    }
}

#[cfg(test)]
mod tests;
