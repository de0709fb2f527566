-- What the catalogue says of this gateway in the database at hand, one line each: what it is, a colon, how it is. The
-- lines of a database that was just migrated stand in catalogue.txt; any other line, and any that is missing, is a
-- change that somebody made. $1: the roles that the gateway may sign in as.
--
-- Reads the catalogue only, which every role may. Wants `search_path = pg_catalog`, so that every other name is told
-- with its schema. Nothing told may depend on the server: not the name of the database or of who migrated it, nor its
-- locale, nor oids, nor the order of columns or grants; MAINTAIN, which owners have from PostgreSQL 17 on, and
-- constraints of not null, which are constraints of their own from 18 on, are left out.
with
spaces as (
    select n.* from pg_namespace n where n.nspname in ('toolgate', 'audit')
),
ours as (
    select r.*
    from pg_roles r
    where r.rolname in ('toolgate_owner', 'toolgate_audit_owner', 'toolgate_migrator', 'toolgate_app', 'toolgate_auditor')
),
-- Who signs in and must be walled.
walled as (
    select r.* from pg_roles r where r.rolname = any ($1 || array['toolgate_auditor'])
),
here as (
    select d.oid, d.datdba, d.datacl from pg_database d where d.datname = current_database()
),
things as (
    select c.*, s.nspname, format('%I.%I', s.nspname, c.relname) as name
    from pg_class c join spaces s on s.oid = c.relnamespace
    where c.relkind not in ('i', 'I')
),
columns as (
    select a.*, t.relowner, t.name as on_table, format('%s.%I', t.name, a.attname) as name
    from pg_attribute a join things t on t.oid = a.attrelid
    where a.attnum > 0 and not a.attisdropped
),
functions as (
    select p.*, format('%I.%I/%s', s.nspname, p.proname, p.pronargs) as name
    from pg_proc p join spaces s on s.oid = p.pronamespace
),
rights (thing, owner, acl) as (
    select format('schema %I', nspname), nspowner, coalesce(nspacl, acldefault('n', nspowner)) from spaces
    union all
    select 'relation ' || name, relowner,
           coalesce(relacl, acldefault(case relkind when 'S' then 's'::"char" else 'r'::"char" end, relowner))
    from things
    union all
    select 'column ' || name, relowner, attacl from columns
    union all
    select 'function ' || name, proowner, coalesce(proacl, acldefault('f', proowner)) from functions
    union all
    select format('whatever %s makes as %s%s', pg_get_userbyid(d.defaclrole), d.defaclobjtype,
                  coalesce(' in ' || n.nspname, '')),
           d.defaclrole, d.defaclacl
    from pg_default_acl d
    left join pg_namespace n on n.oid = d.defaclnamespace
    where d.defaclrole in (select oid from ours) or d.defaclnamespace in (select oid from spaces)
),
granted as (
    select thing, owner, a.grantee, a.privilege_type || case when a.is_grantable then ' with grant option' else '' end as may
    from rights, aclexplode(rights.acl) a
    where not (a.grantee = owner and a.privilege_type = 'MAINTAIN')
),
outside as (
    -- Functions and views of somebody else which are no part of an extension.
    select 'pg_proc'::regclass as class, p.oid, p.pronamespace as space
    from pg_proc p
    where p.prosecdef and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
    union all
    select 'pg_class'::regclass, c.oid, c.relnamespace
    from pg_class c
    where c.relkind in ('v', 'm')
),
lines (line) as (
    select format('schema %I: owner %s', nspname, pg_get_userbyid(nspowner)) from spaces
    union all
    select format('relation %s: kind %s, persistence %s, owner %s, row security %s, forced %s%s', name, relkind,
                  relpersistence, pg_get_userbyid(relowner), relrowsecurity, relforcerowsecurity,
                  case when relispartition then ', a partition' else '' end)
    from things
    union all
    select format('heir of %s: %s', t.name, h.inhrelid::regclass)
    from things t join pg_inherits h on h.inhparent = t.oid
    union all
    select format('column %s: %s, collation %s, %s, default %s%s', c.name, format_type(c.atttypid, c.atttypmod),
                  coalesce(quote_ident(l.collname), 'none'), case when c.attnotnull then 'not null' else 'null' end,
                  coalesce(pg_get_expr(d.adbin, d.adrelid), 'none'),
                  case when c.attidentity <> '' or c.attgenerated <> '' then ', made by the server' else '' end)
    from columns c
    left join pg_attrdef d on d.adrelid = c.attrelid and d.adnum = c.attnum
    left join pg_collation l on l.oid = c.attcollation
    union all
    select format('constraint %I on %s: %s', k.conname, t.name, pg_get_constraintdef(k.oid))
    from pg_constraint k join things t on t.oid = k.conrelid
    where k.contype <> 'n'
    union all
    select format('constraint %I on %s: its trigger is switched off', coalesce(k.conname, g.tgname), t.name)
    from pg_trigger g
    join things t on t.oid = g.tgrelid
    left join pg_constraint k on k.oid = g.tgconstraint
    where g.tgisinternal and g.tgenabled <> 'O'
    union all
    select format('index %I on %s: %s%s', c.relname, t.name, pg_get_indexdef(i.indexrelid),
                  case when i.indisvalid and i.indisready and i.indislive then '' else ', unfit for use' end)
    from pg_index i
    join things t on t.oid = i.indrelid
    join pg_class c on c.oid = i.indexrelid
    union all
    select format('policy %I on %s: %s, %s, for %s, using %s, with check %s', p.polname, t.name,
                  case when p.polpermissive then 'permissive' else 'restrictive' end, p.polcmd,
                  (select string_agg(case r when 0 then 'public' else pg_get_userbyid(r) end, ', '
                                     order by pg_get_userbyid(r) collate "C")
                   from unnest(p.polroles) r),
                  coalesce(pg_get_expr(p.polqual, p.polrelid), 'none'),
                  coalesce(pg_get_expr(p.polwithcheck, p.polrelid), 'none'))
    from pg_policy p join things t on t.oid = p.polrelid
    union all
    select format('trigger %I on %s: enabled %s, %s', g.tgname, t.name, g.tgenabled, pg_get_triggerdef(g.oid))
    from pg_trigger g join things t on t.oid = g.tgrelid
    where not g.tgisinternal
    union all
    select format('rule %I on %s: enabled %s, %s', r.rulename, t.name, r.ev_enabled, pg_get_ruledef(r.oid))
    from pg_rewrite r join things t on t.oid = r.ev_class
    union all
    -- What changes most often first: long lines are told shortened.
    select format('function %s: body %s, owner %s, %s, %s%s%s, language %s, set %s, returns %s, takes %s', name,
                  encode(sha256(convert_to(prosrc, 'UTF8')), 'hex'), pg_get_userbyid(proowner),
                  case when prosecdef then 'definer' else 'invoker' end,
                  case provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end,
                  case when proisstrict then ', strict' else '' end,
                  case when proleakproof then ', leakproof' else '' end,
                  (select l.lanname from pg_language l where l.oid = prolang),
                  coalesce(array_to_string(proconfig, ' and '), 'nothing'),
                  coalesce(pg_get_function_result(oid), 'nothing'), coalesce(nullif(pg_get_function_arguments(oid), ''), 'nothing'))
    from functions
    union all
    -- Types, operators and all else that lives in a schema.
    select 'thing ' || pg_describe_object(d.classid, d.objid, 0) || ': there'
    from pg_depend d join spaces s on d.refclassid = 'pg_namespace'::regclass and d.refobjid = s.oid
    where d.classid not in ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_default_acl'::regclass)
    union all
    select format('right of %s on %s: %s', case grantee when 0 then 'public' else pg_get_userbyid(grantee) end, thing,
                  string_agg(may, ', ' order by may collate "C"))
    from granted
    group by grantee, thing

    union all
    select format('role %s: there', rolname) from ours
    union all
    select format('role %s: may %s', rolname, a.attribute)
    from (select * from ours union select * from walled) r
    cross join lateral (values ('be superuser', rolsuper), ('pass row security', rolbypassrls),
                               ('make databases', rolcreatedb), ('make roles', rolcreaterole),
                               ('replicate', rolreplication)) as a (attribute, has)
    where a.has
    union all
    -- Administrators may be members of the owners, and roles of others of the gateway's.
    select format('member %s of %s: inherit %s, set %s, admin %s', member.rolname, r.rolname, bool_or(m.inherit_option),
                  bool_or(m.set_option), bool_or(m.admin_option))
    from pg_auth_members m
    join ours member on member.oid = m.member
    join pg_roles r on r.oid = m.roleid
    where r.rolname in (select rolname from ours) or member.rolname <> 'toolgate_migrator'
    group by member.rolname, r.rolname

    union all
    -- Rights that were given by name, whatever they are on. To connect is for the administrator to say.
    select format('right of %s outside: on %s', r.rolname, pg_describe_object(d.classid, d.objid, d.objsubid))
    from pg_shdepend d
    join walled r on d.refclassid = 'pg_authid'::regclass and d.refobjid = r.oid
    cross join lateral pg_identify_object(d.classid, d.objid, d.objsubid) as it
    where d.deptype = 'a'
      and d.dbid in (0, (select oid from here))
      and d.classid <> 'pg_database'::regclass
      and it.schema is distinct from 'toolgate' and it.schema is distinct from 'audit'
      and not (d.classid = 'pg_namespace'::regclass and d.objid in (select oid from spaces))
    union all
    select format('right of %s outside: to set session_replication_role', r.rolname)
    from walled r
    where has_parameter_privilege(r.oid, 'session_replication_role', 'SET') and not r.rolsuper
    union all
    select format('right of %s outside: to make schemas in this database', r.rolname)
    from walled r, here
    where has_database_privilege(r.oid, here.oid, 'CREATE') and not r.rolsuper
    union all
    select format('right of %s outside: to give rights on this database to others', r.rolname)
    from walled r, here, aclexplode(here.datacl) a
    where a.grantee = r.oid and a.is_grantable
    union all
    select format('right of %s outside: to make things in the schema %I', r.rolname, n.nspname)
    from walled r, pg_namespace n
    where n.nspname not in ('toolgate', 'audit') and n.nspname !~ '^pg_(toast_)?temp_'
      and has_schema_privilege(r.oid, n.oid, 'CREATE') and not r.rolsuper
    union all
    -- What shows or does what its owner may, and everybody may use.
    select format('right of %s outside: to use %s', r.rolname, pg_describe_object(o.class, o.oid, 0))
    from walled r, outside o
    where o.space not in (select n.oid from pg_namespace n
                          where n.nspname in ('toolgate', 'audit', 'pg_catalog', 'information_schema'))
      and not exists (select from pg_depend e
                      where e.classid = o.class and e.objid = o.oid and e.deptype = 'e')
      and has_schema_privilege(r.oid, o.space, 'USAGE')
      and case o.class when 'pg_proc'::regclass then has_function_privilege(r.oid, o.oid, 'EXECUTE')
                       else has_any_column_privilege(r.oid, o.oid, 'SELECT, INSERT, UPDATE')
                            or has_table_privilege(r.oid, o.oid, 'DELETE') end
      and not r.rolsuper
    union all
    select format('owner %s: of %s outside', r.rolname, pg_describe_object(d.classid, d.objid, 0))
    from pg_shdepend d
    join ours r on d.refclassid = 'pg_authid'::regclass and d.refobjid = r.oid
    cross join lateral pg_identify_object(d.classid, d.objid, 0) as it
    where d.deptype = 'o'
      and r.rolname <> 'toolgate_migrator'
      and d.dbid = (select oid from here)
      and d.classid <> 'pg_default_acl'::regclass
      and it.schema is distinct from 'toolgate' and it.schema is distinct from 'audit'
      and not (d.classid = 'pg_namespace'::regclass and d.objid in (select oid from spaces))
)
select distinct regexp_replace(line, '\s+', ' ', 'g') collate "C" from lines order by 1
