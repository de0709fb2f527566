-- Everything in the database that would let the walls between tenants, or around the record, be passed. Each row is one
-- fault: the rule, and a text that names the thing and what to do. $1: the roles that the gateway may sign in as.
--
-- Reads the catalogue only, which every role may.
with
app as (
    select r.oid, r.rolname, r.rolsuper, r.rolbypassrls, r.rolcreaterole, r.rolreplication
    from pg_catalog.pg_roles r where r.rolname = any ($1)
),
owners as (
    select r.oid, r.rolname, r.rolsuper, r.rolbypassrls, r.rolcanlogin
    from pg_catalog.pg_roles r where r.rolname in ('toolgate_owner', 'toolgate_audit_owner')
),
spaces as (
    select n.oid, n.nspname, n.nspowner, n.nspacl
    from pg_catalog.pg_namespace n where n.nspname in ('toolgate', 'audit')
),
things as (
    select c.oid, c.relkind, c.relowner, c.relacl, c.reloptions, c.relrowsecurity, c.relforcerowsecurity,
           c.relispartition, s.nspname, format('%I.%I', s.nspname, c.relname) as name
    from pg_catalog.pg_class c join spaces s on s.oid = c.relnamespace
),
tenanted as (
    select t.*, a.attnum
    from things t
    join pg_catalog.pg_attribute a on a.attrelid = t.oid and a.attname = 'tenant_id' and not a.attisdropped
    where t.relkind in ('r', 'p')
),
functions as (
    select p.oid, p.proowner, p.proacl, p.prosecdef, p.proconfig,
           format('%I.%I', s.nspname, p.proname) as name,
           format('%I.%I(%s)', s.nspname, p.proname, pg_catalog.pg_get_function_identity_arguments(p.oid)) as full_name
    from pg_catalog.pg_proc p join spaces s on s.oid = p.pronamespace
),
policies as (
    select p.polname, p.polpermissive, t.name as on_table, t.nspname,
           pg_catalog.pg_get_expr(p.polqual, p.polrelid) as qual,
           pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid) as with_check,
           p.polroles = (select array_agg(o.oid) from owners o where o.rolname = 'toolgate_audit_owner') as of_journal
    from pg_catalog.pg_policy p join tenanted t on t.oid = p.polrelid
)

select 'role' as rule, format('there is no role %s; run `toolgate db migrate`', wanted) as fault
from unnest($1 || array['toolgate_owner', 'toolgate_audit_owner']) as wanted
where not exists (select from pg_catalog.pg_roles r where r.rolname = wanted)

union all
select 'role', format('the role %s is a superuser, for whom there are no walls; %s', rolname,
                      case rolname when 'toolgate_app' then 'run `alter role toolgate_app nosuperuser`'
                                   else 'sign in as toolgate_app' end)
from app where rolsuper
union all
select 'role', format('the role %s passes row security; run `alter role %1$I nobypassrls`', rolname)
from app where rolbypassrls and not rolsuper
union all
select 'role', format('the role %s may make roles; run `alter role %1$I nocreaterole`', rolname)
from app where rolcreaterole and not rolsuper
union all
select 'role', format('the role %s may replicate, which reads everything; run `alter role %1$I noreplication`', rolname)
from app where rolreplication and not rolsuper
union all
select 'role', format('the role %s %s; run `alter role %1$I nologin nosuperuser nobypassrls`', rolname,
                      case when rolsuper then 'is a superuser' when rolbypassrls then 'passes row security'
                           else 'may sign in' end)
from owners where rolsuper or rolbypassrls or rolcanlogin

union all
select 'owner', format('the role %s owns %s; give it to another role', app.rolname,
                       pg_catalog.pg_describe_object(d.classid, d.objid, 0))
from app
join pg_catalog.pg_shdepend d
  on d.refclassid = 'pg_catalog.pg_authid'::pg_catalog.regclass and d.refobjid = app.oid and d.deptype = 'o'
where not app.rolsuper
  and (d.dbid = 0 or d.dbid = (select b.oid from pg_catalog.pg_database b where b.datname = current_database()))

union all
select 'member', format('the role %s is a member of %s; run `revoke %2$I from %1$I`', app.rolname, other.rolname)
from app
join pg_catalog.pg_auth_members m on m.member = app.oid
join pg_catalog.pg_roles other on other.oid = m.roleid
where other.rolname <> all ($1) and not app.rolsuper

union all
select 'row security', format('the table %s does not enable row security; run `alter table %1$s enable row level security`', name)
from tenanted where not relrowsecurity
union all
select 'row security', format('the table %s does not force row security on its owner; run `alter table %1$s force row level security`', name)
from tenanted where not relforcerowsecurity
union all
select 'policy', format('the table %s has no policy; restore that of its migration', name)
from tenanted t
where not exists (select from pg_catalog.pg_policy p where p.polrelid = t.oid)
union all
select 'policy', format('the policy %s on %s shows or takes more than rows of the tenant: %s; restore that of its migration',
                        p.polname, p.on_table, coalesce(shown.expression, 'nothing'))
from policies p
cross join lateral unnest(array[p.qual, p.with_check]) as shown (expression)
where p.polpermissive
  and shown.expression is not null
  and shown.expression <> '(tenant_id = NULLIF(current_setting(''app.tenant''::text, true), ''''::text))'
  and not coalesce(p.of_journal and p.nspname = 'audit', false)

union all
select 'public', format('everybody has %s on the schema %s; run `revoke %1$s on schema %2$s from public`',
                        a.privilege_type, s.nspname)
from spaces s, pg_catalog.aclexplode(coalesce(s.nspacl, pg_catalog.acldefault('n', s.nspowner))) a
where a.grantee = 0
union all
select 'public', format('everybody has %s on %s; run `revoke %1$s on %2$s from public`', a.privilege_type, t.name)
from things t, pg_catalog.aclexplode(t.relacl) a
where a.grantee = 0
union all
select 'public', format('everybody has %s on the column %s of %s; run `revoke %1$s (%2$I) on %3$s from public`',
                        a.privilege_type, c.attname, t.name)
from things t
join pg_catalog.pg_attribute c on c.attrelid = t.oid, pg_catalog.aclexplode(c.attacl) a
where a.grantee = 0
union all
select 'public', format('everybody may call the function %s; run `revoke execute on function %s from public`', f.name, f.full_name)
from functions f, pg_catalog.aclexplode(coalesce(f.proacl, pg_catalog.acldefault('f', f.proowner))) a
where a.grantee = 0

union all
select 'view', format('the view %s shows what its owner sees; run `alter view %1$s set (security_invoker = true)`', t.name)
from things t
where t.relkind = 'v'
  and not exists (select from pg_catalog.pg_options_to_table(t.reloptions) o
                  where o.option_name = 'security_invoker' and o.option_value in ('true', 'on', 'yes', '1'))
union all
select 'view', format('the %s %s cannot be walled; drop it',
                      case t.relkind when 'm' then 'materialized view' else 'foreign table' end, t.name)
from things t
where t.relkind in ('m', 'f')

union all
select 'definer', format('the function %s runs with its owner''s rights and takes names from %s; run `alter function %s set search_path = pg_catalog, pg_temp`',
                         f.name,
                         coalesce((select substr(c, 13) from unnest(f.proconfig) c where c like 'search_path=%'),
                                  'its caller''s search_path'),
                         f.full_name)
from functions f
where f.prosecdef and not coalesce('search_path=pg_catalog, pg_temp' = any (f.proconfig), false)
union all
select 'definer', format('the function %s runs with the rights of %s; its owner must be toolgate_audit_owner', f.name,
                         pg_catalog.pg_get_userbyid(f.proowner))
from functions f
where f.prosecdef and f.proowner not in (select o.oid from owners o)

union all
select 'privilege', format('the role %s has %s on %s; run `revoke %2$s on %3$s from %1$I`', app.rolname, a.privilege_type, t.name)
from app, things t, pg_catalog.aclexplode(t.relacl) a
where a.grantee = app.oid and t.nspname = 'audit' and a.privilege_type <> 'SELECT'
union all
select 'privilege', format('the role %s has %s on the column %s of %s; run `revoke %2$s (%3$I) on %4$s from %1$I`',
                           app.rolname, a.privilege_type, c.attname, t.name)
from app, things t
join pg_catalog.pg_attribute c on c.attrelid = t.oid, pg_catalog.aclexplode(c.attacl) a
where a.grantee = app.oid and t.nspname = 'audit' and a.privilege_type <> 'SELECT'
union all
select 'privilege', format('the role %s has %s on %s, which row security does not hold; run `revoke %2$s on %3$s from %1$I`',
                           app.rolname, a.privilege_type, t.name)
from app, things t, pg_catalog.aclexplode(t.relacl) a
where a.grantee = app.oid and t.nspname = 'toolgate' and a.privilege_type in ('TRUNCATE', 'REFERENCES', 'TRIGGER')
union all
select 'privilege', format('the role %s may make things in the schema %s; run `revoke create on schema %2$s from %1$I`',
                           app.rolname, s.nspname)
from app, spaces s, pg_catalog.aclexplode(s.nspacl) a
where a.grantee = app.oid and a.privilege_type <> 'USAGE'
union all
select 'partition', format('the role %s may reach the partition %s past its parent; run `revoke all on %2$s from %1$I`',
                           app.rolname, t.name)
from app, things t, pg_catalog.aclexplode(t.relacl) a
where a.grantee = app.oid and t.relispartition

union all
select 'key', format('the index %I.%I of %s does not begin with tenant_id', t.nspname, c.relname, t.name)
from tenanted t
join pg_catalog.pg_index i on i.indrelid = t.oid
join pg_catalog.pg_class c on c.oid = i.indexrelid
where i.indkey[0] <> t.attnum
union all
select 'key', format('the foreign key %s of %s does not begin with tenant_id on both sides', k.conname, t.name)
from tenanted t
join pg_catalog.pg_constraint k on k.conrelid = t.oid and k.contype = 'f'
left join pg_catalog.pg_attribute there
  on there.attrelid = k.confrelid and there.attnum = k.confkey[1]
where k.conkey[1] <> t.attnum
   or there.attname is distinct from 'tenant_id'
      and not (k.confrelid = pg_catalog.to_regclass('toolgate.tenants') and cardinality(k.conkey) = 1)

union all
select 'append-only', 'the record can be changed: its trigger `append_only` on audit.audit_event is missing or switched off; restore that of its migration'
where pg_catalog.to_regclass('audit.audit_event') is not null
  and not exists (
    select from pg_catalog.pg_trigger g
    join functions f on f.oid = g.tgfoid
    where g.tgrelid = pg_catalog.to_regclass('audit.audit_event')
      and f.name = 'audit.refuse_change'
      and g.tgenabled in ('O', 'A')
      and g.tgqual is null
      -- before (2), delete (8), update (16), truncate (32), for the statement
      and g.tgtype & 59 = 58)
