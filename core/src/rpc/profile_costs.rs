//! What profiles cost a model, of the contract's and of the tenant's own.

use std::sync::Arc;

use tonic::{Request, Response, Status};
use toolgate_contract::{
    ids::TenantId,
    registry::PROFILES,
    v1::{
        GetProfileCostRequest, GetProfileCostResponse, ListProfileCostsRequest, ListProfileCostsResponse,
        ProfileCost as Told, ToolCost,
    },
};

use super::Rpc;
use crate::{
    error::Error,
    identity::Action,
    profiles::Profile,
    token_cost::{self, ProfileCost},
};

/// The name that stands for no profile.
const ALL: &str = "all";

pub(super) async fn get(
    rpc: &Rpc,
    request: Request<GetProfileCostRequest>,
) -> Result<Response<GetProfileCostResponse>, Status> {
    let caller = rpc.caller(&request, Action::SeePolicy).await?;
    let name = request.into_inner().name;
    let found = async {
        let profile = named(rpc, &caller.principal().tenant, &name).await?;
        let cost = token_cost::of_profile(profile.as_deref()).await?;
        Ok((profile, cost))
    };
    let (profile, cost) = rpc.answer(&caller, found.await).await?;
    Ok(Response::new(GetProfileCostResponse {
        cost: Some(told(profile.as_deref(), &cost)),
        tools: dearest_first(&cost),
    }))
}

pub(super) async fn list(
    rpc: &Rpc,
    request: Request<ListProfileCostsRequest>,
) -> Result<Response<ListProfileCostsResponse>, Status> {
    let caller = rpc.caller(&request, Action::SeePolicy).await?;
    let all = async {
        let mut profiles: Vec<_> = PROFILES
            .iter()
            .filter_map(|told| Profile::built_in(told.name))
            .collect();
        let own = rpc.own_profiles.list(&caller.principal().tenant).await?;
        profiles.extend(own.into_iter().map(|own| own.profile));
        profiles.sort_by(|one, other| one.name.cmp(&other.name));
        let mut costs = vec![told(None, &token_cost::of_profile(None).await?)];
        for profile in &profiles {
            costs.push(told(Some(profile), &token_cost::of_profile(Some(profile)).await?));
        }
        Ok(costs)
    };
    let costs = rpc.answer(&caller, all.await).await?;
    Ok(Response::new(ListProfileCostsResponse { costs }))
}

async fn named(rpc: &Rpc, tenant: &TenantId, name: &str) -> Result<Option<Arc<Profile>>, Error> {
    if name == ALL {
        return Ok(None);
    }
    match Profile::built_in(name) {
        Some(profile) => Ok(Some(profile)),
        None => Ok(Some(rpc.own_profiles.get(tenant, name).await?.profile)),
    }
}

fn told(profile: Option<&Profile>, cost: &ProfileCost) -> Told {
    Told {
        profile: profile.map_or_else(|| ALL.to_owned(), |profile| profile.name.to_string()),
        tool_count: u32::try_from(cost.tools.len()).unwrap_or(u32::MAX),
        tokens: cost.tokens,
        all_tokens: cost.all_tokens,
        saved_tokens: cost.saved_tokens(),
        listed_tokens: cost.listed_tokens,
        search_tokens: cost.search_tokens,
        token_budget: profile.and_then(|profile| profile.token_budget),
    }
}

fn dearest_first(cost: &ProfileCost) -> Vec<ToolCost> {
    let mut tools = cost.tools.clone();
    tools.sort_by(|(one, cheap), (other, dear)| dear.cmp(cheap).then_with(|| one.cmp(other)));
    tools
        .into_iter()
        .map(|(name, tokens)| ToolCost {
            name: name.to_owned(),
            tokens,
        })
        .collect()
}
