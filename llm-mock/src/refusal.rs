//! A refusal in OpenAI's shape: `{"error": {"message", "type", "param", "code"}}`.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::json;

/// Why a request is not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    status: u16,
    message: String,
    param: Option<String>,
    code: Option<&'static str>,
}

impl Refusal {
    /// A request that OpenAI refuses with 400, with the place that is wrong.
    pub(crate) fn invalid(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            status: 400,
            message: message.into(),
            param: Some(param.into()),
            code: None,
        }
    }

    /// A value of the wrong kind.
    pub(crate) fn wrong_type(param: impl Into<String>, wanted: &str) -> Self {
        let param = param.into();
        let message = format!("Invalid type for '{param}': expected {wanted}.");
        Self::coded(param, message, "invalid_type")
    }

    /// A value that is not there.
    pub(crate) fn missing(param: impl Into<String>) -> Self {
        let param = param.into();
        let message = format!("Missing required parameter: '{param}'.");
        Self::coded(param, message, "missing_required_parameter")
    }

    /// A value that is none of those that are known.
    pub(crate) fn wrong_value(param: impl Into<String>, wanted: &str) -> Self {
        let param = param.into();
        let message = format!("Invalid value for '{param}': supported are {wanted}.");
        Self::coded(param, message, "invalid_value")
    }

    pub(crate) fn body(message: &str) -> Self {
        Self {
            status: 400,
            message: message.to_owned(),
            param: None,
            code: None,
        }
    }

    pub(crate) fn too_large() -> Self {
        Self {
            status: 413,
            message: "The request body is too large.".to_owned(),
            param: None,
            code: Some("request_too_large"),
        }
    }

    pub(crate) fn too_slow() -> Self {
        Self {
            status: 408,
            message: "The request body did not arrive in time.".to_owned(),
            param: None,
            code: None,
        }
    }

    pub(crate) fn unknown_model(model: &str) -> Self {
        let model: String = model.chars().take(100).collect();
        Self {
            status: 404,
            message: format!("The model '{model}' does not exist; see GET /v1/models."),
            param: Some("model".to_owned()),
            code: Some("model_not_found"),
        }
    }

    pub(crate) fn unknown_path() -> Self {
        Self {
            status: 404,
            message: "Unknown request URL: this mock has chat/completions, responses and models.".to_owned(),
            param: None,
            code: Some("unknown_url"),
        }
    }

    fn coded(param: String, message: String, code: &'static str) -> Self {
        Self {
            status: 400,
            message,
            param: Some(param),
            code: Some(code),
        }
    }
}

#[cfg(test)]
impl Refusal {
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn param(&self) -> Option<&str> {
        self.param.as_deref()
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::BAD_REQUEST);
        let error = json!({"error": {
            "message": self.message,
            "type": "invalid_request_error",
            "param": self.param,
            "code": self.code,
        }});
        (status, Json(error)).into_response()
    }
}
