//! `OverviewService`: how the tenant's gateway does right now.

use serde_json::json;
use tonic::{Request, Response, Status};
use toolgate_contract::v1::{
    GetOverviewRequest, GetOverviewResponse, Headroom, RecordState, RefusalFigures, ToolFigures, UplinkCount,
    overview_service_server::OverviewService,
};

use super::Rpc;
use crate::{
    audit::list,
    broker::Caller,
    error::Error,
    figures::{self, Overview, OverviewOfTool},
    identity::Action,
    limits::Use,
    registry, rfc3339,
};

/// Minutes that are told when nothing else is asked.
const USUAL_MINUTES: u32 = 60;

#[tonic::async_trait]
impl OverviewService for Rpc {
    async fn get_overview(
        &self,
        request: Request<GetOverviewRequest>,
    ) -> Result<Response<GetOverviewResponse>, Status> {
        let caller = self.caller(&request, Action::SeeTargets).await?;
        let told = self.overview(&caller, request.into_inner().minutes).await;
        self.answer(&caller, told).await.map(Response::new)
    }
}

impl Rpc {
    async fn overview(&self, caller: &Caller, minutes: Option<u32>) -> Result<GetOverviewResponse, Error> {
        let minutes = minutes.unwrap_or(USUAL_MINUTES);
        if minutes == 0 || minutes > figures::STEPS {
            let what = format!("must be 1 to {}", figures::STEPS);
            return Err(Error::invalid("minutes", what));
        }
        let tenant = &caller.principal().tenant;
        let figures = self.broker.rooms().figures.overview(tenant, minutes);
        Ok(GetOverviewResponse {
            limits: Some(self.headroom(caller)),
            record: Some(self.record_state(caller).await?),
            uplinks: Some(self.uplink_count(caller)),
            ..told(figures)
        })
    }

    fn headroom(&self, caller: &Caller) -> Headroom {
        let me = caller.principal();
        let buckets = &self.broker.rooms().buckets;
        let left = buckets.headroom(Use::Call, &me.tenant, &me.name);
        Headroom {
            user_per_minute: left.user_per_minute,
            user_left: left.user_left,
            tenant_per_minute: left.tenant_per_minute,
            tenant_left: left.tenant_left,
        }
    }

    async fn record_state(&self, caller: &Caller) -> Result<RecordState, Error> {
        let tenant = &caller.principal().tenant;
        let newest = self.broker.rooms().journal.progress().newest(tenant);
        Ok(RecordState {
            seq: list::newest(&self.store, tenant).await?,
            checkpoint_seq: newest.map(|newest| newest.seq),
            checkpoint_at: newest.map(|newest| rfc3339::format(newest.time_us)),
        })
    }

    fn uplink_count(&self, caller: &Caller) -> UplinkCount {
        let mut count = UplinkCount {
            connected: 0,
            total: 0,
        };
        for adapter in registry::RELAYED {
            for target in caller.snapshot.targets_of(adapter) {
                count.total += 1;
                count.connected += u32::from(self.uplinks.is_connected(target.id));
            }
        }
        count
    }
}

fn told(figures: Overview) -> GetOverviewResponse {
    GetOverviewResponse {
        since: rfc3339::format(figures.since_us),
        step_ms: i64::try_from(figures::STEP.as_millis()).unwrap_or(i64::MAX),
        start_ms: figures.start_us / 1_000,
        tools: figures.tools.into_iter().map(told_tool).collect(),
        calls: figures.calls,
        failed: figures.failed,
        refused: figures.refused,
        refusals: figures
            .refusals
            .into_iter()
            .map(|(reason, count)| RefusalFigures {
                reason: reason.name().into(),
                count,
            })
            .collect(),
        ..GetOverviewResponse::default()
    }
}

fn told_tool(tool: OverviewOfTool) -> ToolFigures {
    let p95_ms: Vec<_> = tool
        .p95
        .iter()
        .map(|p95| p95.map(|p95| json!(p95.as_micros() as f64 / 1_000.0)))
        .collect();
    ToolFigures {
        name: tool.name,
        calls: tool.calls,
        p95_ms: json!(p95_ms).to_string().into(),
    }
}
