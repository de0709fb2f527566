-- What only an administrator of the server can make: the roles and the two schemas. Run before the numbered files, each
-- time, and changes nothing that is there. Roles belong to the whole server, so several databases share them.
--
--   toolgate_owner        owns the tables of the configuration; nobody signs in as it
--   toolgate_audit_owner  owns the record and the functions that write it; nobody signs in as it
--   toolgate_migrator     signs in to migrate; a member of both owners
--   toolgate_app          signs in as the gateway; owns nothing
--   toolgate_auditor      signs in to read the record, one tenant at a time

do $$
declare
    made record;
begin
    for made in
        select *
        from (values ('toolgate_owner', 'nologin'),
                     ('toolgate_audit_owner', 'nologin'),
                     ('toolgate_migrator', 'login'),
                     ('toolgate_app', 'login'),
                     ('toolgate_auditor', 'login')) as wanted (name, may)
        where not exists (select from pg_catalog.pg_roles where rolname = wanted.name)
    loop
        begin
            execute format('create role %I %s nosuperuser nobypassrls nocreatedb nocreaterole noreplication',
                           made.name, made.may);
        exception when duplicate_object or unique_violation then
            -- Somebody made it in the same moment.
            null;
        end;
    end loop;
end
$$;

grant toolgate_owner, toolgate_audit_owner to toolgate_migrator;
-- Whoever runs this makes objects in the owners' names.
grant toolgate_owner, toolgate_audit_owner to current_user;

create schema if not exists toolgate authorization toolgate_owner;
create schema if not exists audit authorization toolgate_audit_owner;

-- Functions are everybody's to execute unless this is said first.
alter default privileges for role toolgate_owner revoke execute on functions from public;
alter default privileges for role toolgate_audit_owner revoke execute on functions from public;
