-- What the gateway remembers of projects. Its twin for the embedded store stands beside it under the same number.

set local role toolgate_owner;

-- Which list of a project's tools is in force, and which changed one is kept back until an admin accepts it.
create table toolgate.project_tools (
    tenant_id     text collate "C" not null,
    target_id     text collate "C" not null,
    hash          text collate "C" not null,
    withheld_hash text collate "C",
    updated_us    bigint           not null,
    primary key (tenant_id, target_id),
    foreign key (tenant_id, target_id) references toolgate.target (tenant_id, id) on delete cascade
);

-- Where calls go that name no project: `owner` is '' for the tenant, `p:<principal>` or `s:<session>`.
create table toolgate.project_default (
    tenant_id  text collate "C" not null,
    owner      text collate "C" not null,
    target_id  text collate "C" not null,
    updated_us bigint           not null,
    primary key (tenant_id, owner),
    foreign key (tenant_id, target_id) references toolgate.target (tenant_id, id) on delete cascade
);
create index project_default_of_target on toolgate.project_default (tenant_id, target_id);

alter table toolgate.project_tools enable row level security, force row level security;
alter table toolgate.project_default enable row level security, force row level security;

create policy of_its_tenant on toolgate.project_tools
    using (tenant_id = nullif(current_setting('app.tenant', true), ''))
    with check (tenant_id = nullif(current_setting('app.tenant', true), ''));
create policy of_its_tenant on toolgate.project_default
    using (tenant_id = nullif(current_setting('app.tenant', true), ''))
    with check (tenant_id = nullif(current_setting('app.tenant', true), ''));

grant select, insert, update, delete on toolgate.project_tools, toolgate.project_default to toolgate_app;

reset role;
