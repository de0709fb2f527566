-- Credentials of targets, enveloped. A value is sealed under a data key of its own; the data key is wrapped under the
-- tenant's key of the root that `kek_id` names. Nothing here can be read without that root.
-- Its twin for the other back end stands beside it under the same number.

create table secret (
    tenant_id  text   not null,
    id         text   not null,
    target_id  text   not null,
    format     bigint not null,
    version    bigint not null check (version >= 1),
    kek_id     text   not null,
    wrapped    blob   not null,
    sealed     blob   not null,
    created_us bigint not null,
    updated_us bigint not null,
    primary key (tenant_id, id),
    foreign key (tenant_id, target_id) references target (tenant_id, id) on delete cascade
);
create index secret_of_target on secret (tenant_id, target_id);
create index secret_by_kek on secret (tenant_id, kek_id, id);

-- Which secret a target uses: provider, identifier and version rule as one JSON object, never a value.
alter table target add column secret text;
