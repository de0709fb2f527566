//! The link to the core: its clients, and what is told about the caller on every rpc.
//!
//! Nothing is judged here: the credential goes on as it came. It is taken from the header only, never from the query,
//! which would end in logs and histories.

mod core;
mod refusals;

pub(crate) use refusals::{Knocker, OwnRefusal, Refusals};

use std::{future::Future, net::IpAddr, time::Duration};

use axum::extract::FromRequestParts;
use http::{HeaderMap, HeaderName, HeaderValue, header::AUTHORIZATION, request::Parts};
use tonic::{Extensions, Request, Response, Status, metadata::MetadataMap};
use toolgate_contract::v1::{
    ErrorReason, Failure, broker_service_client::BrokerServiceClient, pipe_service_client::PipeServiceClient,
    session_service_client::SessionServiceClient, sign_in_service_client::SignInServiceClient,
    status_service_client::StatusServiceClient, target_service_client::TargetServiceClient,
    uplink_service_client::UplinkServiceClient,
};

use self::core::Core;
use crate::{CoreService, problem::Problem, rest::BEGIN_SESSION, routes::Shared, session::ByCookie};

/// A result may be 8 MiB. A project's comes as it is and, for other dialects, in its parts once more; with room for the rest.
const MESSAGE_LIMIT: usize = 17 * 1024 * 1024;

const FACADE: HeaderName = HeaderName::from_static("toolgate-facade");
const SOURCE: HeaderName = HeaderName::from_static("toolgate-source");
const PROFILE: HeaderName = HeaderName::from_static("toolgate-profile");
/// What a call falls back to where its arguments name no project or task (`agent-tools.md` §1).
const PROJECT: HeaderName = HeaderName::from_static("toolgate-project");
const TASK: HeaderName = HeaderName::from_static("toolgate-task");
const TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");
const TRACE: HeaderName = HeaderName::from_static("traceparent");
const FORWARDED: HeaderName = HeaderName::from_static("x-forwarded-for");
const SESSION: HeaderName = HeaderName::from_static("toolgate-session");

/// The clients of the core.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    core: Core,
    patience: Duration,
}

impl Link {
    pub(crate) fn new(core: CoreService, patience: Duration) -> Self {
        Self {
            core: Core::new(core),
            patience,
        }
    }

    pub(crate) fn broker(&self) -> BrokerServiceClient<Core> {
        BrokerServiceClient::new(self.core.clone()).max_decoding_message_size(MESSAGE_LIMIT)
    }

    pub(crate) fn pipe(&self) -> PipeServiceClient<Core> {
        PipeServiceClient::new(self.core.clone()).max_decoding_message_size(MESSAGE_LIMIT)
    }

    pub(crate) fn targets(&self) -> TargetServiceClient<Core> {
        TargetServiceClient::new(self.core.clone()).max_decoding_message_size(MESSAGE_LIMIT)
    }

    pub(crate) fn status(&self) -> StatusServiceClient<Core> {
        StatusServiceClient::new(self.core.clone())
    }

    pub(crate) fn sessions(&self) -> SessionServiceClient<Core> {
        SessionServiceClient::new(self.core.clone())
    }

    pub(crate) fn sign_in(&self) -> SignInServiceClient<Core> {
        SignInServiceClient::new(self.core.clone())
    }

    pub(crate) fn uplink(&self) -> UplinkServiceClient<Core> {
        UplinkServiceClient::new(self.core.clone())
            .max_decoding_message_size(MESSAGE_LIMIT)
            .max_encoding_message_size(MESSAGE_LIMIT)
    }

    pub(crate) fn any(&self) -> tonic::client::Grpc<Core> {
        tonic::client::Grpc::new(self.core.clone()).max_decoding_message_size(MESSAGE_LIMIT)
    }

    /// Waits for the beginning of the core's answer, but not for ever.
    pub(crate) async fn ask<T>(
        &self,
        answer: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, Problem> {
        match tokio::time::timeout(self.patience, answer).await {
            Ok(answer) => Ok(answer?.into_inner()),
            Err(_) => Err(Failure::new(
                ErrorReason::Overloaded,
                "the gateway's core does not answer; try again later",
            )
            .retry_after(Duration::from_secs(5))
            .into()),
        }
    }
}

/// The other end of a connection, told once per connection.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    /// The peer's address as the core shall hear it.
    pub(crate) source: HeaderValue,
    /// The address the peer dialled: naming it in `Host` is no foreign name.
    pub(crate) dialled: IpAddr,
    /// Keying material of the TLS connection, when TLS ends here.
    pub(crate) exporter: Option<[u8; 32]>,
}

/// What a process works for and on; a call falls back to it where its arguments do not say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    /// The project.
    pub project: Option<String>,
    /// The task.
    pub task: Option<String>,
}

/// What the core is told about a request: metadata, ready to be sent.
#[derive(Debug)]
pub(crate) struct Caller {
    metadata: MetadataMap,
}

impl Caller {
    /// The rpc's request.
    pub(crate) fn request<T>(self, message: T) -> Request<T> {
        Request::from_parts(self.metadata, Extensions::default(), message)
    }

    /// The one client of this process, who shows the same credential with every message.
    pub(crate) fn of_process(
        credential: HeaderValue,
        profile: Option<&str>,
        context: &Context,
    ) -> Result<Self, Problem> {
        let mut told = HeaderMap::with_capacity(8);
        told.insert(FACADE, HeaderValue::from_static("mcp"));
        told.insert(AUTHORIZATION, credential);
        for (name, value) in [(PROJECT, &context.project), (TASK, &context.task)] {
            // What stands in an environment often ends with a line feed.
            if let Some(value) = value.as_deref().map(str::trim).filter(|value| !value.is_empty()) {
                let value = HeaderValue::try_from(value)
                    .map_err(|_| malformed(format!("the value for {name} is not plain text")))?;
                told.insert(name, value);
            }
        }
        let caller = Self {
            metadata: MetadataMap::from_headers(told),
        };
        // A name that cannot stand in a header is one that nobody knows, and is told as such.
        match profile.map(str::trim) {
            Some(name) if HeaderValue::try_from(name).is_err() => {
                caller.under(&name.escape_default().to_string())
            }
            Some(name) => caller.under(name),
            None => Ok(caller),
        }
    }

    /// What it shows as its credential.
    pub(crate) fn credential(&self) -> Option<HeaderValue> {
        let shown = self.metadata.get(AUTHORIZATION.as_str())?;
        HeaderValue::from_bytes(shown.as_bytes()).ok()
    }

    /// The same caller for a second rpc.
    pub(crate) fn again(&self) -> Self {
        Self {
            metadata: self.metadata.clone(),
        }
    }

    /// The same caller with another credential.
    pub(crate) fn showing(mut self, token: &str) -> Result<Self, Problem> {
        let mut credential =
            HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| Problem::internal())?;
        credential.set_sensitive(true);
        let mut told = self.metadata.into_headers();
        told.insert(AUTHORIZATION, credential);
        self.metadata = MetadataMap::from_headers(told);
        Ok(self)
    }

    /// The same caller within a session of the Model Context Protocol.
    pub(crate) fn in_session(mut self, id: &str) -> Result<Self, Problem> {
        let id =
            HeaderValue::try_from(id).map_err(|_| malformed("header mcp-session-id is not plain text"))?;
        let mut told = self.metadata.into_headers();
        told.insert(SESSION, id);
        self.metadata = MetadataMap::from_headers(told);
        Ok(self)
    }

    /// The same caller under a profile that the path names; it takes the place of the header's.
    pub(crate) fn under(mut self, profile: &str) -> Result<Self, Problem> {
        let profile =
            HeaderValue::try_from(profile).map_err(|_| malformed("the profile is not plain text"))?;
        let mut told = self.metadata.into_headers();
        told.insert(PROFILE, profile);
        self.metadata = MetadataMap::from_headers(told);
        Ok(self)
    }

    pub(crate) fn metadata_mut(&mut self) -> &mut MetadataMap {
        &mut self.metadata
    }

    /// The credential, profile and session as bytes that tell callers apart: each session may be at another project.
    pub(crate) fn identity(&self) -> [&[u8]; 3] {
        let bytes = |name: &HeaderName| {
            self.metadata
                .get(name.as_str())
                .map_or(&[][..], |value| value.as_bytes())
        };
        [bytes(&AUTHORIZATION), bytes(&PROFILE), bytes(&SESSION)]
    }

    fn read(parts: &Parts, behind_proxy: bool) -> Result<Self, Problem> {
        let mut told = HeaderMap::with_capacity(8);
        told.insert(FACADE, dialect(parts.uri.path(), &parts.extensions));
        for name in [AUTHORIZATION, PROFILE, PROJECT, TASK, TRACE] {
            if let Some(value) = single(&parts.headers, &name)? {
                told.insert(name, value.clone());
            }
        }
        if let Some(value) = single(&parts.headers, &TIMEOUT)? {
            if !is_timeout(value.as_bytes()) {
                return Err(malformed(
                    "header grpc-timeout is not up to 8 digits and one of H, M, S, m, u, n",
                ));
            }
            told.insert(TIMEOUT, value.clone());
        }
        if let Some(source) = source(&parts.headers, &parts.extensions, behind_proxy) {
            told.insert(SOURCE, source);
        }
        Ok(Self {
            metadata: MetadataMap::from_headers(told),
        })
    }
}

impl FromRequestParts<Shared> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Problem> {
        Self::read(parts, shared.behind_proxy)
    }
}

/// The dialect that is spoken at a path, as the record names it. Whoever comes with a cookie, or for one, is at our
/// pages.
fn dialect(path: &str, extensions: &http::Extensions) -> HeaderValue {
    let within = |root: &str| {
        path.strip_prefix(root)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    HeaderValue::from_static(if within("/mcp") {
        "mcp"
    } else if within("/openai") {
        "openai"
    } else if extensions.get::<ByCookie>().is_some() || path == BEGIN_SESSION.1 || within("/sign-in") {
        "web"
    } else {
        "rest"
    })
}

/// One value or none: two readers of a doubled header could each see another one.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a HeaderValue>, Problem> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(malformed(format!("header {name} is given twice")));
    }
    Ok(first)
}

/// The right-most entry is the one our own proxy wrote; those before it are the caller's claims.
pub(crate) fn source(
    headers: &HeaderMap,
    extensions: &http::Extensions,
    behind_proxy: bool,
) -> Option<HeaderValue> {
    let forwarded = || -> Option<HeaderValue> {
        let last = headers.get_all(FORWARDED).iter().next_back()?.to_str().ok()?;
        let address: IpAddr = last.rsplit(',').next()?.trim().parse().ok()?;
        HeaderValue::try_from(address.to_string()).ok()
    };
    let peer = || extensions.get::<Peer>().map(|peer| peer.source.clone());
    if behind_proxy {
        forwarded().or_else(peer)
    } else {
        peer()
    }
}

fn is_timeout(text: &[u8]) -> bool {
    let Some((unit, digits)) = text.split_last() else {
        return false;
    };
    b"HMSmun".contains(unit) && (1..=8).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit)
}

fn malformed(message: impl Into<String>) -> Problem {
    Problem::new(ErrorReason::RequestMalformed, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(headers: &[(&str, &str)], behind_proxy: bool) -> Result<HeaderMap, String> {
        let mut request = http::Request::builder();
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (mut parts, ()) = request.body(()).unwrap().into_parts();
        parts.extensions.insert(Peer {
            source: HeaderValue::from_static("192.0.2.7"),
            dialled: [127, 0, 0, 1].into(),
            exporter: None,
        });
        let caller =
            Caller::read(&parts, behind_proxy).map_err(|problem| problem.failure().message.clone())?;
        Ok(caller.metadata.into_headers())
    }

    #[test]
    fn the_core_hears_the_caller_word_for_word() {
        let told = told(
            &[
                ("authorization", "Bearer tgk_a_b"),
                ("toolgate-profile", "hosts"),
                ("toolgate-project", "shop"),
                ("toolgate-task", "t-7"),
                ("grpc-timeout", "1500m"),
                (
                    "traceparent",
                    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                ),
                ("cookie", "x=y"),
                ("toolgate-facade", "grpc"),
                ("toolgate-source", "10.9.9.9"),
                ("tls-exporter-bin", "AAAA"),
            ],
            false,
        )
        .unwrap();
        assert_eq!(told["authorization"], "Bearer tgk_a_b");
        assert_eq!(told["toolgate-profile"], "hosts");
        assert_eq!(
            (&told["toolgate-project"], &told["toolgate-task"]),
            (
                &HeaderValue::from_static("shop"),
                &HeaderValue::from_static("t-7")
            )
        );
        assert_eq!(told["grpc-timeout"], "1500m");
        assert_eq!(told["toolgate-facade"], "rest");
        assert_eq!(told["toolgate-source"], "192.0.2.7");
        assert!(told.contains_key("traceparent"));
        assert_eq!(told.len(), 8);
    }

    #[test]
    fn a_process_tells_what_it_works_for_and_on_where_it_does() {
        let told = |project: Option<&str>, task: Option<&str>| {
            let context = Context {
                project: project.map(str::to_owned),
                task: task.map(str::to_owned),
            };
            let caller = Caller::of_process(HeaderValue::from_static("Bearer a"), None, &context);
            caller
                .map(|caller| caller.metadata.into_headers())
                .map_err(|problem| problem.failure().message.clone())
        };
        let both = told(Some("shop"), Some("t-7")).unwrap();
        assert_eq!(
            (
                both["toolgate-project"].as_bytes(),
                both["toolgate-task"].as_bytes()
            ),
            (&b"shop"[..], &b"t-7"[..])
        );
        assert_eq!(told(Some(""), None).unwrap().len(), 2);
        assert!(told(None, Some("a\nb")).unwrap_err().contains("toolgate-task"));
    }

    #[test]
    fn forwarded_addresses_are_believed_only_behind_a_proxy_and_only_the_last_one() {
        let check = |value: &str, behind_proxy, expected: &str| {
            let told = told(&[("x-forwarded-for", value)], behind_proxy).unwrap();
            assert_eq!(told["toolgate-source"], expected, "{value}");
        };
        check("203.0.113.9", false, "192.0.2.7");
        check("203.0.113.9", true, "203.0.113.9");
        check("10.0.0.1, 203.0.113.9", true, "203.0.113.9");
        check("203.0.113.9, not an address", true, "192.0.2.7");
        check("2001:db8::1", true, "2001:db8::1");
        let doubled = [
            ("x-forwarded-for", "10.0.0.1"),
            ("x-forwarded-for", "203.0.113.9"),
        ];
        assert_eq!(
            super::tests::told(&doubled, true).unwrap()["toolgate-source"],
            "203.0.113.9"
        );
    }

    #[test]
    fn doubled_headers_and_odd_deadlines_are_refused_by_name() {
        let check = |headers: &[(&str, &str)], name: &str| {
            let message = told(headers, false).unwrap_err();
            assert!(message.contains(name), "{message}");
        };
        check(
            &[("authorization", "Bearer a"), ("authorization", "Bearer b")],
            "authorization",
        );
        check(
            &[("toolgate-profile", "a"), ("toolgate-profile", "b")],
            "toolgate-profile",
        );
        for value in ["", "S", "10", "10s", "123456789S", "-1S", "1 S"] {
            check(&[("grpc-timeout", value)], "grpc-timeout");
        }
    }
}
