//! What no rule knows of, and the comparison with the golden text finds: ways to make the record lie, or to pass the
//! walls, that leave every rule whole.

use super::{Case, case, of_roles};

pub(super) const CASES: &[Case] = &[
    // Rows that are swallowed or copied.
    case(
        "create rule swallow as on insert to audit.audit_event do instead nothing",
        "schema: unexpected \"rule swallow on audit.audit_event",
    ),
    case(
        "create table public.copy (hash bytea);
         create rule copy as on insert to toolgate.token do also insert into public.copy values (new.hash)",
        "schema: unexpected \"rule copy on toolgate.token",
    ),
    case(
        "create function public.swallow() returns trigger language plpgsql as 'begin return null; end';
         create trigger swallow before insert on audit.audit_event for each row execute function public.swallow()",
        "schema: unexpected \"trigger swallow on audit.audit_event",
    ),
    // Functions that do something else.
    case(
        "create or replace function audit.refuse_change() returns trigger language plpgsql
             set search_path = pg_catalog, pg_temp as 'begin return null; end'",
        "schema: changed \"function audit.refuse_change/0\"",
    ),
    case(
        "do $$
         begin
             execute replace(pg_get_functiondef('audit.journal'::regproc),
                             'insert into audit.audit_event', 'insert into pg_temp.audit_event');
         end
         $$",
        "schema: changed \"function audit.journal/",
    ),
    case(
        "alter function audit.heads security invoker",
        "schema: changed \"function audit.heads/0\"",
    ),
    case(
        "alter function audit.heads set role = 'toolgate_audit_owner'",
        "schema: changed \"function audit.heads/0\"",
    ),
    case(
        "create function audit.wipe() returns void language sql security definer
             set search_path = pg_catalog, pg_temp as 'delete from audit.audit_head';
         alter function audit.wipe owner to toolgate_audit_owner;
         grant execute on function audit.wipe to toolgate_app",
        "schema: unexpected \"function audit.wipe/0",
    ),
    case(
        "create function public.wipe() returns void language sql security definer as 'delete from audit.audit_head';
         alter function public.wipe owner to toolgate_audit_owner",
        "schema: unexpected \"owner toolgate_audit_owner: of function public.wipe() outside",
    ),
    case(
        "create function public.everything() returns setof toolgate.token language sql security definer
             as 'select * from toolgate.token';
         revoke all on function public.everything from public;
         grant execute on function public.everything to toolgate_app",
        "schema: unexpected \"right of toolgate_app outside: on function public.everything()",
    ),
    case(
        "create function public.everything() returns setof toolgate.token language sql security definer
             as 'select * from toolgate.token'",
        "schema: unexpected \"right of toolgate_app outside: to use function public.everything()",
    ),
    case(
        "create view public.everything as select * from toolgate.token; grant select on public.everything to toolgate_app",
        "schema: unexpected \"right of toolgate_app outside: on view public.everything",
    ),
    case(
        "create view public.everything as select * from audit.audit_event; grant select on public.everything to public",
        "schema: unexpected \"right of toolgate_auditor outside: to use view public.everything",
    ),
    // Tables that lost something, or gained it.
    case(
        "alter table audit.audit_event set unlogged",
        "schema: changed \"relation audit.audit_event\"",
    ),
    case(
        "alter table audit.audit_event drop constraint audit_event_pkey",
        "schema: missing \"constraint audit_event_pkey on audit.audit_event",
    ),
    case(
        "alter table audit.audit_event drop constraint audit_event_tenant_id_event_id_key",
        "schema: missing \"constraint audit_event_tenant_id_event_id_key on audit.audit_event",
    ),
    case(
        "alter table toolgate.relay disable trigger all",
        "on toolgate.relay: its trigger is switched off",
    ),
    case(
        "alter table audit.audit_event alter hash drop not null",
        "schema: changed \"column audit.audit_event.hash\"",
    ),
    case(
        "alter table toolgate.token alter name type text collate \"C.utf8\"",
        "schema: changed \"column toolgate.token.name\"",
    ),
    case(
        "alter table toolgate.token alter role set default 'admin'",
        "schema: changed \"column toolgate.token.role\"",
    ),
    case("drop table toolgate.secret", "schema: missing \"relation toolgate.secret"),
    case(
        "create table public.heir () inherits (toolgate.token)",
        "schema: unexpected \"heir of toolgate.token: public.heir",
    ),
    case(
        "create table toolgate.everything (tenant text, value text)",
        "schema: unexpected \"relation toolgate.everything",
    ),
    case(
        "create sequence toolgate.counter; grant usage on sequence toolgate.counter to toolgate_app",
        "schema: unexpected \"right of toolgate_app on relation toolgate.counter: USAGE",
    ),
    case(
        "create sequence public.counter; grant usage on sequence public.counter to toolgate_app",
        "schema: unexpected \"right of toolgate_app outside: on sequence public.counter",
    ),
    case("create type audit.mood as enum ('good')", "schema: unexpected \"thing type audit.mood"),
    case("truncate audit.health", "schema: changed \"rows of audit.health\": 0, made as 1"),
    case(
        "alter table audit.health add check (at_us < 10) not valid",
        "schema: unexpected \"constraint health_at_us_check on audit.health",
    ),
    // Policies and triggers.
    case(
        "drop policy of_the_journal on audit.audit_event",
        "schema: missing \"policy of_the_journal on audit.audit_event",
    ),
    case(
        "create policy closed on audit.audit_head as restrictive using (false)",
        "schema: unexpected \"policy closed on audit.audit_head",
    ),
    case(
        "drop trigger append_only on audit.audit_event;
         create trigger append_only before update or delete or truncate on audit.audit_event
             for each statement execute function audit.refuse_change('other')",
        "schema: changed \"trigger append_only on audit.audit_event\"",
    ),
    case(
        "drop trigger append_only on audit.audit_event;
         create trigger append_only before update or truncate on audit.audit_event
             for each statement execute function audit.refuse_change()",
        "schema: changed \"trigger append_only on audit.audit_event\"",
    ),
    // Owners.
    case(
        "alter table toolgate.token owner to postgres",
        "schema: changed \"relation toolgate.token\"",
    ),
    case("alter schema audit owner to toolgate_migrator", "schema: changed \"schema audit\""),
    case(
        "alter function audit.keep_to_tenant owner to toolgate_migrator",
        "schema: changed \"function audit.keep_to_tenant/1\"",
    ),
    // Rights of the gateway.
    case(
        "grant update on toolgate.tenants to toolgate_app",
        "schema: changed \"right of toolgate_app on relation toolgate.tenants\": INSERT, SELECT, UPDATE",
    ),
    case(
        "grant delete on toolgate.tenants to toolgate_app",
        "schema: changed \"right of toolgate_app on relation toolgate.tenants\": DELETE",
    ),
    case(
        "grant references (id) on toolgate.tenants to toolgate_app",
        "schema: unexpected \"right of toolgate_app on column toolgate.tenants.id: REFERENCES",
    ),
    case(
        "grant select on toolgate.token to toolgate_app with grant option",
        "SELECT with grant option",
    ),
    case(
        "do $$ begin execute format('grant create on database %I to toolgate_app', current_database()); end $$",
        "schema: unexpected \"right of toolgate_app outside: to make schemas in this database",
    ),
    case(
        "do $$ begin execute format('grant create on database %I to public', current_database()); end $$",
        "schema: unexpected \"right of toolgate_auditor outside: to make schemas in this database",
    ),
    case(
        "grant create on schema public to toolgate_app",
        "schema: unexpected \"right of toolgate_app outside: to make things in the schema public",
    ),
    case(
        "grant create on schema public to public",
        "schema: unexpected \"right of toolgate_app outside: to make things in the schema public",
    ),
    case(
        "grant execute on function pg_read_file(text) to toolgate_app",
        "schema: unexpected \"right of toolgate_app outside: on function pg_read_file(text)",
    ),
    of_roles(
        "alter role toolgate_app createdb",
        "schema: unexpected \"role toolgate_app: may make databases",
        "alter role toolgate_app nocreatedb",
    ),
    of_roles(
        "grant set on parameter session_replication_role to toolgate_app",
        "schema: unexpected \"right of toolgate_app outside: on parameter session_replication_role",
        "revoke set on parameter session_replication_role from toolgate_app",
    ),
    of_roles(
        "grant set on parameter session_replication_role to public",
        "schema: unexpected \"right of toolgate_app outside: to set session_replication_role",
        "revoke set on parameter session_replication_role from public",
    ),
    case(
        "alter default privileges in schema public grant all on tables to toolgate_app",
        "schema: unexpected \"right of toolgate_app outside: on default privileges on new relations",
    ),
    case(
        "alter default privileges for role toolgate_audit_owner grant execute on functions to public",
        "schema: missing \"right of toolgate_audit_owner on whatever toolgate_audit_owner makes as f",
    ),
    // The auditor.
    of_roles(
        "alter role toolgate_auditor superuser",
        "schema: unexpected \"role toolgate_auditor: may be superuser",
        "alter role toolgate_auditor nosuperuser",
    ),
    of_roles(
        "alter role toolgate_auditor bypassrls",
        "schema: unexpected \"role toolgate_auditor: may pass row security",
        "alter role toolgate_auditor nobypassrls",
    ),
    of_roles(
        "grant pg_read_all_data to toolgate_auditor",
        "schema: unexpected \"member toolgate_auditor of pg_read_all_data",
        "revoke pg_read_all_data from toolgate_auditor",
    ),
    of_roles(
        "grant toolgate_audit_owner to toolgate_auditor",
        "schema: unexpected \"member toolgate_auditor of toolgate_audit_owner",
        "revoke toolgate_audit_owner from toolgate_auditor",
    ),
    case(
        "grant insert, delete on audit.audit_event to toolgate_auditor",
        "schema: changed \"right of toolgate_auditor on relation audit.audit_event\": DELETE, INSERT, SELECT",
    ),
    case(
        "grant execute on all functions in schema audit to toolgate_auditor",
        "schema: unexpected \"right of toolgate_auditor on function audit.journal/",
    ),
    case(
        "create role a_stranger; grant select on toolgate.token to a_stranger",
        "schema: unexpected \"right of a_stranger on relation toolgate.token: SELECT",
    ),
];
