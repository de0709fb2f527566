//! `AuditService`: the record, listed, verified and exported.

use data_encoding::HEXLOWER;
use futures::{Stream, TryStreamExt, stream};
use serde_json::json;
use tonic::{Request, Response, Status};
use toolgate_contract::{
    ids::EventId,
    v1::{
        AuditEvent, ExportCheckpointsRequest, ExportCheckpointsResponse, ExportEventsRequest,
        ExportEventsResponse, ListEventsRequest, ListEventsResponse, VerifyAuditRequest, VerifyAuditResponse,
        audit_service_server::AuditService,
    },
};

use super::{Rpc, manage::by, status};
use crate::{
    audit::{
        Event, EventKind, Outcome,
        export::{Export, Format},
        list::{self, Cursor, Entry, Filter, LONGEST_PAGE},
        verify::Verification,
    },
    broker::{Caller, Failed},
    changes::By,
    error::Error,
    identity::Action,
    proof::{Evidence, Extent},
    rfc3339,
    store::StoreError,
    telemetry,
};

/// Events of a page, when nothing else is asked.
const USUAL_PAGE: u32 = 100;

#[tonic::async_trait]
impl AuditService for Rpc {
    async fn list_events(
        &self,
        request: Request<ListEventsRequest>,
    ) -> Result<Response<ListEventsResponse>, Status> {
        let caller = self.caller(&request, Action::ReadOwnCalls).await?;
        let listed = self.list(&caller, request.into_inner()).await;
        self.answer(&caller, listed).await.map(Response::new)
    }

    async fn verify_audit(
        &self,
        request: Request<VerifyAuditRequest>,
    ) -> Result<Response<VerifyAuditResponse>, Status> {
        let caller = self.caller(&request, Action::ReadRecord).await?;
        let extent = match request.into_inner().incremental {
            Some(true) => Extent::Since,
            Some(false) | None => Extent::Whole,
        };
        let verified = self.verify(by(&caller), extent).await;
        self.answer(&caller, verified).await.map(Response::new)
    }

    type ExportEventsStream =
        std::pin::Pin<Box<dyn Stream<Item = Result<ExportEventsResponse, Status>> + Send>>;

    async fn export_events(
        &self,
        request: Request<ExportEventsRequest>,
    ) -> Result<Response<Self::ExportEventsStream>, Status> {
        let caller = self.caller(&request, Action::ReadRecord).await?;
        let after = match place(request.into_inner().after_seq) {
            Ok(after) => after,
            Err(error) => return self.answer(&caller, Err(error)).await,
        };
        let tenant = caller.principal().tenant.clone();
        let export = Export::new(self.store.clone(), tenant, after, Format::Ndjson);
        let next = async |mut export: Export| {
            let chunk = export.next_chunk().await?;
            Ok(chunk.map(|chunk| (chunk, export)))
        };
        let pieces = stream::try_unfold(export, next).map_ok(|chunk| ExportEventsResponse { chunk });
        Ok(Response::new(Box::pin(pieces.map_err(cut))))
    }

    type ExportCheckpointsStream =
        std::pin::Pin<Box<dyn Stream<Item = Result<ExportCheckpointsResponse, Status>> + Send>>;

    async fn export_checkpoints(
        &self,
        request: Request<ExportCheckpointsRequest>,
    ) -> Result<Response<Self::ExportCheckpointsStream>, Status> {
        let caller = self.caller(&request, Action::ReadRecord).await?;
        let after = match place(request.into_inner().after_seq) {
            Ok(after) => after,
            Err(error) => return self.answer(&caller, Err(error)).await,
        };
        let evidence = self.records.evidence(&caller.principal().tenant, after).await;
        let evidence = self.answer(&caller, evidence.map_err(Error::from)).await?;
        let next = async |mut evidence: Evidence| {
            let chunk = evidence.next_chunk().await?;
            Ok(chunk.map(|chunk| (chunk, evidence)))
        };
        let pieces = stream::try_unfold(evidence, next).map_ok(|chunk| ExportCheckpointsResponse { chunk });
        Ok(Response::new(Box::pin(pieces.map_err(cut))))
    }
}

fn place(after: Option<i64>) -> Result<i64, Error> {
    match after.unwrap_or(0) {
        after if after >= 0 => Ok(after),
        _ => Err(Error::invalid("after_seq", "must be 0 or more")),
    }
}

// A failure in the midst; the pieces are pulled by the transport, so a slow reader holds one batch.
fn cut(error: StoreError) -> Status {
    status(Failed {
        call: None,
        error: error.into(),
    })
}

impl Rpc {
    async fn list(&self, caller: &Caller, asked: ListEventsRequest) -> Result<ListEventsResponse, Error> {
        let size = asked.page_size.unwrap_or(USUAL_PAGE);
        if size == 0 || size > LONGEST_PAGE {
            return Err(Error::invalid(
                "page_size",
                format!("must be 1 to {LONGEST_PAGE}"),
            ));
        }
        let cursor = asked
            .cursor
            .as_deref()
            .filter(|text| !text.is_empty())
            .map(cursor)
            .transpose()?;
        let tenant = &caller.principal().tenant;
        let Some(filter) = filter(caller, asked)? else {
            return Ok(ListEventsResponse::default());
        };
        let listing = list::list(&self.store, tenant, &filter, cursor, size).await?;
        Ok(ListEventsResponse {
            events: listing
                .entries
                .into_iter()
                .map(|entry| told(tenant.as_str(), entry))
                .collect(),
            next_cursor: listing.next.map(|cursor| cursor.to_string()).unwrap_or_default(),
        })
    }

    async fn verify(&self, by: By, extent: Extent) -> Result<VerifyAuditResponse, Error> {
        let rooms = self.broker.rooms();
        let started = rooms.clock.monotonic();
        let found = self.records.verify(&by.tenant, extent).await?;
        let took = rooms.clock.monotonic().saturating_sub(started);
        telemetry::verified(found.verdict.as_str(), found.rows, took);
        let took_ms = i64::try_from(took.as_millis()).unwrap_or(i64::MAX);
        let event = verified(&by, &found, rooms.clock.wall_us(), took_ms);
        rooms.journal.record(&by.tenant, event).await?;
        Ok(VerifyAuditResponse {
            verdict: found.verdict.as_str().into(),
            rows: found.rows,
            seq: found.seq,
            message: found.message,
            head_hash: HEXLOWER.encode(&found.head.hash),
            from_seq: found.from,
            through_seq: found.head.seq,
            checkpoints: found.checkpoints,
            checkpoint_seq: found.covered,
        })
    }
}

// Who may not read the whole record reads what it did itself, whatever it asks for.
fn filter(caller: &Caller, asked: ListEventsRequest) -> Result<Option<Filter>, Error> {
    let mut principal = asked.principal;
    let me = caller.principal();
    if !me.role.may(Action::ReadRecord) {
        if principal
            .as_deref()
            .is_some_and(|other| other != me.name.as_ref())
        {
            return Ok(None);
        }
        principal = Some(me.name.as_ref().to_owned());
    }
    let time = |place: &'static str, text: Option<String>| {
        text.map(|text| rfc3339::parse(&text).map_err(|error| Error::invalid(place, error.to_string())))
            .transpose()
    };
    Ok(Some(Filter {
        since_us: time("since", asked.since)?,
        until_us: time("until", asked.until)?,
        principal,
        capability: asked.tool,
        target_id: id("target_id", asked.target_id)?,
        result: asked
            .result
            .map(|text| named("result", &text, Outcome::parse, Outcome::ALL, Outcome::as_str))
            .transpose()?,
        correlation_id: id("correlation_id", asked.correlation_id)?,
        kind: asked
            .event
            .map(|text| {
                named(
                    "event",
                    &text,
                    EventKind::parse,
                    EventKind::ALL,
                    EventKind::as_str,
                )
            })
            .transpose()?,
    }))
}

fn id<T: std::str::FromStr>(place: &'static str, text: Option<String>) -> Result<Option<T>, Error> {
    text.map(|text| {
        text.parse()
            .map_err(|_| Error::invalid(place, "is no id: an id has 26 characters"))
    })
    .transpose()
}

fn named<T: Copy>(
    place: &'static str,
    text: &str,
    parse: impl Fn(&str) -> Option<T>,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T, Error> {
    parse(text).ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|value| name(*value)).collect();
        Error::invalid(place, format!("must be one of {}", names.join(", ")))
    })
}

fn cursor(text: &str) -> Result<Cursor, Error> {
    text.parse()
        .map_err(|error: list::InvalidCursor| Error::invalid("cursor", error.to_string()))
}

fn told(tenant: &str, entry: Entry) -> AuditEvent {
    let Ok(event) = entry.event else {
        // A row that cannot be read is shown as what it is: its place, and nothing that it claims.
        return AuditEvent {
            seq: entry.seq,
            tenant_id: tenant.into(),
            ..AuditEvent::default()
        };
    };
    AuditEvent {
        seq: entry.seq,
        event: event.kind.as_str().into(),
        time: rfc3339::format(event.time_us),
        tenant_id: tenant.into(),
        principal: event.principal,
        role: event.role,
        facade: event.facade,
        adapter_type: event.adapter_type,
        target_id: event.target_id.map(|id| id.to_string()).unwrap_or_default(),
        capability: event.capability,
        params_hash: event
            .params_hash
            .map(|hash| HEXLOWER.encode(&hash))
            .unwrap_or_default(),
        result: event.result.as_str().into(),
        reason: event.reason,
        duration_ms: event.duration_ms,
        correlation_id: event.correlation_id.map(|id| id.to_string()).unwrap_or_default(),
        detail: event.detail.into(),
    }
}

fn verified(by: &By, found: &Verification, time_us: i64, duration_ms: i64) -> Event {
    // An incremental verification goes on from this head.
    let detail = json!({
        "verdict": found.verdict.as_str(),
        "rows": found.rows,
        "seq": found.seq,
        "from": found.from,
        "headSeq": found.head.seq,
        "headHash": HEXLOWER.encode(&found.head.hash),
        "checkpoints": found.checkpoints,
        "checkpointSeq": found.covered,
    });
    Event {
        id: EventId::mint(),
        kind: EventKind::AuditVerified,
        time_us,
        principal: by.principal.clone(),
        role: by.role.to_owned(),
        facade: by.facade.to_owned(),
        adapter_type: String::new(),
        target_id: None,
        capability: String::new(),
        params_hash: None,
        result: if found.is_intact() {
            Outcome::Success
        } else {
            Outcome::Failure
        },
        reason: String::new(),
        duration_ms,
        correlation_id: None,
        detail: detail.to_string(),
    }
}
