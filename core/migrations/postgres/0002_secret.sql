-- Credentials of targets, enveloped. A value is sealed under a data key of its own; the data key is wrapped under the
-- tenant's key of the root that `kek_id` names. Nothing here can be read without that root.
-- Its twin for the embedded store stands beside it under the same number.

set local role toolgate_owner;

create table toolgate.secret (
    tenant_id  text collate "C" not null,
    id         text collate "C" not null,
    target_id  text collate "C" not null,
    format     bigint           not null,
    version    bigint           not null check (version >= 1),
    kek_id     text collate "C" not null,
    wrapped    bytea            not null,
    sealed     bytea            not null,
    created_us bigint           not null,
    updated_us bigint           not null,
    primary key (tenant_id, id),
    foreign key (tenant_id, target_id) references toolgate.target (tenant_id, id) on delete cascade
);
create index secret_of_target on toolgate.secret (tenant_id, target_id);
create index secret_by_kek on toolgate.secret (tenant_id, kek_id, id);

alter table toolgate.secret enable row level security, force row level security;

create policy of_its_tenant on toolgate.secret
    using (tenant_id = nullif(current_setting('app.tenant', true), ''))
    with check (tenant_id = nullif(current_setting('app.tenant', true), ''));

grant select, insert, update, delete on toolgate.secret to toolgate_app;

-- Which secret a target uses: provider, identifier and version rule as one JSON object, never a value.
alter table toolgate.target add column secret text collate "C";

reset role;
