//! `TargetService`: the configured upstreams.

mod test;

use tonic::{Request, Response, Status};
use toolgate_contract::v1::{
    CreateEnrolmentRequest, CreateEnrolmentResponse, CreateTargetRequest, CreateTargetResponse,
    DeleteTargetRequest, DeleteTargetResponse, Enrolment as ToldEnrolment, GetTargetRequest,
    GetTargetResponse, LastTest as ToldTest, ListTargetTypesRequest, ListTargetTypesResponse,
    ListTargetsRequest, ListTargetsResponse, RevokeRelayRequest, RevokeRelayResponse, Stage, Target as Told,
    TargetType as ToldType, TestTargetRequest, TestTargetResponse, UpdateTargetRequest, UpdateTargetResponse,
    Validation, target_service_server::TargetService,
};

use super::{Rpc, ask, manage::by, status};
use crate::{
    identity::Action,
    pages::Page,
    rfc3339,
    targets::{Edit, Enrolment, LastTest, Target, TargetType, Wanted},
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

    async fn list_target_types(
        &self,
        request: Request<ListTargetTypesRequest>,
    ) -> Result<Response<ListTargetTypesResponse>, Status> {
        self.caller(&request, Action::SeeTargets).await?;
        let types = self.targets.forms().into_iter().map(told_type).collect();
        Ok(Response::new(ListTargetTypesResponse { types }))
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
        let id = request.into_inner().id;
        let outcome = self.broker.test(&ask, &id).await;
        let took = clock.monotonic().saturating_sub(started);
        let told = test::told(outcome, took).map_err(status)?;
        // What was tested is a target of the caller's tenant, or there were no answer.
        if let Ok(id) = id.parse() {
            self.targets.tested(id, told.ok, told.stages.clone());
        }
        Ok(Response::new(told))
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
        let last_test = self.targets.last_test(&target).map(told_test);
        Told {
            id: target.id.to_string(),
            r#type: target.adapter,
            name: target.name,
            config: target.config.to_string().into(),
            status,
            validation: Some(told_validation(&target.validation)),
            created_at: rfc3339::format(target.created_us),
            updated_at: rfc3339::format(target.updated_us),
            last_test,
        }
    }
}

fn told_test(test: LastTest) -> ToldTest {
    ToldTest {
        at: rfc3339::format(test.at_us),
        ok: test.ok,
        stages: test.stages,
    }
}

fn told_type(of: TargetType) -> ToldType {
    ToldType {
        r#type: of.def.name.into(),
        title: of.def.title.into(),
        description: of.def.description.into(),
        name_schema: of.def.name_schema.into(),
        config_schema: of.config.into(),
        credential_schema: of.credential.into(),
        tools: of.tools.into_iter().map(str::to_owned).collect(),
        relay: of.def.relay,
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
        pointer: text(stage.get("pointer")),
    };
    let texts = |name: &str| list(name).filter_map(|it| text(Some(it))).collect();
    let checked = stored.get("checkedUs").and_then(serde_json::Value::as_i64);
    let fact = |name: &str| text(stored.get("facts").and_then(|facts| facts.get(name)));
    let version = fact("version").or_else(|| fact("enterpriseVersion"));
    Validation {
        verdict: text(stored.get("verdict")).unwrap_or_default(),
        stages: list("stages").map(stage).collect(),
        not_provable: texts("notProvable"),
        proven: texts("proven"),
        wider: texts("wider"),
        checked_at: checked.map(rfc3339::format),
        version: version.filter(|version| version != "unknown"),
        expires_at: fact("expiresAt"),
    }
}

pub(super) fn told_enrolment(enrolment: &Enrolment) -> ToldEnrolment {
    ToldEnrolment {
        token: enrolment.token.reveal().to_owned(),
        command: enrolment.command.reveal().to_owned(),
        expires_at: rfc3339::format(enrolment.expires_us),
    }
}
