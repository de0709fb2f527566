-- The first schema. Portable: only BIGINT, TEXT and BLOB; booleans are 0 and 1; every key starts with tenant_id.
-- Its twin for the other back end stands beside it under the same number.

create table tenants (
    id         text   not null primary key,
    name       text   not null,
    created_us bigint not null,
    version    bigint not null default 0
);

-- Takes refusals which have no tenant yet.
insert into tenants (id, name, created_us) values ('system', 'system', 0);

create table target (
    tenant_id  text   not null references tenants (id),
    id         text   not null,
    type       text   not null,
    name       text   not null,
    config     text   not null,
    disabled   bigint not null default 0 check (disabled in (0, 1)),
    validation text   not null,
    created_us bigint not null,
    updated_us bigint not null,
    primary key (tenant_id, id),
    unique (tenant_id, type, name)
);

create table token (
    tenant_id  text   not null references tenants (id),
    id         text   not null,
    kind       text   not null check (kind in ('api', 'session', 'sign_in')),
    name       text   not null,
    role       text   not null,
    profile    text,
    hash       blob   not null,
    created_us bigint not null,
    expires_us bigint,
    revoked_us bigint,
    primary key (tenant_id, id),
    unique (tenant_id, hash)
);

-- The tools a tenant has switched off.
create table policy (
    tenant_id text not null references tenants (id),
    tool      text not null,
    primary key (tenant_id, tool)
);

create table enrolment (
    tenant_id  text   not null,
    target_id  text   not null,
    hash       blob   not null,
    expires_us bigint not null,
    used_us    bigint,
    primary key (tenant_id, hash),
    foreign key (tenant_id, target_id) references target (tenant_id, id) on delete cascade
);
create index enrolment_of_target on enrolment (tenant_id, target_id);

create table relay (
    tenant_id   text   not null,
    target_id   text   not null,
    id          text   not null,
    public_key  blob   not null,
    enrolled_us bigint not null,
    generation  bigint not null,
    primary key (tenant_id, target_id),
    unique (tenant_id, id),
    foreign key (tenant_id, target_id) references target (tenant_id, id) on delete cascade
);

-- Calls that may have contacted a target and are not settled yet. `facts` is the event that tells of the call if
-- nobody else does: as row bytes, with result `unknown`.
create table intent (
    tenant_id text   not null,
    event_id  text   not null,
    instance  text   not null,
    time_us   bigint not null,
    facts     blob   not null,
    primary key (tenant_id, event_id)
) without rowid;

-- Reads whose caller left after contact; unchained, kept for 24 hours.
create table intent_closed (
    tenant_id text   not null,
    event_id  text   not null,
    closed_us bigint not null,
    result    text   not null,
    facts     blob   not null,
    primary key (tenant_id, event_id)
);
create index intent_closed_by_time on intent_closed (tenant_id, closed_us);

create table refusal_counter (
    tenant_id  text   not null,
    minute_us  bigint not null,
    kind       text   not null,
    principal  text   not null,
    reason     text   not null,
    role       text   not null,
    facade     text   not null,
    capability text   not null,
    count      bigint not null,
    primary key (tenant_id, minute_us, kind, principal, reason)
) without rowid;

-- The record. `bytes` is the event; the columns after key_id repeat parts of it for lists and are checked against it.
create table audit_event (
    tenant_id      text   not null,
    seq            bigint not null,
    event_id       text   not null,
    prev           blob   not null,
    bytes          blob   not null,
    hash           blob   not null,
    mac            blob   not null,
    algorithm      bigint not null,
    key_id         text   not null,
    time_us        bigint not null,
    kind           text   not null,
    principal      text   not null,
    capability     text   not null,
    target_id      text,
    result         text   not null,
    correlation_id text,
    primary key (tenant_id, seq),
    unique (tenant_id, event_id)
);

create table audit_head (
    tenant_id text   not null primary key,
    seq       bigint not null,
    hash      blob   not null
) without rowid;

create trigger audit_event_is_never_updated before update on audit_event
begin
    select raise(abort, 'the record is append-only');
end;

create trigger audit_event_is_never_deleted before delete on audit_event
begin
    select raise(abort, 'the record is append-only');
end;

-- One row that readiness writes to, so that a full disk shows.
create table health (
    id    bigint not null primary key,
    at_us bigint not null
);
insert into health (id, at_us) values (1, 0);
