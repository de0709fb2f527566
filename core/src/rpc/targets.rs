//! `TargetService`: the configured upstreams.

mod test;

use tonic::{Request, Response, Status};
use toolgate_contract::v1::{
    CreateEnrolmentRequest, CreateEnrolmentResponse, CreateTargetRequest, CreateTargetResponse,
    DeleteTargetRequest, DeleteTargetResponse, Enrolment as ToldEnrolment, GetTargetRequest,
    GetTargetResponse, ListTargetsRequest, ListTargetsResponse, RevokeRelayRequest, RevokeRelayResponse,
    Stage, Target as Told, TestTargetRequest, TestTargetResponse, UpdateTargetRequest, UpdateTargetResponse,
    Validation, target_service_server::TargetService,
};

use super::{Rpc, ask, manage::by, status};
use crate::{
    identity::Action,
    pages::Page,
    rfc3339,
    targets::{Edit, Enrolment, Target, Wanted},
};

#[tonic::async_trait]
impl TargetService for Rpc {
    async fn create_target(
        &self,
        request: Request<CreateTargetRequest>,
    ) -> Result<Response<CreateTargetResponse>, Status> {
        let caller = self.caller(&request, Action::ChangeTargets).await?;
        let CreateTargetRequest {
            r#type: adapter,
            name,
            config,
            credential,
        } = request.into_inner();
        let wanted = Wanted {
            adapter,
            name,
            config,
            credential,
        };
        let created = self.targets.create(by(&caller), wanted).await;
        let (target, enrolment) = self.answer(&caller, created).await?;
        let enrolment = enrolment.as_ref().map(told_enrolment);
        let target = Some(self.told(target));
        Ok(Response::new(CreateTargetResponse { target, enrolment }))
    }

    async fn list_targets(
        &self,
        request: Request<ListTargetsRequest>,
    ) -> Result<Response<ListTargetsResponse>, Status> {
        let caller = self.caller(&request, Action::SeeTargets).await?;
        let ListTargetsRequest {
            page_size,
            page_token,
            r#type: adapter,
        } = request.into_inner();
        let listed = match Page::asked(page_size, page_token.as_deref()) {
            Ok(page) => self.targets.list(&by(&caller), adapter.as_deref(), page).await,
            Err(error) => Err(error),
        };
        let (targets, next_page_token) = self.answer(&caller, listed).await?;
        let targets = targets.into_iter().map(|target| self.told(target)).collect();
        Ok(Response::new(ListTargetsResponse {
            targets,
            next_page_token,
        }))
    }

    async fn get_target(
        &self,
        request: Request<GetTargetRequest>,
    ) -> Result<Response<GetTargetResponse>, Status> {
        let caller = self.caller(&request, Action::SeeTargets).await?;
        let found = self.targets.get(&by(&caller), &request.into_inner().id).await;
        let target = self.answer(&caller, found).await?;
        Ok(Response::new(GetTargetResponse {
            target: Some(self.told(target)),
        }))
    }

    async fn update_target(
        &self,
        request: Request<UpdateTargetRequest>,
    ) -> Result<Response<UpdateTargetResponse>, Status> {
        let caller = self.caller(&request, Action::ChangeTargets).await?;
        let UpdateTargetRequest {
            id,
            name,
            config,
            credential,
            disabled,
        } = request.into_inner();
        let edit = Edit {
            name,
            config,
            credential,
            disabled,
        };
        let updated = self.targets.update(by(&caller), &id, edit).await;
        let target = self.answer(&caller, updated).await?;
        Ok(Response::new(UpdateTargetResponse {
            target: Some(self.told(target)),
        }))
    }

    async fn delete_target(
        &self,
        request: Request<DeleteTargetRequest>,
    ) -> Result<Response<DeleteTargetResponse>, Status> {
        let caller = self.caller(&request, Action::ChangeTargets).await?;
        let deleted = self.targets.delete(by(&caller), &request.into_inner().id).await;
        self.answer(&caller, deleted).await?;
        Ok(Response::new(DeleteTargetResponse {}))
    }

    async fn test_target(
        &self,
        request: Request<TestTargetRequest>,
    ) -> Result<Response<TestTargetResponse>, Status> {
        let ask = ask::of(&request);
        let clock = &self.broker.rooms().clock;
        let started = clock.monotonic();
        let outcome = self.broker.test(&ask, &request.into_inner().id).await;
        let took = clock.monotonic().saturating_sub(started);
        test::told(outcome, took).map(Response::new).map_err(status)
    }

    async fn create_enrolment(
        &self,
        request: Request<CreateEnrolmentRequest>,
    ) -> Result<Response<CreateEnrolmentResponse>, Status> {
        let caller = self.caller(&request, Action::ChangeTargets).await?;
        let minted = self.targets.enrol(by(&caller), &request.into_inner().id).await;
        let enrolment = self.answer(&caller, minted).await?;
        Ok(Response::new(CreateEnrolmentResponse {
            enrolment: Some(told_enrolment(&enrolment)),
        }))
    }

    async fn revoke_relay(
        &self,
        request: Request<RevokeRelayRequest>,
    ) -> Result<Response<RevokeRelayResponse>, Status> {
        let caller = self.caller(&request, Action::ChangeTargets).await?;
        let revoked = self
            .targets
            .revoke_relay(by(&caller), &request.into_inner().id)
            .await;
        self.answer(&caller, revoked).await?;
        Ok(Response::new(RevokeRelayResponse {}))
    }
}

impl Rpc {
    fn told(&self, target: Target) -> Told {
        let status = self.targets.status(&target).to_owned();
        Told {
            id: target.id.to_string(),
            r#type: target.adapter,
            name: target.name,
            config: target.config.to_string().into(),
            status,
            validation: Some(told_validation(&target.validation)),
            created_at: rfc3339::format(target.created_us),
            updated_at: rfc3339::format(target.updated_us),
        }
    }
}

// Stored by this gateway; what an older one left out is empty.
fn told_validation(stored: &serde_json::Value) -> Validation {
    let text = |value: Option<&serde_json::Value>| value.and_then(|it| it.as_str()).map(str::to_owned);
    let list = |name: &str| {
        stored
            .get(name)
            .and_then(|it| it.as_array())
            .into_iter()
            .flatten()
    };
    let stage = |stage: &serde_json::Value| Stage {
        name: text(stage.get("name")).unwrap_or_default(),
        ok: stage
            .get("ok")
            .and_then(serde_json::Value::as_bool)
            .unwrap_or_default(),
        ms: stage
            .get("ms")
            .and_then(serde_json::Value::as_i64)
            .unwrap_or_default(),
        reason: text(stage.get("reason")),
    };
    let texts = |name: &str| list(name).filter_map(|it| text(Some(it))).collect();
    let checked = stored.get("checkedUs").and_then(serde_json::Value::as_i64);
    Validation {
        verdict: text(stored.get("verdict")).unwrap_or_default(),
        stages: list("stages").map(stage).collect(),
        not_provable: texts("notProvable"),
        proven: texts("proven"),
        wider: texts("wider"),
        checked_at: checked.map(rfc3339::format),
    }
}

pub(super) fn told_enrolment(enrolment: &Enrolment) -> ToldEnrolment {
    ToldEnrolment {
        token: enrolment.token.reveal().to_owned(),
        command: enrolment.command.reveal().to_owned(),
        expires_at: rfc3339::format(enrolment.expires_us),
    }
}
