//! Someone with a token, speaking REST and SSE.

use std::time::{Duration, Instant};

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::{Answer, Events, Grpc, Outcome, Refusal, dialect::Pipes, until};

/// What a principal may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Everything.
    Admin,
    /// Calls tools.
    Engineer,
    /// Reads the record.
    Auditor,
    /// Calls the tools of its profile.
    Agent,
}

impl Role {
    /// The name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Engineer => "engineer",
            Self::Auditor => "auditor",
            Self::Agent => "agent",
        }
    }
}

/// A caller of one gateway.
#[derive(Clone)]
pub struct Caller {
    http: reqwest::Client,
    url: String,
    grpc: String,
    token: String,
    profile: Option<String>,
    pipes: Pipes,
}

impl std::fmt::Debug for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Caller({}, ***)", self.url)
    }
}

impl Caller {
    /// A caller of the gateway at these addresses.
    #[must_use]
    pub fn new(url: impl Into<String>, grpc: impl Into<String>, token: impl Into<String>) -> Self {
        Self {
            http: client(&[]),
            url: url.into(),
            grpc: grpc.into(),
            token: token.into(),
            profile: None,
            pipes: Pipes::None,
        }
    }

    /// The same caller, who can also speak through pipes.
    pub(crate) fn piped(self, pipes: Pipes) -> Self {
        Self { pipes, ..self }
    }

    pub(crate) fn pipes(&self) -> &Pipes {
        &self.pipes
    }

    /// The same caller, trusting a further certificate in PEM.
    #[must_use]
    pub fn trusting(self, certificate: &[u8]) -> Self {
        Self {
            http: client(&[certificate]),
            ..self
        }
    }

    /// The same place, another token.
    #[must_use]
    pub fn with_token(&self, token: impl Into<String>) -> Self {
        Self {
            token: token.into(),
            ..self.clone()
        }
    }

    /// The same caller, who asks for a profile with every request: by header, by metadata, or as a pipe is opened.
    #[must_use]
    pub fn asking_for(&self, profile: impl Into<String>) -> Self {
        Self {
            profile: Some(profile.into()),
            ..self.clone()
        }
    }

    pub(crate) fn profile(&self) -> Option<&str> {
        self.profile.as_deref()
    }

    /// The base URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The URL of gRPC.
    #[must_use]
    pub fn grpc_url(&self) -> &str {
        &self.grpc
    }

    /// The token.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The same caller over gRPC.
    pub async fn grpc(&self) -> Grpc {
        Grpc::connect(&self.grpc, &self.token, self.profile()).await
    }

    /// Sends these bytes as the body of a gRPC request and gives the status that came instead of an answer. No client of
    /// gRPC's does that, and none leaves a deadline to the gateway alone.
    pub async fn raw_grpc(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Option<tonic::Status> {
        let http = reqwest::Client::builder()
            .no_proxy()
            .http2_prior_knowledge()
            .build();
        let mut request = http
            .expect("a client")
            .post(format!("{}{path}", self.grpc))
            .bearer_auth(&self.token)
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send().await.expect("the gRPC port answers");
        tonic::Status::from_header_map(response.headers())
    }

    /// Calls a tool and waits for its outcome.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Outcome, Refusal> {
        let body = json!({"name": tool, "arguments": arguments});
        let answer = self.invoke_with(&body, &[("prefer", "wait")]).await;
        answer.ok().map(|body| Outcome::of(&body))
    }

    /// Runs one of the six commands on the only host.
    pub async fn run(&self, command: &str) -> Result<Outcome, Refusal> {
        self.call("ssh.run_whitelisted_command", json!({"command": command}))
            .await
    }

    /// Starts a call; gives its correlation id.
    pub async fn invoke(&self, tool: &str, arguments: Value) -> Result<String, Refusal> {
        let answer = self
            .invoke_with(&json!({"name": tool, "arguments": arguments}), &[])
            .await;
        let body = answer.ok()?;
        Ok(body["correlationId"].as_str().unwrap_or_default().to_owned())
    }

    /// `POST /api/mcp/invoke` as it stands.
    pub async fn invoke_with(&self, body: &Value, headers: &[(&str, &str)]) -> Answer {
        let mut request = self.request(Method::POST, "/api/mcp/invoke").json(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request).await
    }

    /// Watches a call from its first event on.
    pub async fn watch(&self, call: &str) -> Result<Events, Refusal> {
        self.watch_after(call, None).await
    }

    /// Watches a call from after an event.
    pub async fn watch_after(&self, call: &str, last: Option<&str>) -> Result<Events, Refusal> {
        let mut request = self.request(Method::GET, &format!("/api/mcp/stream/{call}"));
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let began = Instant::now();
        let response = request.send().await.expect("the gateway answers");
        if response.status().is_success() {
            return Ok(Events::new(response));
        }
        match Answer::read(response, began).await.ok() {
            Err(refusal) => Err(refusal),
            Ok(_) => unreachable!("success was handled above"),
        }
    }

    /// `GET` a path.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path)).await
    }

    /// `POST` JSON to a path.
    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::POST, path).json(&body)).await
    }

    /// `DELETE` a path.
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(self.request(Method::DELETE, path)).await
    }

    /// Any request with this caller's token.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self
            .http
            .request(method, format!("{}{path}", self.url))
            .bearer_auth(&self.token);
        match &self.profile {
            Some(profile) => request.header("toolgate-profile", profile),
            None => request,
        }
    }

    /// Sends a request and reads the answer whole.
    pub async fn send(&self, request: RequestBuilder) -> Answer {
        let began = Instant::now();
        let response = request.send().await.expect("the gateway answers");
        Answer::read(response, began).await
    }

    /// Sends a request that may find nobody there.
    pub async fn try_send(&self, request: RequestBuilder) -> Option<Answer> {
        let began = Instant::now();
        Some(Answer::read(request.send().await.ok()?, began).await)
    }

    /// Makes a token; gives its id and a caller that holds it.
    pub async fn make_token(&self, name: &str, role: Role) -> Result<(String, Self), Refusal> {
        let body = json!({"name": name, "role": role.as_str()});
        let made = self.post("/api/tokens", body).await.ok()?;
        let token = made["token"].as_str().unwrap_or_default();
        Ok((
            made["id"].as_str().unwrap_or_default().to_owned(),
            self.with_token(token),
        ))
    }

    /// Makes a token that pins a profile; gives its id and a caller that holds it.
    pub async fn make_pinned(
        &self,
        name: &str,
        role: Role,
        profile: &str,
    ) -> Result<(String, Self), Refusal> {
        let body = json!({"name": name, "role": role.as_str(), "profile": profile});
        let made = self.post("/api/tokens", body).await.ok()?;
        let token = made["token"].as_str().unwrap_or_default();
        Ok((
            made["id"].as_str().unwrap_or_default().to_owned(),
            self.with_token(token),
        ))
    }

    /// Adds a host; gives the target's id and its enrolment token.
    pub async fn add_host(&self, name: &str) -> Result<(String, String), Refusal> {
        let body = json!({"type": "ssh", "name": name, "config": {"hostname": name}});
        let made = self.post("/api/mcp/adapter", body).await.ok()?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Ok((text(&made["id"]), text(&made["enrolment"]["token"])))
    }

    /// Adds a project; gives the target's id and its enrolment token.
    pub async fn add_project(&self, name: &str, access: &str) -> Result<(String, String), Refusal> {
        self.add_project_with(name, json!({"access": access})).await
    }

    /// The same with these settings.
    pub async fn add_project_with(&self, name: &str, config: Value) -> Result<(String, String), Refusal> {
        let body = json!({"name": name, "config": config});
        let made = self.post("/api/fleet/projects", body).await.ok()?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Ok((text(&made["project"]["id"]), text(&made["enrolment"]["token"])))
    }

    /// What is told of a project.
    pub async fn told_of_project(&self, name: &str) -> Value {
        self.get(&format!("/api/fleet/projects/{name}")).await.json()
    }

    /// Waits until a project is live and its list of so many tools is known, at most ten seconds.
    ///
    /// # Panics
    /// When it is not.
    pub async fn project_is_up(&self, name: &str, tools: usize) {
        let up = until(Duration::from_secs(10), || async {
            let project = &self.told_of_project(name).await["project"];
            let is_up = project["state"] == "live" && project["tools"].as_u64() == u64::try_from(tools).ok();
            is_up.then_some(())
        });
        if up.await.is_none() {
            panic!(
                "{name} is not up with {tools} tools: {}",
                self.told_of_project(name).await
            );
        }
    }

    /// Sets the project of callers who name none and have none of their own.
    pub async fn set_default_project(&self, name: &str) -> Result<Value, Refusal> {
        let body = json!({"name": name});
        let request = self.request(Method::PUT, "/api/fleet/default").json(&body);
        self.send(request).await.ok()
    }

    /// Adds a target that is dialled; gives the whole answer.
    pub async fn add_target(
        &self,
        adapter: &str,
        name: &str,
        config: Value,
        credential: Value,
    ) -> Result<Value, Refusal> {
        let body = json!({"type": adapter, "name": name, "config": config, "credential": credential});
        self.post("/api/mcp/adapter", body).await.ok()
    }

    /// `PATCH` JSON to a path.
    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::PATCH, path).json(&body)).await
    }

    /// The caller's view of the audit record, oldest first.
    pub async fn audit(&self) -> Result<Vec<Value>, Refusal> {
        let mut events = Vec::new();
        let mut cursor = String::new();
        loop {
            let page = self
                .get(&format!("/api/audit/events?pageSize=500{cursor}"))
                .await
                .ok()?;
            events.extend(page["events"].as_array().cloned().unwrap_or_default());
            match page["nextCursor"].as_str() {
                Some(next) if !next.is_empty() => cursor = format!("&cursor={next}"),
                _ => break,
            }
        }
        events.reverse();
        Ok(events)
    }
}

fn client(certificates: &[&[u8]]) -> reqwest::Client {
    // Fails when it was installed before, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .no_proxy()
        .connect_timeout(Duration::from_secs(5))
        .timeout(Duration::from_secs(60));
    for pem in certificates {
        let certificate = reqwest::Certificate::from_pem(pem).expect("a certificate in PEM");
        builder = builder.add_root_certificate(certificate);
    }
    builder.build().expect("an HTTP client")
}
