-- What the gateway remembers of projects. Its twin for the other back end stands beside it under the same number.

-- Which list of a project's tools is in force, and which changed one is kept back until an admin accepts it.
create table project_tools (
    tenant_id     text   not null,
    target_id     text   not null,
    hash          text   not null,
    withheld_hash text,
    updated_us    bigint not null,
    primary key (tenant_id, target_id),
    foreign key (tenant_id, target_id) references target (tenant_id, id) on delete cascade
);

-- Where calls go that name no project: `owner` is '' for the tenant, `p:<principal>` or `s:<session>`.
create table project_default (
    tenant_id  text   not null,
    owner      text   not null,
    target_id  text   not null,
    updated_us bigint not null,
    primary key (tenant_id, owner),
    foreign key (tenant_id, target_id) references target (tenant_id, id) on delete cascade
);
create index project_default_of_target on project_default (tenant_id, target_id);
