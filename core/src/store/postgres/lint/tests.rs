//! Every rule is broken in a database of its own, and the start is refused by name.

mod changes;

use toolgate_test_postgres::{Setup, available};

use crate::store::{Store, StoreError, postgres::tests::ground::Ground, schema};

/// What is broken, what must be told, and how roles, which all databases share, are mended.
struct Case {
    broken: &'static str,
    told: &'static str,
    mended: &'static str,
}

const fn case(broken: &'static str, told: &'static str) -> Case {
    Case {
        broken,
        told,
        mended: "",
    }
}

const fn of_roles(broken: &'static str, told: &'static str, mended: &'static str) -> Case {
    Case { broken, told, mended }
}

const CASES: &[Case] = &[
    of_roles(
        "alter role toolgate_app superuser",
        "role: the role toolgate_app is a superuser",
        "alter role toolgate_app nosuperuser",
    ),
    of_roles(
        "alter role toolgate_app bypassrls",
        "role: the role toolgate_app passes row security",
        "alter role toolgate_app nobypassrls",
    ),
    of_roles(
        "alter role toolgate_app createrole",
        "role: the role toolgate_app may make roles",
        "alter role toolgate_app nocreaterole",
    ),
    of_roles(
        "alter role toolgate_app replication",
        "role: the role toolgate_app may replicate",
        "alter role toolgate_app noreplication",
    ),
    of_roles(
        "alter role toolgate_audit_owner login",
        "role: the role toolgate_audit_owner may sign in",
        "alter role toolgate_audit_owner nologin",
    ),
    of_roles(
        "alter role toolgate_audit_owner bypassrls",
        "role: the role toolgate_audit_owner passes row security",
        "alter role toolgate_audit_owner nobypassrls",
    ),
    of_roles(
        "grant toolgate_owner to toolgate_app",
        "member: the role toolgate_app is a member of toolgate_owner",
        "revoke toolgate_owner from toolgate_app",
    ),
    of_roles(
        "grant toolgate_audit_owner to toolgate_app with inherit false, set true",
        "member: the role toolgate_app is a member of toolgate_audit_owner",
        "revoke toolgate_audit_owner from toolgate_app",
    ),
    of_roles(
        "grant pg_read_all_data to toolgate_app",
        "member: the role toolgate_app is a member of pg_read_all_data",
        "revoke pg_read_all_data from toolgate_app",
    ),
    case(
        "create table public.its_own (id bigint); alter table public.its_own owner to toolgate_app",
        "owner: the role toolgate_app owns table public.its_own",
    ),
    case(
        "alter table toolgate.policy disable row level security",
        "row security: the table toolgate.policy does not enable row security",
    ),
    case(
        "alter table toolgate.token no force row level security",
        "row security: the table toolgate.token does not force row security",
    ),
    case(
        "drop policy of_its_tenant on toolgate.relay",
        "policy: the table toolgate.relay has no policy",
    ),
    case(
        "create policy open on toolgate.target using (true)",
        "policy: the policy open on toolgate.target shows or takes more than rows of the tenant: true",
    ),
    case(
        "create policy open on audit.audit_event for select using (true)",
        "policy: the policy open on audit.audit_event shows or takes more than rows of the tenant: true",
    ),
    case(
        "create policy open on toolgate.target to toolgate_audit_owner using (true)",
        "policy: the policy open on toolgate.target shows or takes more",
    ),
    case(
        "create policy open on audit.intent to toolgate_audit_owner, toolgate_app using (true)",
        "policy: the policy open on audit.intent shows or takes more",
    ),
    case(
        "create policy open on toolgate.target for insert with check (tenant_id is not null)",
        "policy: the policy open on toolgate.target shows or takes more than rows of the tenant: (tenant_id IS NOT NULL)",
    ),
    case(
        "grant usage on schema audit to public",
        "public: everybody has USAGE on the schema audit",
    ),
    case(
        "grant select on toolgate.tenants to public",
        "public: everybody has SELECT on toolgate.tenants",
    ),
    case(
        "grant select (hash) on toolgate.token to public",
        "public: everybody has SELECT on the column hash of toolgate.token",
    ),
    case(
        "grant execute on function audit.heads to public",
        "public: everybody may call the function audit.heads",
    ),
    case(
        "create view toolgate.everything as select * from toolgate.target",
        "view: the view toolgate.everything shows what its owner sees",
    ),
    case(
        "create materialized view audit.copy as select * from audit.audit_head",
        "view: the materialized view audit.copy cannot be walled",
    ),
    case(
        "alter function audit.heads reset search_path",
        "definer: the function audit.heads runs with its owner's rights and takes names from its caller's search_path",
    ),
    case(
        "alter function audit.heads set search_path = public",
        "definer: the function audit.heads runs with its owner's rights and takes names from public",
    ),
    case(
        "alter function audit.heads owner to postgres",
        "definer: the function audit.heads runs with the rights of postgres",
    ),
    case(
        "grant delete on audit.audit_event to toolgate_app",
        "privilege: the role toolgate_app has DELETE on audit.audit_event",
    ),
    case(
        "grant insert on audit.intent to toolgate_app",
        "privilege: the role toolgate_app has INSERT on audit.intent",
    ),
    case(
        "grant update (seq) on audit.audit_head to toolgate_app",
        "privilege: the role toolgate_app has UPDATE on the column seq of audit.audit_head",
    ),
    case(
        "grant truncate on toolgate.policy to toolgate_app",
        "privilege: the role toolgate_app has TRUNCATE on toolgate.policy",
    ),
    case(
        "grant references on toolgate.target to toolgate_app",
        "privilege: the role toolgate_app has REFERENCES on toolgate.target",
    ),
    case(
        "grant create on schema audit to toolgate_app",
        "privilege: the role toolgate_app may make things in the schema audit",
    ),
    case(
        "create table toolgate.p (tenant_id text not null, id text not null, primary key (tenant_id, id))
             partition by hash (tenant_id);
         create table toolgate.p0 partition of toolgate.p for values with (modulus 1, remainder 0);
         alter table toolgate.p enable row level security, force row level security;
         create policy of_its_tenant on toolgate.p
             using (tenant_id = nullif(current_setting('app.tenant', true), ''))",
        "row security: the table toolgate.p0 does not enable row security",
    ),
    case(
        "create table toolgate.p (tenant_id text not null, id text not null, primary key (tenant_id, id))
             partition by hash (tenant_id);
         create table toolgate.p0 partition of toolgate.p for values with (modulus 1, remainder 0);
         grant select on toolgate.p0 to toolgate_app",
        "partition: the role toolgate_app may reach the partition toolgate.p0 past its parent",
    ),
    case(
        "alter table toolgate.target add unique (name)",
        "key: the index toolgate.target_name_key of toolgate.target does not begin with tenant_id",
    ),
    case(
        "create index by_time on toolgate.target (created_us)",
        "key: the index toolgate.by_time of toolgate.target does not begin with tenant_id",
    ),
    case(
        "create table toolgate.plain (id text primary key);
         alter table toolgate.policy add column plain text references toolgate.plain (id)",
        "key: the foreign key policy_plain_fkey of toolgate.policy does not begin with tenant_id on both sides",
    ),
    case(
        "drop trigger append_only on audit.audit_event",
        "append-only: the record can be changed",
    ),
    case(
        "alter table audit.audit_event disable trigger append_only",
        "append-only: the record can be changed",
    ),
    case(
        "drop trigger append_only on audit.audit_event;
         create trigger append_only before update or delete on audit.audit_event
             for each statement execute function audit.refuse_change()",
        "append-only: the record can be changed",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_wall_is_refused_at_the_start_by_name() {
    // Roles are shared by all databases of a server, and here they are broken.
    if !available("a_broken_wall_is_refused_at_the_start_by_name") {
        return;
    }
    let cluster = Setup::default().setting("fsync=off").start().await.unwrap();
    let whole = Ground::on(&cluster).await;
    let mended_all = Ground::copy_of(&cluster, &whole).await;
    let mut wrong = Vec::new();
    for Case { broken, told, mended } in CASES.iter().chain(changes::CASES) {
        let ground = Ground::copy_of(&cluster, &whole).await;
        ground.database.execute(broken).await.unwrap();

        let refused = Store::open(ground.config()).await.err();

        let checks = schema::check(&ground.url("postgres")).await.unwrap();
        let rights = checks.iter().find(|check| check.name == "rights").unwrap();
        let is_told = |fault: &String| fault.contains(told);
        match &refused {
            Some(StoreError::Unfit(faults)) if is_told(faults) && rights.faults.iter().any(is_told) => {}
            other => wrong.push(format!("{broken}: {other:?}, {:?}", rights.faults)),
        }
        if !mended.is_empty() {
            ground.database.execute(mended).await.unwrap();
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    // What the cases broke of the server was mended: each is told for its own fault.
    drop(Store::open(mended_all.config()).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_signs_in_as_somebody_else_is_held_to_the_same_rules() {
    let Some(ground) =
        Ground::shared("a_gateway_that_signs_in_as_somebody_else_is_held_to_the_same_rules").await
    else {
        return;
    };
    for (role, told) in [
        ("postgres", "the role postgres is a superuser"),
        (
            "toolgate_migrator",
            "the role toolgate_migrator is a member of toolgate_owner",
        ),
    ] {
        let config = crate::store::StoreConfig {
            place: crate::store::StorePlace::Server(Box::new(ground.url(role))),
            ..ground.config()
        };
        let refused = Store::open(config).await.unwrap_err();
        assert!(refused.to_string().contains(told), "{refused}");
    }
}
