//! `SessionService`: signing in, sessions of MCP clients, and who one is.

use tonic::{Request, Response, Status};
use toolgate_contract::v1::{
    CloseMcpSessionRequest, CloseMcpSessionResponse, CreateSignInCodeRequest, CreateSignInCodeResponse,
    GetSelfRequest, GetSelfResponse, OpenMcpSessionRequest, OpenMcpSessionResponse, SignInRequest,
    SignInResponse, session_service_server::SessionService,
};

use super::{Rpc, ask, manage::by, status};
use crate::{identity::Action, rfc3339};

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
        let caller = self.caller(&request, Action::ManageTokens).await?;
        let profile = caller.profile().map(|profile| profile.name.to_string());
        let made = self
            .sessions
            .create_code(by(&caller), caller.principal().role, profile)
            .await;
        let made = self.answer(&caller, made).await?;
        Ok(Response::new(CreateSignInCodeResponse {
            code: made.code.reveal().to_owned(),
            expires_at: rfc3339::format(made.expires_us),
        }))
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
            principal: principal.name.as_ref().to_owned(),
            role: principal.role.as_str().to_owned(),
            uses_tools: principal.role.require(Action::UseTools).is_ok(),
            profile: caller.profile().map(|profile| profile.name.to_string()),
        }))
    }
}
