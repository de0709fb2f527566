//! `SessionService`: signing in, sessions of MCP clients, and who one is.

use tonic::{Request, Response, Status};
use toolgate_contract::v1::{
    CloseMcpSessionRequest, CloseMcpSessionResponse, CreateSignInCodeRequest, CreateSignInCodeResponse,
    GetSelfRequest, GetSelfResponse, GetSessionRequest, GetSessionResponse, ListSessionsRequest,
    ListSessionsResponse, OpenMcpSessionRequest, OpenMcpSessionResponse, RevokeSessionRequest,
    RevokeSessionResponse, Session, SignInRequest, SignInResponse, SignOutRequest, SignOutResponse,
    session_service_server::SessionService,
};

use super::{Rpc, ask, manage::by, status};
use crate::{
    broker::{Ask, Caller},
    error::{Error, Missing},
    identity::{Action, Kind, Presented},
    rfc3339,
    sessions::{For, Listed, Person, Reach},
    snapshot::Token,
};

#[tonic::async_trait]
impl SessionService for Rpc {
    async fn sign_in(&self, request: Request<SignInRequest>) -> Result<Response<SignInResponse>, Status> {
        let ask = ask::of(&request);
        let refuse = |error| status(self.broker.refuse_unknown(&ask, error));
        let (buckets, origin) = (&self.broker.rooms().buckets, ask.origin());
        // Only what is no code costs the source anything.
        buckets.take_sign_in(&origin).map_err(refuse)?;
        let code = request.into_inner().code;
        let session = self.sessions.sign_in(&code, ask.facade).await.map_err(refuse)?;
        buckets.give_back_sign_in(&origin);
        Ok(Response::new(SignInResponse {
            token: session.token.reveal().to_owned(),
            expires_at: rfc3339::format(session.expires_us),
        }))
    }

    async fn create_sign_in_code(
        &self,
        request: Request<CreateSignInCodeRequest>,
    ) -> Result<Response<CreateSignInCodeResponse>, Status> {
        // Of anybody else only admins; of agents nobody.
        let action = match request.get_ref().token {
            Some(_) => Action::ManageTokens,
            None => Action::SignIn,
        };
        let caller = self.caller(&request, action).await?;
        let whom = match request.into_inner().token {
            Some(named) => self.named(&caller, &named),
            None => self.oneself(&caller),
        };
        let whom = self.answer(&caller, whom).await?;
        let made = self.sessions.create_code(by(&caller), whom).await;
        let made = self.answer(&caller, made).await?;
        Ok(Response::new(CreateSignInCodeResponse {
            code: made.code.reveal().to_owned(),
            expires_at: rfc3339::format(made.expires_us),
        }))
    }

    async fn get_session(
        &self,
        request: Request<GetSessionRequest>,
    ) -> Result<Response<GetSessionResponse>, Status> {
        let caller = self.caller(&request, Action::SeeSelf).await?;
        let principal = caller.principal();
        let token = self.shown(&ask::of(&request), &caller);
        let method = match token.filter(|token| token.kind == Kind::Session) {
            None => Ok(None),
            Some(token) => self.sessions.method(&principal.tenant, token.id).await,
        };
        let method = self.answer(&caller, method).await?;
        Ok(Response::new(GetSessionResponse {
            tenant_id: principal.tenant.to_string(),
            tenant_name: caller.snapshot.tenant_name.clone(),
            principal: principal.name.as_ref().to_owned(),
            role: principal.role.as_str().to_owned(),
            profile: caller.profile().map(|profile| profile.name.to_string()),
            uses_tools: principal.role.may(Action::UseTools),
            expires_at: token.and_then(|token| token.expires_us).map(rfc3339::format),
            method: method.unwrap_or_else(|| "token".into()),
        }))
    }

    async fn sign_out(&self, request: Request<SignOutRequest>) -> Result<Response<SignOutResponse>, Status> {
        let caller = self.caller(&request, Action::SeeSelf).await?;
        let token = self.shown(&ask::of(&request), &caller);
        let ended = match token.filter(|token| token.kind == Kind::Session) {
            None => Err(Error::NotFound(Missing::Resource("session"))),
            Some(token) => self.sessions.end(by(&caller), token.id, Reach::Own).await,
        };
        self.answer(&caller, ended).await?;
        Ok(Response::new(SignOutResponse {}))
    }

    async fn list_sessions(
        &self,
        request: Request<ListSessionsRequest>,
    ) -> Result<Response<ListSessionsResponse>, Status> {
        let caller = self.caller(&request, Action::SeeSelf).await?;
        let principal = caller.principal();
        let of = (reach(&caller) == Reach::Own).then_some(&*principal.name);
        let listed = self.sessions.list(&principal.tenant, of).await;
        let listed = self.answer(&caller, listed).await?;
        let current = self.shown(&ask::of(&request), &caller).map(|token| token.id);
        let uses = &self.broker.rooms().uses;
        let sessions = listed.into_iter().map(|session| {
            let is_current = current == Some(session.id);
            let last_used_us = uses.last(&principal.tenant, session.id, session.last_used_us);
            told(session, is_current, last_used_us)
        });
        Ok(Response::new(ListSessionsResponse {
            sessions: sessions.collect(),
        }))
    }

    async fn revoke_session(
        &self,
        request: Request<RevokeSessionRequest>,
    ) -> Result<Response<RevokeSessionResponse>, Status> {
        let caller = self.caller(&request, Action::SeeSelf).await?;
        let ended = match request.into_inner().id.parse() {
            Ok(id) => self.sessions.end(by(&caller), id, reach(&caller)).await,
            Err(_) => Err(Error::NotFound(Missing::Resource("session"))),
        };
        self.answer(&caller, ended).await?;
        Ok(Response::new(RevokeSessionResponse {}))
    }

    async fn open_mcp_session(
        &self,
        request: Request<OpenMcpSessionRequest>,
    ) -> Result<Response<OpenMcpSessionResponse>, Status> {
        let caller = self.caller(&request, Action::SeeSelf).await?;
        let sessions = &self.broker.rooms().mcp_sessions;
        let opened = sessions.open(caller.principal(), &request.into_inner().revision);
        let session_id = self.answer(&caller, opened).await?;
        Ok(Response::new(OpenMcpSessionResponse { session_id }))
    }

    async fn close_mcp_session(
        &self,
        request: Request<CloseMcpSessionRequest>,
    ) -> Result<Response<CloseMcpSessionResponse>, Status> {
        let caller = self.caller(&request, Action::SeeSelf).await?;
        let sessions = &self.broker.rooms().mcp_sessions;
        let closed = sessions.close(caller.principal(), &request.into_inner().session_id);
        self.answer(&caller, closed).await?;
        // What goes on in that session ends now, not at its next look.
        self.broker.rooms().snapshots.wake(&caller.principal().tenant);
        Ok(Response::new(CloseMcpSessionResponse {}))
    }

    async fn get_self(&self, request: Request<GetSelfRequest>) -> Result<Response<GetSelfResponse>, Status> {
        let caller = self.caller(&request, Action::SeeSelf).await?;
        let principal = caller.principal();
        Ok(Response::new(GetSelfResponse {
            tenant_id: principal.tenant.to_string(),
            tenant_name: caller.snapshot.tenant_name.clone(),
            principal: principal.name.as_ref().to_owned(),
            role: principal.role.as_str().to_owned(),
            uses_tools: principal.role.require(Action::UseTools).is_ok(),
            profile: caller.profile().map(|profile| profile.name.to_string()),
        }))
    }
}

impl Rpc {
    /// The credential of ours that a request was made with; none where it was a JWT.
    fn shown<'c>(&self, ask: &Ask, caller: &'c Caller) -> Option<&'c Token> {
        let presented = Presented::parse(ask.credential.as_ref()?.reveal())?;
        let now_us = self.broker.rooms().clock.wall_us();
        caller.snapshot.token(&presented, now_us)
    }

    /// The caller. Who has no API token came by a provider or an issuer, whose word ends; no link may outlast it.
    fn oneself(&self, caller: &Caller) -> Result<For, Error> {
        let (principal, now_us) = (caller.principal(), self.broker.rooms().clock.wall_us());
        let token = caller.snapshot.token_of(principal, now_us);
        if token.is_none() {
            return Err(Error::RoleForbidden {
                role: principal.role.as_str(),
                action: "make a sign-in link without an API token of its own; sign in as you did before",
            });
        }
        Ok(For {
            person: Person {
                name: principal.name.as_ref().to_owned(),
                role: principal.role,
                profile: caller.profile().map(|profile| profile.name.to_string()),
            },
            token: token.map(|token| (token.id, token.expires_us)),
        })
    }

    /// The principal of a live API token.
    fn named(&self, caller: &Caller, wanted: &str) -> Result<For, Error> {
        let now_us = self.broker.rooms().clock.wall_us();
        let token = caller.snapshot.token_named(wanted, now_us);
        let token = token
            .filter(|token| token.kind == Kind::Api)
            .ok_or(Error::NotFound(Missing::Resource("live token")))?;
        if !token.role.may(Action::SignIn) {
            return Err(Error::invalid(
                "token",
                "is an agent's, and the pages are for people; name a token of another role",
            ));
        }
        Ok(For {
            person: Person {
                name: token.name.as_ref().to_owned(),
                role: token.role,
                profile: token.profile.as_ref().map(|profile| profile.name.to_string()),
            },
            token: Some((token.id, token.expires_us)),
        })
    }
}

/// Whoever manages tokens ends anybody's session.
fn reach(caller: &Caller) -> Reach {
    match caller.principal().role.may(Action::ManageTokens) {
        true => Reach::All,
        false => Reach::Own,
    }
}

fn told(session: Listed, current: bool, last_used_us: Option<i64>) -> Session {
    Session {
        id: session.id.to_string(),
        principal: session.principal,
        role: session.role,
        method: session.method,
        created_at: rfc3339::format(session.created_us),
        last_used_at: last_used_us.map(rfc3339::format),
        expires_at: rfc3339::format(session.expires_us),
        current,
    }
}
