//! `ProfileService`: the profiles of the contract.

use tonic::{Request, Response, Status};
use toolgate_contract::{
    registry::{PROFILES, ProfileDef, profile},
    v1::{
        GetProfileRequest, GetProfileResponse, ListProfilesRequest, ListProfilesResponse, Profile,
        profile_service_server::ProfileService,
    },
};

use super::{Rpc, ask, status};
use crate::{
    error::{Error, Missing},
    identity::Action,
};

#[tonic::async_trait]
impl ProfileService for Rpc {
    async fn list_profiles(
        &self,
        request: Request<ListProfilesRequest>,
    ) -> Result<Response<ListProfilesResponse>, Status> {
        self.broker
            .caller(&ask::of(&request), Action::SeePolicy)
            .await
            .map_err(status)?;
        Ok(Response::new(ListProfilesResponse {
            profiles: PROFILES.iter().map(message).collect(),
        }))
    }

    async fn get_profile(
        &self,
        request: Request<GetProfileRequest>,
    ) -> Result<Response<GetProfileResponse>, Status> {
        let caller = self
            .broker
            .caller(&ask::of(&request), Action::SeePolicy)
            .await
            .map_err(status)?;
        match profile(&request.into_inner().name) {
            Some(found) => Ok(Response::new(GetProfileResponse {
                profile: Some(message(found)),
            })),
            None => Err(status(
                self.broker
                    .refuse(&caller, Error::NotFound(Missing::Resource("profile")))
                    .await,
            )),
        }
    }
}

fn message(profile: &ProfileDef) -> Profile {
    Profile {
        name: profile.name.into(),
        description: profile.description.into(),
        tools: profile.tools.iter().map(|tool| (*tool).to_owned()).collect(),
    }
}
