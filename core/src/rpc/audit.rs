//! `AuditService`: the record, listed, verified and exported.

mod filter;
mod told;
mod watched;

use data_encoding::HEXLOWER;
use futures::{Stream, TryStreamExt, stream};
use serde_json::json;
use tonic::{Request, Response, Status};
use toolgate_contract::{
    ids::EventId,
    v1::{
        CoveringCheckpoint, ExportArchiveRequest, ExportArchiveResponse, ExportCheckpointsRequest,
        ExportCheckpointsResponse, ExportEventsRequest, ExportEventsResponse, GetEventRequest,
        GetEventResponse, ListEventsRequest, ListEventsResponse, StreamVerificationRequest,
        StreamVerificationResponse, VerifyAuditRequest, VerifyAuditResponse,
        audit_service_server::AuditService,
    },
};

use self::{
    filter::{cursor, filter, named},
    told::told,
    watched::Watched,
};
use super::{Rpc, manage::by, status};
use crate::{
    audit::{
        Event, EventKind, Outcome,
        export::{Export, Format},
        list::{self, Entry, LONGEST_PAGE},
        verify::{Telling, Verification},
    },
    broker::{Caller, Failed},
    changes::By,
    error::{Error, Missing},
    identity::Action,
    limits::Place,
    proof::{Archive, Evidence, Extent},
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

    async fn get_event(
        &self,
        request: Request<GetEventRequest>,
    ) -> Result<Response<GetEventResponse>, Status> {
        let caller = self.caller(&request, Action::ReadOwnCalls).await?;
        let found = self.held(&caller, request.into_inner().seq).await;
        self.answer(&caller, found).await.map(Response::new)
    }

    async fn verify_audit(
        &self,
        request: Request<VerifyAuditRequest>,
    ) -> Result<Response<VerifyAuditResponse>, Status> {
        let caller = self.caller(&request, Action::ReadRecord).await?;
        let extent = extent(request.into_inner().incremental);
        let place = self.verifications.take(&caller.principal().tenant, None);
        let _place = self.answer(&caller, place).await?;
        let verified = self.verify(by(&caller), extent, None).await;
        self.answer(&caller, verified).await.map(Response::new)
    }

    type StreamVerificationStream =
        std::pin::Pin<Box<dyn Stream<Item = Result<StreamVerificationResponse, Status>> + Send>>;

    async fn stream_verification(
        &self,
        request: Request<StreamVerificationRequest>,
    ) -> Result<Response<Self::StreamVerificationStream>, Status> {
        let caller = self.caller(&request, Action::ReadRecord).await?;
        let extent = extent(request.into_inner().incremental);
        let place = self.verifications.take(&caller.principal().tenant, None);
        let place = self.answer(&caller, place).await?;
        let watched = Watched::begin(self.clone(), by(&caller), extent, place);
        let next = async |mut watched: Watched| {
            let line = watched.next_line().await?;
            Ok(line.map(|line| (line, watched)))
        };
        let lines = stream::try_unfold(watched, next).map_ok(|chunk| StreamVerificationResponse { chunk });
        Ok(Response::new(Box::pin(lines)))
    }

    type ExportEventsStream =
        std::pin::Pin<Box<dyn Stream<Item = Result<ExportEventsResponse, Status>> + Send>>;

    async fn export_events(
        &self,
        request: Request<ExportEventsRequest>,
    ) -> Result<Response<Self::ExportEventsStream>, Status> {
        let caller = self.caller(&request, Action::ReadRecord).await?;
        let ExportEventsRequest { after_seq, format } = request.into_inner();
        let asked = place(after_seq).and_then(|after| Ok((after, form(format.as_deref())?)));
        let (after, format) = self.answer(&caller, asked).await?;
        let place = self.place_of_export(&caller).await?;
        let tenant = caller.principal().tenant.clone();
        let export = Export::new(self.store.clone(), tenant, after, format);
        let next = async |(mut export, kind): (Export, &'static str)| {
            let chunk = export.next_chunk().await?;
            let content_type = kind.to_owned();
            // Told with the first piece; the rest of them needs it no more.
            Ok(chunk.map(|chunk| (ExportEventsResponse { chunk, content_type }, (export, ""))))
        };
        let pieces = stream::try_unfold((export, content_type(format)), next);
        Ok(Response::new(Box::pin(held(pieces.map_err(cut), place))))
    }

    type ExportArchiveStream =
        std::pin::Pin<Box<dyn Stream<Item = Result<ExportArchiveResponse, Status>> + Send>>;

    async fn export_archive(
        &self,
        request: Request<ExportArchiveRequest>,
    ) -> Result<Response<Self::ExportArchiveStream>, Status> {
        let caller = self.caller(&request, Action::ReadRecord).await?;
        let place = self.place_of_export(&caller).await?;
        let archive = self.archive(&caller, request.into_inner()).await;
        let archive = self.answer(&caller, archive).await?;
        let next = async |mut archive: Archive| {
            let chunk = archive.next_chunk().await?;
            Ok(chunk.map(|chunk| (chunk, archive)))
        };
        let pieces = stream::try_unfold(archive, next).map_ok(|chunk| ExportArchiveResponse { chunk });
        Ok(Response::new(Box::pin(held(pieces.map_err(cut), place))))
    }

    type ExportCheckpointsStream =
        std::pin::Pin<Box<dyn Stream<Item = Result<ExportCheckpointsResponse, Status>> + Send>>;

    async fn export_checkpoints(
        &self,
        request: Request<ExportCheckpointsRequest>,
    ) -> Result<Response<Self::ExportCheckpointsStream>, Status> {
        let caller = self.caller(&request, Action::ReadRecord).await?;
        let after = place(request.into_inner().after_seq);
        let after = self.answer(&caller, after).await?;
        let place = self.place_of_export(&caller).await?;
        let evidence = self.records.evidence(&caller.principal().tenant, after).await;
        let evidence = self.answer(&caller, evidence.map_err(Error::from)).await?;
        let next = async |mut evidence: Evidence| {
            let chunk = evidence.next_chunk().await?;
            Ok(chunk.map(|chunk| (chunk, evidence)))
        };
        let pieces = stream::try_unfold(evidence, next).map_ok(|chunk| ExportCheckpointsResponse { chunk });
        Ok(Response::new(Box::pin(held(pieces.map_err(cut), place))))
    }
}

fn place(after: Option<i64>) -> Result<i64, Error> {
    match after.unwrap_or(0) {
        after if after >= 0 => Ok(after),
        _ => Err(Error::invalid("after_seq", "must be 0 or more")),
    }
}

fn form(format: Option<&str>) -> Result<Format, Error> {
    match format {
        None => Ok(Format::default()),
        Some(text) => named("format", text, Format::parse, Format::ALL, Format::as_str),
    }
}

fn content_type(format: Format) -> &'static str {
    match format {
        Format::Ndjson => "application/x-ndjson",
        Format::Csv => "text/csv",
    }
}

fn extent(incremental: Option<bool>) -> Extent {
    match incremental {
        Some(true) => Extent::Since,
        Some(false) | None => Extent::Whole,
    }
}

/// The stream, which gives its place back when it is dropped.
fn held<T>(
    pieces: impl Stream<Item = Result<T, Status>>,
    place: Place,
) -> impl Stream<Item = Result<T, Status>> {
    pieces.inspect_ok(move |_| {
        let _held = &place;
    })
}

// A failure in the midst; the pieces are pulled by the transport, so a slow reader holds one batch.
fn cut(error: StoreError) -> Status {
    status(Failed {
        call: None,
        error: error.into(),
    })
}

impl Rpc {
    async fn place_of_export(&self, caller: &Caller) -> Result<Place, Status> {
        let place = self.exports.take(&caller.principal().tenant, None);
        self.answer(caller, place).await
    }

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
        let after = match (asked.after_seq, &cursor) {
            (None, _) => None,
            (Some(_), Some(_)) => {
                return Err(Error::invalid(
                    "after_seq",
                    "does not go together with a cursor; give one of them",
                ));
            }
            (Some(after), None) => Some(place(Some(after))?),
        };
        let tenant = &caller.principal().tenant;
        let Some(filter) = filter(caller, asked)? else {
            return Ok(ListEventsResponse {
                next_after_seq: after,
                ..ListEventsResponse::default()
            });
        };
        let events = |entries: Vec<Entry>| {
            let events = entries.into_iter().map(|entry| told(tenant.as_str(), entry));
            events.collect()
        };
        if let Some(after) = after {
            let following = list::follow(&self.store, tenant, &filter, after, size).await?;
            return Ok(ListEventsResponse {
                events: events(following.entries),
                next_cursor: String::new(),
                next_after_seq: Some(following.through),
            });
        }
        let listing = list::list(&self.store, tenant, &filter, cursor, size).await?;
        Ok(ListEventsResponse {
            events: events(listing.entries),
            next_cursor: listing.next.map(|cursor| cursor.to_string()).unwrap_or_default(),
            next_after_seq: None,
        })
    }

    async fn held(&self, caller: &Caller, seq: i64) -> Result<GetEventResponse, Error> {
        let me = caller.principal();
        let found = list::held(&self.store, &me.tenant, seq).await?;
        let held = found
            .filter(|held| me.role.may(Action::ReadRecord) || held.is_of(&me.name))
            .ok_or(Error::NotFound(Missing::Resource("event")))?;
        let newest = self.broker.rooms().journal.progress().newest(&me.tenant);
        let checkpoint = newest.filter(|newest| newest.seq >= seq);
        Ok(GetEventResponse {
            event: Some(told(me.tenant.as_str(), held.entry)),
            bytes: held.bytes.into(),
            prev_hash: HEXLOWER.encode(&held.prev),
            hash: HEXLOWER.encode(&held.hash),
            mac: HEXLOWER.encode(&held.mac),
            algorithm: held.algorithm,
            key_id: held.key_id,
            checkpoint: checkpoint.map(|newest| CoveringCheckpoint {
                seq: newest.seq,
                time: rfc3339::format(newest.time_us),
            }),
        })
    }

    async fn archive(&self, caller: &Caller, asked: ExportArchiveRequest) -> Result<Archive, Error> {
        let after = place(asked.after_seq)?;
        let format = form(asked.format.as_deref())?;
        let now_us = self.broker.rooms().clock.wall_us();
        let tenant = &caller.principal().tenant;
        let archive = self.records.archive(tenant, after, format, now_us).await?;
        archive.ok_or_else(|| {
            Error::invalid(
                "after_seq",
                "there are no rows after this place; give an earlier one",
            )
        })
    }

    async fn verify(
        &self,
        by: By,
        extent: Extent,
        telling: Option<Telling>,
    ) -> Result<VerifyAuditResponse, Error> {
        let rooms = self.broker.rooms();
        let started = rooms.clock.monotonic();
        let found = self.records.verify_telling(&by.tenant, extent, telling).await?;
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
