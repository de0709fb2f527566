//! The tool calls of OpenAI's Chat Completions and Responses APIs.
//!
//! `GET /openai/v1/tools` lists the caller's catalog as a model's API wants it, and `POST /openai/v1/tool_calls` carries
//! out what the model asked for and answers with what its history takes. All that is known of OpenAI's shapes is in
//! `translate`, which is frozen; the rest decodes requests and asks the core. Knows no rule of who may do what.

mod deadline;
mod form;
mod run;
mod tool_calls;
mod tools;
mod translate;

use axum::{
    Router,
    routing::{get, post},
};
use bytes::Bytes;

use self::translate::Form;
use crate::{catalog::Lists, routes::Shared};

/// The templates of its paths.
pub(crate) const PATHS: [&str; 2] = [tools::PATH, tool_calls::PATH];

/// What this dialect keeps between requests: the written lists of either form.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    chat: Lists<Bytes>,
    responses: Lists<Bytes>,
}

impl Kept {
    fn lists(&self, form: Form) -> &Lists<Bytes> {
        match form {
            Form::Chat => &self.chat,
            Form::Responses => &self.responses,
        }
    }
}

/// The routes of this dialect.
pub(crate) fn routes() -> Router<Shared> {
    Router::new()
        .route(tools::PATH, get(tools::tools))
        .route(tool_calls::PATH, post(tool_calls::tool_calls))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_path_is_described_and_frozen() {
        let document: Value = serde_json::from_str(toolgate_contract::registry::OPENAPI).unwrap();
        for path in PATHS {
            let verbs = document["paths"][path].as_object().expect(path);
            assert!(
                verbs.values().all(|operation| operation["x-frozen"] == true),
                "{path}"
            );
        }
    }
}
