//! `TokenService`: API tokens, for admins.

use tonic::{Request, Response, Status};
use toolgate_contract::v1::{
    CreateTokenRequest, CreateTokenResponse, ListTokensRequest, ListTokensResponse, RevokeTokenRequest,
    RevokeTokenResponse, Token as Told, token_service_server::TokenService,
};

use super::{Rpc, manage::by};
use crate::{
    identity::Action,
    pages::Page,
    rfc3339,
    tokens::{Token, Wanted},
};

#[tonic::async_trait]
impl TokenService for Rpc {
    async fn create_token(
        &self,
        request: Request<CreateTokenRequest>,
    ) -> Result<Response<CreateTokenResponse>, Status> {
        let caller = self.caller(&request, Action::ManageTokens).await?;
        let CreateTokenRequest {
            name,
            role,
            profile,
            expires_at,
        } = request.into_inner();
        let made = self
            .tokens
            .create(
                by(&caller),
                Wanted {
                    name,
                    role,
                    profile,
                    expires_at,
                },
            )
            .await;
        let (token, text) = self.answer(&caller, made).await?;
        Ok(Response::new(CreateTokenResponse {
            id: token.id.to_string(),
            token: text.reveal().to_owned(),
            name: token.name,
            role: token.role,
            profile: token.profile,
            created_at: rfc3339::format(token.created_us),
            expires_at: token.expires_us.map(rfc3339::format),
        }))
    }

    async fn list_tokens(
        &self,
        request: Request<ListTokensRequest>,
    ) -> Result<Response<ListTokensResponse>, Status> {
        let caller = self.caller(&request, Action::ManageTokens).await?;
        let ListTokensRequest {
            page_size,
            page_token,
        } = request.into_inner();
        let listed = match Page::asked(page_size, page_token.as_deref()) {
            Ok(page) => self.tokens.list(&by(&caller), page).await,
            Err(error) => Err(error),
        };
        let (tokens, next_page_token) = self.answer(&caller, listed).await?;
        let uses = &self.broker.rooms().uses;
        let tenant = &caller.principal().tenant;
        let last = |token: &Token| uses.last(tenant, token.id, token.last_used_us);
        let tokens = tokens.into_iter().map(|token| told(last(&token), token));
        let tokens = tokens.collect();
        Ok(Response::new(ListTokensResponse {
            tokens,
            next_page_token,
        }))
    }

    async fn revoke_token(
        &self,
        request: Request<RevokeTokenRequest>,
    ) -> Result<Response<RevokeTokenResponse>, Status> {
        let caller = self.caller(&request, Action::ManageTokens).await?;
        let revoked = self.tokens.revoke(by(&caller), &request.into_inner().id).await;
        self.answer(&caller, revoked).await?;
        Ok(Response::new(RevokeTokenResponse {}))
    }
}

fn told(last_used_us: Option<i64>, token: Token) -> Told {
    Told {
        id: token.id.to_string(),
        name: token.name,
        role: token.role,
        profile: token.profile,
        created_at: rfc3339::format(token.created_us),
        expires_at: token.expires_us.map(rfc3339::format),
        revoked_at: token.revoked_us.map(rfc3339::format),
        last_used_at: last_used_us.map(rfc3339::format),
    }
}
