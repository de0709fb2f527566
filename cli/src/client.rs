//! The gateway as client commands see it: the public REST contract and nothing else.
//!
//! Every answer is bounded in size, every wait in time. The token is sent, never shown.

#[cfg(test)]
pub(crate) mod fake;
pub(crate) mod problem;
pub(crate) mod reach;
pub(crate) mod sse;

use std::{fmt, time::Duration};

use reqwest::{
    Method, RequestBuilder, Response,
    header::{CONTENT_TYPE, DATE},
};
use serde_json::Value;
use zeroize::Zeroizing;

use crate::failure::{Exit, Failure};

const CONNECT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(30);
/// For work that goes through the whole record: ten million rows take half a minute.
const LONG_ANSWER: Duration = Duration::from_secs(900);
const LARGEST_ANSWER: usize = 64 * 1024 * 1024;

/// A gateway and the token it is asked with.
pub(crate) struct Gateway {
    http: reqwest::Client,
    url: String,
    token: Option<Zeroizing<String>>,
    profile: Option<String>,
}

/// An answer that was only looked at.
#[derive(Debug)]
pub(crate) struct Probe {
    /// HTTP status.
    pub(crate) status: u16,
    /// The gateway's own clock.
    pub(crate) date: Option<String>,
    /// The body as text.
    pub(crate) body: String,
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl Gateway {
    /// The address, without a slash at the end.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Whether there is a token at all.
    pub(crate) fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Narrows what follows to a profile.
    #[must_use]
    pub(crate) fn with_profile(mut self, profile: Option<&str>) -> Self {
        self.profile = profile.map(str::to_owned);
        self
    }

    /// GET, answered by JSON.
    pub(crate) async fn get(&self, path: &str, query: &[(&str, String)]) -> Result<Value, Failure> {
        self.json(self.request(Method::GET, &with_query(path, query)))
            .await
    }

    /// POST, PUT or PATCH of JSON; null when the answer has no body.
    pub(crate) async fn send(&self, method: Method, path: &str, body: &Value) -> Result<Value, Failure> {
        self.json(self.request(method, path).json(body)).await
    }

    /// Like [`Gateway::send`], for an answer that may take many minutes.
    pub(crate) async fn send_patiently(
        &self,
        method: Method,
        path: &str,
        body: &Value,
    ) -> Result<Value, Failure> {
        self.json_within(self.request(method, path).json(body), LONG_ANSWER)
            .await
    }

    /// POST of JSON text as it is.
    pub(crate) async fn post_text(&self, path: &str, body: String) -> Result<Value, Failure> {
        let request = self
            .request(Method::POST, path)
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        self.json(request).await
    }

    /// POST of JSON that waits for the outcome of the call it starts.
    pub(crate) async fn send_waiting(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.json(
            self.request(Method::POST, path)
                .header("prefer", "wait")
                .json(body),
        )
        .await
    }

    /// DELETE; the answer has no body.
    pub(crate) async fn delete(&self, path: &str) -> Result<(), Failure> {
        self.json(self.request(Method::DELETE, path)).await.map(drop)
    }

    /// GET of a body that comes in pieces and may take its time.
    pub(crate) async fn stream(&self, path: &str, query: &[(&str, String)]) -> Result<Response, Failure> {
        let sending = self.request(Method::GET, &with_query(path, query)).send();
        let response = match tokio::time::timeout(ANSWER, sending).await {
            Ok(sent) => sent.map_err(|error| self.unreachable(&error))?,
            Err(_) => return Err(self.silent()),
        };
        self.checked(response).await
    }

    /// The answer of a path that needs no credential, whatever its status.
    pub(crate) async fn probe(&self, path: &str) -> Result<Probe, Failure> {
        let request = self.http.get(format!("{}{path}", self.url)).timeout(CONNECT);
        let response = request.send().await.map_err(|error| self.unreachable(&error))?;
        let status = response.status().as_u16();
        let date = response
            .headers()
            .get(DATE)
            .and_then(|date| Some(date.to_str().ok()?.to_owned()));
        let body = String::from_utf8_lossy(&self.body(response).await?).into_owned();
        Ok(Probe { status, date, body })
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let mut request = self.http.request(method, format!("{}{path}", self.url));
        if let Some(token) = &self.token {
            request = request.bearer_auth(token.as_str());
        }
        if let Some(profile) = &self.profile {
            request = request.header("Toolgate-Profile", profile);
        }
        request
    }

    async fn json(&self, request: RequestBuilder) -> Result<Value, Failure> {
        self.json_within(request, ANSWER).await
    }

    async fn json_within(&self, request: RequestBuilder, within: Duration) -> Result<Value, Failure> {
        let response = request
            .timeout(within)
            .send()
            .await
            .map_err(|error| self.unreachable(&error))?;
        let response = self.checked(response).await?;
        let body = self.body(response).await?;
        if body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&body).map_err(|_| self.foreign())
    }

    async fn checked(&self, response: Response) -> Result<Response, Failure> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let retry = response
            .headers()
            .get("retry-after")
            .and_then(|value| value.to_str().ok()?.parse().ok());
        let body = self.body(response).await?;
        Err(problem::failure(status.as_u16(), retry, &body, self.has_token()))
    }

    async fn body(&self, mut response: Response) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.unreachable(&error))? {
            if body.len() + chunk.len() > LARGEST_ANSWER {
                return Err(Failure::failed(format!(
                    "the answer of {} is over 64 MiB",
                    self.url
                )));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// The failure of a request that got no whole answer.
    pub(crate) fn unreachable(&self, error: &reqwest::Error) -> Failure {
        if error.is_builder() {
            return Failure::usage(format!("the request cannot be made: {}", innermost(error)));
        }
        if error.is_timeout() {
            return self.silent();
        }
        let why = innermost(error);
        let next = next(&why);
        Failure::new(
            Exit::Unreachable,
            format!("no gateway answers at {}: {why}", self.url),
        )
        .next(next)
    }

    fn silent(&self) -> Failure {
        Failure::new(
            Exit::Unreachable,
            format!("the gateway at {} did not answer in time", self.url),
        )
        .next("`toolgate doctor` tells more")
    }

    fn foreign(&self) -> Failure {
        Failure::failed(format!(
            "{} answered something that is no JSON; is it a gateway?",
            self.url
        ))
        .next("check --url or TOOLGATE_URL")
    }
}

// rustls has no words for people, and reqwest none for rustls.
fn next(why: &str) -> &'static str {
    if why.contains("CaUsedAsEndEntity") {
        "the certificate says of itself that it is an authority, so it cannot be a server's; make one with \
         `-addext basicConstraints=CA:FALSE`, or one that your authority signs"
    } else if why.contains("peer certificate") {
        "give the certificate's authority with --ca-cert, and with --url the name that it is made for"
    } else if why.contains("InvalidContentType") {
        "something that speaks no TLS listens there; try http:// in --url or TOOLGATE_URL"
    } else if why.contains("invalid HTTP version") || why.contains("closed before message completed") {
        "something that speaks no plain HTTP listens there; try https:// in --url or TOOLGATE_URL"
    } else if why.contains("failed to lookup address") {
        "the name of the host is not known here; check --url or TOOLGATE_URL, and the machine's name service"
    } else {
        "start one with `toolgate up`, or name another with --url or TOOLGATE_URL"
    }
}

fn with_query(path: &str, query: &[(&str, String)]) -> String {
    let mut text = form_urlencoded(query);
    if !text.is_empty() {
        text.insert(0, '?');
    }
    format!("{path}{text}")
}

// The form encoding of a URL's query (WHATWG URL §5.2), by the URL crate that reqwest brings.
fn form_urlencoded(query: &[(&str, String)]) -> String {
    let Ok(mut url) = reqwest::Url::parse("http://unused/") else {
        return String::new();
    };
    url.query_pairs_mut().extend_pairs(query);
    url.query().unwrap_or_default().into()
}

// The outer errors of reqwest repeat the URL; the innermost one says what happened.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

#[cfg(test)]
mod tests {
    use super::{fake::Fake, next, with_query};
    use crate::failure::Exit;

    #[test]
    fn queries_are_encoded() {
        let query = [("tool", "a&b=c d".to_owned()), ("cursor", "ü+".to_owned())];
        assert_eq!(with_query("/p", &query), "/p?tool=a%26b%3Dc+d&cursor=%C3%BC%2B");
        assert_eq!(with_query("/p", &[]), "/p");
    }

    #[test]
    fn a_certificate_that_is_not_accepted_has_a_next_step_of_its_own() {
        assert!(next("invalid peer certificate: UnknownIssuer").contains("--ca-cert"));
        assert!(next("Other(OtherError(CaUsedAsEndEntity))").contains("CA:FALSE"));
        assert!(next("Connection refused").contains("toolgate up"));
    }

    #[test]
    fn an_address_that_is_wrong_has_another_next_step_than_one_where_nobody_listens() {
        assert!(next("received corrupt message of type InvalidContentType").contains("http://"));
        assert!(next("invalid HTTP version parsed").contains("https://"));
        assert!(next("failed to lookup address information: Name or service not known").contains("name"));
    }

    #[tokio::test]
    async fn where_nobody_listens_the_gateway_is_unreachable() {
        let mut fake = Fake::answering([]).await;
        let gone = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        fake.gateway.url = format!("http://{gone}");
        let failure = fake.gateway.get("/api/self", &[]).await.unwrap_err();
        assert_eq!(failure.exit, Exit::Unreachable);
    }

    #[tokio::test]
    async fn an_answer_that_is_no_json_is_told_apart() {
        let fake = Fake::answering([("GET /api/self ", super::fake::events("<html>"))]).await;
        let failure = fake.gateway.get("/api/self", &[]).await.unwrap_err();
        assert!(failure.message.contains("is it a gateway?"), "{failure:?}");
    }
}
