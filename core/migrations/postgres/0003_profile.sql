-- A tenant's own profiles. `tools` is a JSON array of canonical names, sorted; what no profile leaves out is not in it.
-- Its twin for the embedded store stands beside it under the same number.

set local role toolgate_owner;

create table toolgate.profile (
    tenant_id    text collate "C" not null references toolgate.tenants (id),
    name         text collate "C" not null,
    description  text collate "C" not null,
    tools        text collate "C" not null,
    disclosure   text collate "C" not null check (disclosure in ('direct', 'search')),
    token_budget bigint           check (token_budget >= 1),
    result_cap   bigint           check (result_cap >= 1),
    updated_us   bigint           not null,
    primary key (tenant_id, name)
);

alter table toolgate.profile enable row level security, force row level security;

create policy of_its_tenant on toolgate.profile
    using (tenant_id = nullif(current_setting('app.tenant', true), ''))
    with check (tenant_id = nullif(current_setting('app.tenant', true), ''));

grant select, insert, update, delete on toolgate.profile to toolgate_app;

reset role;
