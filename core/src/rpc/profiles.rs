//! `ProfileService`: the profiles of the contract, the tenant's own, and why a tool is there or not.

use std::borrow::Cow;

use tonic::{Request, Response, Status};
use toolgate_contract::{
    pods,
    registry::{self, PROFILES},
    v1::{
        CreateProfileRequest, CreateProfileResponse, DeleteProfileRequest, DeleteProfileResponse,
        ExplainToolRequest, ExplainToolResponse, GetProfileCostRequest, GetProfileCostResponse,
        GetProfileRequest, GetProfileResponse, ListProfileCostsRequest, ListProfileCostsResponse,
        ListProfilesRequest, ListProfilesResponse, Profile as Told, ResolveProfileForKindRequest,
        ResolveProfileForKindResponse, UpdateProfileRequest, UpdateProfileResponse,
        profile_service_server::ProfileService,
    },
};

use super::{Rpc, ask, manage::by, profile_costs};
use crate::{
    broker::{self, Broker, Caller},
    error::{Error, Missing},
    identity::{Action, Role},
    own_profiles::Definition,
    profiles::{Profile, Stored},
    rfc3339,
    snapshot::Standing,
    why::{self, Brought, Rule},
};

#[tonic::async_trait]
impl ProfileService for Rpc {
    async fn list_profiles(
        &self,
        request: Request<ListProfilesRequest>,
    ) -> Result<Response<ListProfilesResponse>, Status> {
        let caller = self.caller(&request, Action::SeePolicy).await?;
        let own = self.own_profiles.list(&caller.principal().tenant).await;
        let own = self.answer(&caller, own).await?;
        let built_in = PROFILES.iter().filter_map(|told| Profile::built_in(told.name));
        let mut profiles: Vec<_> = built_in.map(|profile| told(&profile, None)).collect();
        profiles.extend(own.iter().map(told_own));
        profiles.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Response::new(ListProfilesResponse { profiles }))
    }

    async fn get_profile(
        &self,
        request: Request<GetProfileRequest>,
    ) -> Result<Response<GetProfileResponse>, Status> {
        let caller = self.caller(&request, Action::SeePolicy).await?;
        let name = request.into_inner().name;
        let found = match Profile::built_in(&name) {
            Some(profile) => Ok(told(&profile, None)),
            None => {
                let own = self.own_profiles.get(&caller.principal().tenant, &name).await;
                own.map(|own| told_own(&own))
            }
        };
        let profile = Some(self.answer(&caller, found).await?);
        Ok(Response::new(GetProfileResponse { profile }))
    }

    async fn create_profile(
        &self,
        request: Request<CreateProfileRequest>,
    ) -> Result<Response<CreateProfileResponse>, Status> {
        let caller = self.caller(&request, Action::ChangeProfiles).await?;
        let CreateProfileRequest {
            name,
            description,
            tools,
            disclosure,
            token_budget,
            result_cap,
        } = request.into_inner();
        let wanted = Definition {
            name,
            description,
            tools,
            disclosure,
            token_budget,
            result_cap,
        };
        let made = self.own_profiles.create(by(&caller), wanted).await;
        let profile = Some(told_own(&self.answer(&caller, made).await?));
        Ok(Response::new(CreateProfileResponse { profile }))
    }

    async fn update_profile(
        &self,
        request: Request<UpdateProfileRequest>,
    ) -> Result<Response<UpdateProfileResponse>, Status> {
        let caller = self.caller(&request, Action::ChangeProfiles).await?;
        let UpdateProfileRequest {
            name,
            description,
            tools,
            disclosure,
            token_budget,
            result_cap,
        } = request.into_inner();
        let wanted = Definition {
            name,
            description,
            tools,
            disclosure,
            token_budget,
            result_cap,
        };
        let now = self.own_profiles.update(by(&caller), wanted).await;
        let profile = Some(told_own(&self.answer(&caller, now).await?));
        Ok(Response::new(UpdateProfileResponse { profile }))
    }

    async fn delete_profile(
        &self,
        request: Request<DeleteProfileRequest>,
    ) -> Result<Response<DeleteProfileResponse>, Status> {
        let caller = self.caller(&request, Action::ChangeProfiles).await?;
        let name = request.into_inner().name;
        let gone = self.own_profiles.delete(by(&caller), &name).await;
        self.answer(&caller, gone).await?;
        Ok(Response::new(DeleteProfileResponse {}))
    }

    async fn resolve_profile_for_kind(
        &self,
        request: Request<ResolveProfileForKindRequest>,
    ) -> Result<Response<ResolveProfileForKindResponse>, Status> {
        // What is asked is in the contract, which everyone has.
        self.caller(&request, Action::SeeSelf).await?;
        let profile = pods::profile_for_kind(&request.into_inner().kind).to_owned();
        Ok(Response::new(ResolveProfileForKindResponse { profile }))
    }

    async fn get_profile_cost(
        &self,
        request: Request<GetProfileCostRequest>,
    ) -> Result<Response<GetProfileCostResponse>, Status> {
        profile_costs::get(self, request).await
    }

    async fn list_profile_costs(
        &self,
        request: Request<ListProfileCostsRequest>,
    ) -> Result<Response<ListProfileCostsResponse>, Status> {
        profile_costs::list(self, request).await
    }

    async fn explain_tool(
        &self,
        request: Request<ExplainToolRequest>,
    ) -> Result<Response<ExplainToolResponse>, Status> {
        let asked = ask::of(&request).profile;
        let whose = request
            .get_ref()
            .token
            .as_deref()
            .filter(|token| !token.is_empty());
        let action = match whose {
            Some(_) => Action::ManageTokens,
            None => Action::SeeSelf,
        };
        let caller = self.caller(&request, action).await?;
        let asked = match (&request.get_ref().profile, whose) {
            (Some(profile), _) => Some(profile.as_str()),
            (None, None) => asked.as_deref(),
            (None, Some(_)) => None,
        };
        let stands = match whose {
            None => {
                let principal = caller.principal();
                Ok((
                    principal.role,
                    self.standing(&caller, principal.pinned.as_ref(), asked),
                ))
            }
            Some(token) => self.standing_of(&caller, token, asked),
        };
        let (role, standing) = self.answer(&caller, stands).await?;
        let name = &request.get_ref().tool;
        let mut why = why::explain(&caller.snapshot, role, &standing, name);
        if why.rule == Rule::NotRegistered
            && let Some(brought) = brought(&self.broker, &caller, whose.is_none(), name)
        {
            why = brought.why(&standing);
        }
        Ok(Response::new(ExplainToolResponse {
            verdict: why.verdict.as_str().into(),
            rule: why.rule.as_str().into(),
            sentence: why.sentence,
            tool: why.tool.map(Cow::into_owned),
            profile: standing.profile.map(|profile| profile.name.to_string()),
        }))
    }
}

impl Rpc {
    fn standing(
        &self,
        caller: &Caller,
        pinned: Option<&std::sync::Arc<Profile>>,
        asked: Option<&str>,
    ) -> Standing {
        let rule = self.broker.rooms().unknown_profiles.rule();
        caller.snapshot.standing(pinned, asked, rule)
    }

    fn standing_of(
        &self,
        caller: &Caller,
        token: &str,
        asked: Option<&str>,
    ) -> Result<(Role, Standing), Error> {
        let now_us = self.broker.rooms().clock.wall_us();
        let token = caller
            .snapshot
            .token_named(token, now_us)
            .ok_or(Error::NotFound(Missing::Resource("live token")))?;
        Ok((token.role, self.standing(caller, token.profile.as_ref(), asked)))
    }
}

/// The tool of this name that projects of the tenant bring. Whose list it is in is looked up for the caller, and is the
/// tenant's default for the bearers of other tokens.
fn brought(broker: &Broker, caller: &Caller, is_own: bool, name: &str) -> Option<Brought> {
    let rooms = broker.rooms();
    let current = broker::shown(rooms, caller, is_own).map(|project| project.id);
    let found = caller.snapshot.projects().filter_map(|project| {
        let list = rooms.fleet.list(project)?;
        let tool = list.find(name)?.clone();
        let kept = !project.may_write() && !tool.tool.read_only;
        Some((project, tool, kept))
    });
    let mut found: Vec<_> = found.collect();
    // A call can choose; the current one is chosen where none is.
    found.sort_by_key(|(project, _, kept)| (current != Some(project.id), *kept));
    let (first, tool, kept) = found.first()?;
    let is_current = current == Some(first.id);
    let others = found.iter().filter(|(_, _, each)| is_current || each == kept);
    Some(Brought {
        name: tool.name.to_string(),
        is_current,
        is_kept_from_writing: *kept,
        projects: others.map(|(project, ..)| project.name.clone()).collect(),
    })
}

fn told_own(own: &Stored) -> Told {
    told(&own.profile, Some(own.updated_us))
}

fn told(profile: &Profile, updated_us: Option<i64>) -> Told {
    let kinds = registry::profile(&profile.name).map_or(&[][..], |told| told.task_kinds);
    Told {
        name: profile.name.to_string(),
        description: profile.description.clone(),
        tools: profile.parts().into_iter().map(str::to_owned).collect(),
        built_in: profile.built_in,
        task_kinds: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
        disclosure: profile.disclosure.as_str().into(),
        token_budget: profile.token_budget,
        result_cap: profile.result_cap,
        updated_at: updated_us.map(rfc3339::format),
    }
}
