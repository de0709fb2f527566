//! `PolicyService`: which tools are off.

use tonic::{Request, Response, Status};
use toolgate_contract::v1::{
    GetPolicyRequest, GetPolicyResponse, UpdatePolicyRequest, UpdatePolicyResponse,
    policy_service_server::PolicyService,
};

use super::{Rpc, manage::by};
use crate::identity::Action;

#[tonic::async_trait]
impl PolicyService for Rpc {
    async fn get_policy(
        &self,
        request: Request<GetPolicyRequest>,
    ) -> Result<Response<GetPolicyResponse>, Status> {
        let caller = self.caller(&request, Action::SeePolicy).await?;
        let policy = self.policies.get(&caller.principal().tenant).await;
        let disabled_tools = self.answer(&caller, policy).await?;
        Ok(Response::new(GetPolicyResponse { disabled_tools }))
    }

    async fn update_policy(
        &self,
        request: Request<UpdatePolicyRequest>,
    ) -> Result<Response<UpdatePolicyResponse>, Status> {
        let caller = self.caller(&request, Action::ChangePolicy).await?;
        let policy = self
            .policies
            .update(by(&caller), &request.into_inner().disabled_tools)
            .await;
        let disabled_tools = self.answer(&caller, policy).await?;
        Ok(Response::new(UpdatePolicyResponse { disabled_tools }))
    }
}
