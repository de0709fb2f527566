//! `SignInService`: how people come to a session, and the two steps of OpenID Connect.

use tonic::{Request, Response, Status};
use toolgate_contract::v1::{
    BeginOidcRequest, BeginOidcResponse, FinishOidcRequest, FinishOidcResponse, GetSignInOptionsRequest,
    GetSignInOptionsResponse, OidcOption, sign_in_service_server::SignInService,
};

use super::{Rpc, ask, status};
use crate::{
    broker::Door,
    error::{Error, Missing},
    identity::Secret,
    oidc::{Back, Oidc},
    rfc3339,
};

/// Where a browser begins it.
const OIDC_URL: &str = "/sign-in/oidc";

#[tonic::async_trait]
impl SignInService for Rpc {
    async fn get_sign_in_options(
        &self,
        _: Request<GetSignInOptionsRequest>,
    ) -> Result<Response<GetSignInOptionsResponse>, Status> {
        let oidc = self.oidc.as_ref().map(|oidc| OidcOption {
            name: oidc.name().to_owned(),
            url: OIDC_URL.into(),
        });
        Ok(Response::new(GetSignInOptionsResponse { oidc, link: true }))
    }

    async fn begin_oidc(
        &self,
        request: Request<BeginOidcRequest>,
    ) -> Result<Response<BeginOidcResponse>, Status> {
        let ask = ask::of(&request);
        // What a browser dialled only a facade can know.
        let from_facade = request.extensions().get::<Door>() == Some(&Door::Facade);
        let BeginOidcRequest { next, origin } = request.into_inner();
        let origin = Some(origin).filter(|_| from_facade);
        let begun = match self.provider() {
            Ok(oidc) => oidc.begin(&next, origin.as_deref()).await,
            Err(error) => Err(error),
        };
        let begun = begun.map_err(|error| status(self.broker.refuse_unknown(&ask, error)))?;
        Ok(Response::new(BeginOidcResponse {
            authorization_url: begun.authorization_url,
            sealed: begun.sealed.reveal().to_owned(),
        }))
    }

    async fn finish_oidc(
        &self,
        request: Request<FinishOidcRequest>,
    ) -> Result<Response<FinishOidcResponse>, Status> {
        let ask = ask::of(&request);
        let refuse = |error| status(self.broker.refuse_unknown(&ask, error));
        let oidc = self.provider().map_err(refuse)?;
        let (buckets, origin) = (&self.broker.rooms().buckets, ask.origin());
        // Each may ask the provider once; only what brings nobody in costs the source anything.
        buckets.take_sign_in(&origin).map_err(refuse)?;
        let told = request.into_inner();
        let back = Back {
            sealed: Secret::new(told.sealed),
            state: Secret::new(told.state),
            code: Secret::new(told.code),
            error: told.error,
            iss: told.iss,
        };
        let (session, next) = match oidc.finish(back, ask.facade).await {
            Ok(finished) => finished,
            Err(turned) => {
                return Err(match turned.person {
                    Some(person) => status(self.broker.refuse_person(&ask, person, turned.error)),
                    None => refuse(turned.error),
                });
            }
        };
        buckets.give_back_sign_in(&origin);
        Ok(Response::new(FinishOidcResponse {
            token: session.token.reveal().to_owned(),
            expires_at: rfc3339::format(session.expires_us),
            next,
        }))
    }
}

impl Rpc {
    fn provider(&self) -> Result<&Oidc, Error> {
        let none = Error::NotFound(Missing::Resource("provider of sign-ins"));
        self.oidc.as_ref().ok_or(none)
    }
}
