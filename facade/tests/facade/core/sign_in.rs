//! Signing in with a provider that is always there and names everybody.

use tonic::{Request, Response, Status};
use toolgate_contract::v1::{sign_in_service_server::SignInService, *};

use super::ScriptedCore;

#[tonic::async_trait]
impl SignInService for ScriptedCore {
    async fn get_sign_in_options(
        &self,
        request: Request<GetSignInOptionsRequest>,
    ) -> Result<Response<GetSignInOptionsResponse>, Status> {
        self.note("GetSignInOptions", request)?;
        Ok(Response::new(GetSignInOptionsResponse {
            oidc: None,
            link: true,
        }))
    }

    async fn begin_oidc(
        &self,
        request: Request<BeginOidcRequest>,
    ) -> Result<Response<BeginOidcResponse>, Status> {
        self.note("BeginOidc", request)?;
        Ok(Response::new(BeginOidcResponse {
            authorization_url: "https://id.example/auth?state=s".into(),
            sealed: "root.sealed".into(),
        }))
    }

    async fn finish_oidc(
        &self,
        request: Request<FinishOidcRequest>,
    ) -> Result<Response<FinishOidcResponse>, Status> {
        self.note("FinishOidc", request)?;
        Ok(Response::new(FinishOidcResponse {
            token: "tgs_a_b".into(),
            expires_at: "2026-01-02T03:04:05Z".into(),
            next: "/audit?a=b".into(),
        }))
    }
}
