-- A tenant's own profiles. `tools` is a JSON array of canonical names, sorted; what no profile leaves out is not in it.
-- Its twin for the other back end stands beside it under the same number.

create table profile (
    tenant_id    text   not null references tenants (id),
    name         text   not null,
    description  text   not null,
    tools        text   not null,
    disclosure   text   not null check (disclosure in ('direct', 'search')),
    token_budget bigint check (token_budget >= 1),
    result_cap   bigint check (result_cap >= 1),
    updated_us   bigint not null,
    primary key (tenant_id, name)
);
