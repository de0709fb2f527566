-- The first schema. Portable columns only: bigint, text (compared by bytes) and bytea; booleans are 0 and 1; every key
-- starts with tenant_id. Its twin for the embedded store stands beside it under the same number.
--
-- Every table with a tenant_id shows and takes only rows of the tenant that the transaction names in `app.tenant`, for
-- its owner too. `nullif`, because a setting that was set in a session once reads '' from then on, not null.

set local role toolgate_owner;

create table toolgate.tenants (
    id         text collate "C" not null primary key,
    name       text collate "C" not null,
    created_us bigint           not null,
    version    bigint           not null default 0
);

-- Takes refusals which have no tenant yet.
insert into toolgate.tenants (id, name, created_us) values ('system', 'system', 0);

create table toolgate.target (
    tenant_id  text collate "C" not null references toolgate.tenants (id),
    id         text collate "C" not null,
    type       text collate "C" not null,
    name       text collate "C" not null,
    config     text collate "C" not null,
    disabled   bigint           not null default 0 check (disabled in (0, 1)),
    validation text collate "C" not null,
    created_us bigint           not null,
    updated_us bigint           not null,
    primary key (tenant_id, id),
    unique (tenant_id, type, name)
);

create table toolgate.token (
    tenant_id  text collate "C" not null references toolgate.tenants (id),
    id         text collate "C" not null,
    kind       text collate "C" not null check (kind in ('api', 'session', 'sign_in')),
    name       text collate "C" not null,
    role       text collate "C" not null,
    profile    text collate "C",
    hash       bytea            not null,
    created_us bigint           not null,
    expires_us bigint,
    revoked_us bigint,
    primary key (tenant_id, id),
    unique (tenant_id, hash)
);

-- The tools a tenant has switched off.
create table toolgate.policy (
    tenant_id text collate "C" not null references toolgate.tenants (id),
    tool      text collate "C" not null,
    primary key (tenant_id, tool)
);

create table toolgate.enrolment (
    tenant_id  text collate "C" not null,
    target_id  text collate "C" not null,
    hash       bytea            not null,
    expires_us bigint           not null,
    used_us    bigint,
    primary key (tenant_id, hash),
    foreign key (tenant_id, target_id) references toolgate.target (tenant_id, id) on delete cascade
);
create index enrolment_of_target on toolgate.enrolment (tenant_id, target_id);

create table toolgate.relay (
    tenant_id   text collate "C" not null,
    target_id   text collate "C" not null,
    id          text collate "C" not null,
    public_key  bytea            not null,
    enrolled_us bigint           not null,
    generation  bigint           not null,
    primary key (tenant_id, target_id),
    unique (tenant_id, id),
    foreign key (tenant_id, target_id) references toolgate.target (tenant_id, id) on delete cascade
);

alter table toolgate.target enable row level security, force row level security;
alter table toolgate.token enable row level security, force row level security;
alter table toolgate.policy enable row level security, force row level security;
alter table toolgate.enrolment enable row level security, force row level security;
alter table toolgate.relay enable row level security, force row level security;

create policy of_its_tenant on toolgate.target
    using (tenant_id = nullif(current_setting('app.tenant', true), ''))
    with check (tenant_id = nullif(current_setting('app.tenant', true), ''));
create policy of_its_tenant on toolgate.token
    using (tenant_id = nullif(current_setting('app.tenant', true), ''))
    with check (tenant_id = nullif(current_setting('app.tenant', true), ''));
create policy of_its_tenant on toolgate.policy
    using (tenant_id = nullif(current_setting('app.tenant', true), ''))
    with check (tenant_id = nullif(current_setting('app.tenant', true), ''));
create policy of_its_tenant on toolgate.enrolment
    using (tenant_id = nullif(current_setting('app.tenant', true), ''))
    with check (tenant_id = nullif(current_setting('app.tenant', true), ''));
create policy of_its_tenant on toolgate.relay
    using (tenant_id = nullif(current_setting('app.tenant', true), ''))
    with check (tenant_id = nullif(current_setting('app.tenant', true), ''));

grant usage on schema toolgate to toolgate_app, toolgate_auditor;
grant select on toolgate.tenants to toolgate_app, toolgate_auditor;
grant insert on toolgate.tenants to toolgate_app;
grant update (version) on toolgate.tenants to toolgate_app;
grant select, insert, update, delete
    on toolgate.target, toolgate.token, toolgate.policy, toolgate.enrolment, toolgate.relay to toolgate_app;

-- The record. The gateway reads it under the same walls and writes it only through the functions below.

set local role toolgate_audit_owner;

-- Calls that may have contacted a target and are not settled yet. `facts` is the event that tells of the call if
-- nobody else does: as row bytes, with result `unknown`.
create table audit.intent (
    tenant_id text collate "C" not null,
    event_id  text collate "C" not null,
    instance  text collate "C" not null,
    time_us   bigint           not null,
    facts     bytea            not null,
    primary key (tenant_id, event_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Reads whose caller left after contact; unchained, kept for 24 hours.
create table audit.intent_closed (
    tenant_id text collate "C" not null,
    event_id  text collate "C" not null,
    closed_us bigint           not null,
    result    text collate "C" not null,
    facts     bytea            not null,
    primary key (tenant_id, event_id)
);
create index intent_closed_by_time on audit.intent_closed (tenant_id, closed_us);

create table audit.refusal_counter (
    tenant_id  text collate "C" not null,
    minute_us  bigint           not null,
    kind       text collate "C" not null,
    principal  text collate "C" not null,
    reason     text collate "C" not null,
    role       text collate "C" not null,
    facade     text collate "C" not null,
    capability text collate "C" not null,
    count      bigint           not null,
    primary key (tenant_id, minute_us, kind, principal, reason)
);

-- The record. `bytes` is the event; the columns after key_id repeat parts of it for lists and are checked against it.
create table audit.audit_event (
    tenant_id      text collate "C" not null,
    seq            bigint           not null,
    event_id       text collate "C" not null,
    prev           bytea            not null,
    bytes          bytea            not null,
    hash           bytea            not null,
    mac            bytea            not null,
    algorithm      bigint           not null,
    key_id         text collate "C" not null,
    time_us        bigint           not null,
    kind           text collate "C" not null,
    principal      text collate "C" not null,
    capability     text collate "C" not null,
    target_id      text collate "C",
    result         text collate "C" not null,
    correlation_id text collate "C",
    primary key (tenant_id, seq),
    unique (tenant_id, event_id)
);

create table audit.audit_head (
    tenant_id text collate "C" not null primary key,
    seq       bigint           not null,
    hash      bytea            not null
) with (fillfactor = 50);

-- One row that readiness writes to, so that a full disk shows.
create table audit.health (
    id    bigint not null primary key,
    at_us bigint not null
);
insert into audit.health (id, at_us) values (1, 0);

create function audit.refuse_change() returns trigger
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception 'the record is append-only' using errcode = 'insufficient_privilege';
end
$$;

-- A guard against accidents. Whoever may switch triggers off is found out by the verifier.
create trigger append_only
    before update or delete or truncate on audit.audit_event
    for each statement execute function audit.refuse_change();

alter table audit.intent enable row level security, force row level security;
alter table audit.intent_closed enable row level security, force row level security;
alter table audit.refusal_counter enable row level security, force row level security;
alter table audit.audit_event enable row level security, force row level security;
alter table audit.audit_head enable row level security, force row level security;

create policy of_its_tenant on audit.intent for select
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));
create policy of_its_tenant on audit.intent_closed for select
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));
create policy of_its_tenant on audit.refusal_counter for select
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));
create policy of_its_tenant on audit.audit_event for select
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));
create policy of_its_tenant on audit.audit_head for select
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));

-- The functions below write for all tenants in one commit: the one exception to the rule above.
create policy of_the_journal on audit.intent to toolgate_audit_owner using (true) with check (true);
create policy of_the_journal on audit.intent_closed to toolgate_audit_owner using (true) with check (true);
create policy of_the_journal on audit.refusal_counter to toolgate_audit_owner using (true) with check (true);
create policy of_the_journal on audit.audit_event to toolgate_audit_owner using (true) with check (true);
create policy of_the_journal on audit.audit_head to toolgate_audit_owner using (true) with check (true);

grant usage on schema audit to toolgate_app, toolgate_auditor;
grant select on audit.intent, audit.intent_closed, audit.refusal_counter, audit.audit_event, audit.audit_head
    to toolgate_app, toolgate_auditor;
grant select on audit.health to toolgate_app;

-- Refuses to write for tenants other than the transaction's own, where it has one.
create function audit.keep_to_tenant(variadic tenants text[]) returns void
    language plpgsql stable
    set search_path = pg_catalog, pg_temp
as $$
declare
    own constant text := nullif(current_setting('app.tenant', true), '');
begin
    if own is not null and own <> any (tenants) then
        raise exception 'this transaction belongs to another tenant' using errcode = 'insufficient_privilege';
    end if;
end
$$;

-- One commit's worth of the journal, for all tenants in one call.
--
-- A tenant's chain goes on only if its head still is what the caller built on, by place and hash; its head is locked
-- until the commit, in the order of tenants, so that no two calls wait for each other. Of a tenant whose head was lost,
-- or of whose events one stands there already, nothing is written at all; of all others everything. What the caller
-- must know comes back, one row each:
--
--   lost       another writer moved the head: read it anew and try again
--   standing   the event of the row at `place` stands at `seq` already; `same` tells whether it is the same event. Leave
--              the row out and try again
--   unsound    the head did not fit the last row or what the caller knows of it: no intent of this tenant was written,
--              its rows were
--   duplicate  an intent with this id stands there already
create function audit.journal(
    head_tenant text[], was_seq bigint[], was_hash bytea[], now_seq bigint[], now_hash bytea[],
    row_tenant text[], row_seq bigint[], row_event text[], row_prev bytea[], row_bytes bytea[], row_hash bytea[],
    row_mac bytea[], row_algorithm bigint[], row_key text[], row_time bigint[], row_kind text[],
    row_principal text[], row_capability text[], row_target text[], row_result text[], row_correlation text[],
    known_tenant text[], known_seq bigint[], known_hash bytea[],
    intent_tenant text[], intent_event text[], intent_instance text, intent_time bigint[], intent_facts bytea[],
    end_tenant text[], end_event text[],
    close_tenant text[], close_event text[], close_us bigint, close_facts bytea[],
    count_tenant text[], count_minute bigint[], count_kind text[], count_principal text[], count_reason text[],
    count_role text[], count_facade text[], count_capability text[], count_many bigint[],
    probe_us bigint
)
    returns table (verdict text, tenant_id text, event_id text, place bigint, seq bigint, same boolean)
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    held    text[];
    skipped text[] := '{}';
    unsound text[] := '{}';
    wanted  bigint;
    written bigint;
begin
    if array_position(head_tenant || row_tenant || known_tenant || intent_tenant || end_tenant || close_tenant
                      || count_tenant, null) is not null
       or exists (select unnest(row_tenant) except select unnest(head_tenant)) then
        raise exception 'a row without its chain, or a value without its tenant' using errcode = 'check_violation';
    end if;
    if nullif(current_setting('app.tenant', true), '') is not null then
        perform audit.keep_to_tenant(variadic head_tenant || row_tenant || known_tenant || intent_tenant
                                              || end_tenant || close_tenant || count_tenant);
    end if;

    -- As it was before this call adds to it. Rows are written all the same: they are evidence.
    if cardinality(known_tenant) > 0 then
        select coalesce(array_agg(known.tenant_id), '{}') into unsound
        from unnest(known_tenant, known_seq, known_hash) as known (tenant_id, seq, hash)
        left join audit.audit_head head on head.tenant_id = known.tenant_id
        left join lateral (select e.seq, e.hash
                           from audit.audit_event e
                           where e.tenant_id = known.tenant_id
                           order by e.seq desc
                           limit 1) last on true
        where head.seq is distinct from last.seq
           or head.hash is distinct from last.hash
           or coalesce(head.seq, 0) < known.seq
           or (head.seq = known.seq and head.hash <> known.hash);
        return query select 'unsound', t.tenant_id, null::text, null::bigint, null::bigint, null::boolean
                     from unnest(unsound) as t (tenant_id);
    end if;

    if cardinality(head_tenant) > 0 then
        -- A chain that begins has a head with place 0 until the end of this call.
        insert into audit.audit_head (tenant_id, seq, hash)
        select h.tenant_id, 0, h.hash
        from unnest(head_tenant, was_seq, was_hash) as h (tenant_id, seq, hash)
        where h.seq = 0
        order by h.tenant_id collate "C"
        on conflict do nothing;

        select coalesce(array_agg(locked.tenant_id), '{}') into held
        from (select head.tenant_id
              from unnest(head_tenant, was_seq, was_hash) as was (tenant_id, seq, hash)
              join audit.audit_head head on head.tenant_id = was.tenant_id
              where head.seq = was.seq and head.hash = was.hash
              order by head.tenant_id
              for update of head) locked;

        if cardinality(held) < cardinality(head_tenant) then
            select array_agg(h.tenant_id) into skipped
            from unnest(head_tenant) as h (tenant_id)
            where h.tenant_id <> all (held);
            return query select 'lost', h.tenant_id, null::text, null::bigint, null::bigint, null::boolean
                         from unnest(skipped) as h (tenant_id);
        end if;

        for tenant_id, event_id, place, seq, same in
            select e.tenant_id, e.event_id, r.place, e.seq, e.bytes = r.bytes
            from unnest(row_tenant, row_event, row_bytes)
                 with ordinality as r (tenant_id, event_id, bytes, place)
            join audit.audit_event e on e.tenant_id = r.tenant_id and e.event_id = r.event_id
        loop
            verdict := 'standing';
            skipped := skipped || tenant_id;
            return next;
        end loop;

        insert into audit.audit_event (tenant_id, seq, event_id, prev, bytes, hash, mac, algorithm, key_id, time_us,
                                       kind, principal, capability, target_id, result, correlation_id)
        select r.*
        from unnest(row_tenant, row_seq, row_event, row_prev, row_bytes, row_hash, row_mac, row_algorithm, row_key,
                    row_time, row_kind, row_principal, row_capability, row_target, row_result, row_correlation)
             as r (tenant_id, seq, event_id, prev, bytes, hash, mac, algorithm, key_id, time_us, kind, principal,
                   capability, target_id, result, correlation_id)
        where cardinality(skipped) = 0 or r.tenant_id <> all (skipped);
        get diagnostics written = row_count;
        select count(*) into wanted
        from unnest(row_tenant) as r (tenant_id)
        where cardinality(skipped) = 0 or r.tenant_id <> all (skipped);
        -- Whatever kept a row out, a rule or a trigger, keeps the commit from standing.
        if written <> wanted then
            raise exception 'rows of the record were kept out: % of % written', written, wanted;
        end if;

        update audit.audit_head head
        set seq = moved.seq, hash = moved.hash
        from unnest(head_tenant, now_seq, now_hash) as moved (tenant_id, seq, hash)
        where head.tenant_id = moved.tenant_id
          and (cardinality(skipped) = 0 or moved.tenant_id <> all (skipped));

        if cardinality(skipped) > 0 then
            delete from audit.audit_head head where head.tenant_id = any (skipped) and head.seq = 0;
        end if;
    end if;

    if cardinality(intent_tenant) > 0 then
        return query
            with put as (
                insert into audit.intent (tenant_id, event_id, instance, time_us, facts)
                select i.tenant_id, i.event_id, intent_instance, i.time_us, i.facts
                from unnest(intent_tenant, intent_event, intent_time, intent_facts)
                     as i (tenant_id, event_id, time_us, facts)
                where i.tenant_id <> all (skipped) and i.tenant_id <> all (unsound)
                on conflict do nothing
                returning tenant_id, event_id
            )
            select 'duplicate', i.tenant_id, i.event_id, null::bigint, null::bigint, null::boolean
            from unnest(intent_tenant, intent_event) as i (tenant_id, event_id)
            where i.tenant_id <> all (skipped) and i.tenant_id <> all (unsound)
              and not exists (select from put where put.tenant_id = i.tenant_id and put.event_id = i.event_id);
    end if;

    if cardinality(end_tenant) > 0 then
        delete from audit.intent i
        using unnest(end_tenant, end_event) as ended (tenant_id, event_id)
        where i.tenant_id = ended.tenant_id and i.event_id = ended.event_id
          and ended.tenant_id <> all (skipped);
    end if;

    if cardinality(close_tenant) > 0 then
        insert into audit.intent_closed (tenant_id, event_id, closed_us, result, facts)
        select c.tenant_id, c.event_id, close_us, 'cancelled', c.facts
        from unnest(close_tenant, close_event, close_facts) as c (tenant_id, event_id, facts)
        where c.tenant_id <> all (skipped)
        on conflict do nothing;
    end if;

    if cardinality(count_tenant) > 0 then
        insert into audit.refusal_counter as counter
               (tenant_id, minute_us, kind, principal, reason, role, facade, capability, count)
        select c.*
        from unnest(count_tenant, count_minute, count_kind, count_principal, count_reason, count_role, count_facade,
                    count_capability, count_many)
             as c (tenant_id, minute_us, kind, principal, reason, role, facade, capability, count)
        order by 1, 2, 3, 4, 5
        on conflict (tenant_id, minute_us, kind, principal, reason)
        do update set count = counter.count + excluded.count;
    end if;

    if probe_us is not null then
        update audit.health set at_us = probe_us where id = 1;
    end if;
end
$$;

-- Takes finished minutes of the counter out, to become rows in the same commit.
create function audit.take_counts(
    of_tenant text[], of_minute bigint[], of_kind text[], of_principal text[], of_reason text[]
)
    returns table (place bigint, role text, facade text, capability text, count bigint)
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    perform audit.keep_to_tenant(variadic of_tenant);
    return query
        delete from audit.refusal_counter counter
        using unnest(of_tenant, of_minute, of_kind, of_principal, of_reason)
              with ordinality as taken (tenant_id, minute_us, kind, principal, reason, place)
        where counter.tenant_id = taken.tenant_id
          and counter.minute_us = taken.minute_us
          and counter.kind = taken.kind
          and counter.principal = taken.principal
          and counter.reason = taken.reason
        returning taken.place, counter.role, counter.facade, counter.capability, counter.count;
end
$$;

-- The head of one tenant's chain, held until the end of the transaction; made with place 0 where the chain begins.
create function audit.hold_head(of_tenant text, genesis bytea)
    returns table (seq bigint, hash bytea, last_seq bigint, last_hash bytea)
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    perform audit.keep_to_tenant(of_tenant);
    insert into audit.audit_head (tenant_id, seq, hash) values (of_tenant, 0, genesis) on conflict do nothing;
    perform from audit.audit_head head where head.tenant_id = of_tenant for update;
    return query
        select head.seq, head.hash, last.seq, last.hash
        from audit.audit_head head
        left join lateral (select e.seq, e.hash
                           from audit.audit_event e
                           where e.tenant_id = of_tenant
                           order by e.seq desc
                           limit 1) last on true
        where head.tenant_id = of_tenant;
end
$$;

-- Heads and last rows of some chains.
create function audit.ends_of(tenants text[])
    returns table (tenant_id text, seq bigint, hash bytea, last_seq bigint, last_hash bytea)
    language sql stable security definer
    set search_path = pg_catalog, pg_temp
as $$
    select asked.tenant_id, head.seq, head.hash, last.seq, last.hash
    from unnest(tenants) as asked (tenant_id)
    left join audit.audit_head head on head.tenant_id = asked.tenant_id
    left join lateral (select e.seq, e.hash
                       from audit.audit_event e
                       where e.tenant_id = asked.tenant_id
                       order by e.seq desc
                       limit 1) last on true
    where asked.tenant_id = coalesce(nullif(current_setting('app.tenant', true), ''), asked.tenant_id)
$$;

-- The three that follow tell whose rows there are, and only outside of every tenant's transaction.

-- The head of every chain; what checkpoints are made of.
create function audit.heads()
    returns table (tenant_id text, seq bigint, hash bytea)
    language sql stable security definer
    set search_path = pg_catalog, pg_temp
as $$
    select tenant_id, seq, hash
    from audit.audit_head
    where nullif(current_setting('app.tenant', true), '') is null
    order by tenant_id
$$;

-- Every id under which the record has rows or a head, tenant or not.
create function audit.owners()
    returns table (tenant_id text)
    language sql stable security definer
    set search_path = pg_catalog, pg_temp
as $$
    select tenant_id
    from (select tenant_id from audit.audit_head union select tenant_id from audit.audit_event) owner
    where nullif(current_setting('app.tenant', true), '') is null
    order by 1
$$;

-- Ids of the root keys that the first and the last row of every chain were sealed with.
create function audit.sealed_with()
    returns table (key_id text)
    language sql stable security definer
    set search_path = pg_catalog, pg_temp
as $$
    select e.key_id
    from audit.audit_head h
    join audit.audit_event e on e.tenant_id = h.tenant_id and e.seq in (1, h.seq)
    where nullif(current_setting('app.tenant', true), '') is null
    group by e.key_id
    order by 1
$$;

-- Forgets closed reads that are older than a day.
create function audit.forget_closed(of_tenant text, before_us bigint) returns bigint
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    forgotten bigint;
begin
    perform audit.keep_to_tenant(of_tenant);
    delete from audit.intent_closed where tenant_id = of_tenant and closed_us < before_us;
    get diagnostics forgotten = row_count;
    return forgotten;
end
$$;

grant execute on function
    audit.journal, audit.take_counts, audit.hold_head, audit.ends_of, audit.heads, audit.owners, audit.sealed_with,
    audit.forget_closed
    to toolgate_app;
grant execute on function audit.heads, audit.owners, audit.sealed_with to toolgate_auditor;

reset role;
