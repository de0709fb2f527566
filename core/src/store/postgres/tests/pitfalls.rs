//! The pitfalls of row security (`security.md` §2.1), each as the behaviour that avoids it.
//!
//! Those about the schema as such (1 in part, 7, 8, 10) are rules of the lint, whose tests stand there; those about what
//! is left on a connection (4) stand in `leftovers`. The fourteenth, a pooler between, is no setup of ours.

use tokio_postgres::{Client, NoTls};
use toolgate_contract::ids::TenantId;

use super::ground::Ground;
use crate::store::{Store, StoreConfig, StoreError, params, suite};

const ADD_TARGET: &str = "insert into target (tenant_id, id, type, name, config, validation, created_us, updated_us) \
    values ($1, $2, 'ssh', $3, '', '', 0, 0)";
const ENROL: &str = "insert into enrolment (tenant_id, target_id, hash, expires_us) values ($1, $2, $3, 0)";

/// Two tenants, with a target `t` each.
async fn two_tenants(store: &Store) -> [TenantId; 2] {
    let tenants = [suite::tenant(store).await, suite::tenant(store).await];
    for tenant in &tenants {
        add_target(store, tenant, "t", "name").await.unwrap();
    }
    tenants
}

async fn add_target(store: &Store, tenant: &TenantId, id: &str, name: &str) -> Result<u64, StoreError> {
    let (owner, id, name) = (tenant.clone(), id.to_owned(), name.to_owned());
    store
        .with_tenant(tenant, move |tx| {
            Box::pin(async move { tx.execute(ADD_TARGET, params![&owner, &id, &name]).await })
        })
        .await
}

async fn enrol(store: &Store, tenant: &TenantId, target: &str) -> Result<u64, StoreError> {
    let (owner, target) = (tenant.clone(), target.to_owned());
    store
        .with_tenant(tenant, move |tx| {
            Box::pin(async move { tx.execute(ENROL, params![&owner, &target, &[7; 32]]).await })
        })
        .await
}

/// A session past the store.
async fn session(ground: &Ground, role: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(&ground.database.url_as(role), NoTls)
        .await
        .unwrap();
    // Ends with its client.
    tokio::spawn(connection);
    client
        .batch_execute("set search_path = toolgate, audit")
        .await
        .unwrap();
    client
}

async fn count(client: &Client, sql: &str) -> i64 {
    client.query_one(sql, &[]).await.unwrap().get(0)
}

async fn refused(client: &Client, sql: &str) -> String {
    let error = client.batch_execute(sql).await.expect_err(sql);
    error.code().unwrap().code().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_of_a_table_sees_no_rows_of_tenants() {
    let Some(ground) = Ground::shared("the_owner_of_a_table_sees_no_rows_of_tenants").await else {
        return;
    };
    let store = ground.store().await;
    two_tenants(&store).await;
    let client = session(&ground, "postgres").await;
    assert_eq!(count(&client, "select count(*) from target").await, 2);
    client.batch_execute("set role toolgate_owner").await.unwrap();
    assert_eq!(count(&client, "select count(*) from target").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_tenant_nothing_is_seen_in_a_new_session_and_in_a_used_one() {
    const TEST: &str = "without_a_tenant_nothing_is_seen_in_a_new_session_and_in_a_used_one";
    let Some(ground) = Ground::shared(TEST).await else {
        return;
    };
    let store = ground.store().await;
    let [one, _] = two_tenants(&store).await;
    let client = session(&ground, "toolgate_app").await;
    assert_eq!(count(&client, "select count(*) from target").await, 0);
    let named = format!("begin; select set_config('app.tenant', '{one}', true)");
    client.batch_execute(&named).await.unwrap();
    assert_eq!(count(&client, "select count(*) from target").await, 1);
    client.batch_execute("commit").await.unwrap();
    // The setting is '' from now on, not null.
    assert_eq!(count(&client, "select count(*) from target").await, 0);
    // Outside a transaction it is forgotten before the next statement.
    let outside = format!("select set_config('app.tenant', '{one}', true)");
    client.batch_execute(&outside).await.unwrap();
    assert_eq!(count(&client, "select count(*) from target").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn work_cannot_change_its_tenant() {
    const MOVE: &str = "select set_config('app.tenant', $1, true)";
    let Some(ground) = Ground::shared("work_cannot_change_its_tenant").await else {
        return;
    };
    let store = ground.store().await;
    let [one, other] = two_tenants(&store).await;
    let moved: Result<u64, StoreError> = store
        .with_tenant(&one, move |tx| {
            Box::pin(async move { tx.execute(MOVE, params![&other]).await })
        })
        .await;
    assert_eq!(moved, Err(StoreError::Unscoped(MOVE)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reference_to_a_row_of_another_tenant_fails_as_one_to_no_row() {
    const TEST: &str = "a_reference_to_a_row_of_another_tenant_fails_as_one_to_no_row";
    let Some(ground) = Ground::shared(TEST).await else {
        return;
    };
    let store = ground.store().await;
    let [one, other] = two_tenants(&store).await;
    add_target(&store, &other, "theirs", "theirs").await.unwrap();
    assert_eq!(enrol(&store, &one, "theirs").await, Err(StoreError::Reference));
    assert_eq!(enrol(&store, &one, "nobodys").await, Err(StoreError::Reference));
    assert_eq!(enrol(&store, &other, "theirs").await, Ok(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_and_names_of_one_tenant_are_free_for_another() {
    let Some(ground) = Ground::shared("ids_and_names_of_one_tenant_are_free_for_another").await else {
        return;
    };
    let store = ground.store().await;
    let [one, other] = two_tenants(&store).await;
    add_target(&store, &other, "x", "theirs").await.unwrap();
    assert_eq!(add_target(&store, &one, "x", "theirs").await, Ok(1));
    assert_eq!(
        add_target(&store, &one, "x", "mine").await,
        Err(StoreError::Duplicate)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_view_with_its_readers_rights_shows_one_tenant() {
    let Some(ground) = Ground::shared("a_view_with_its_readers_rights_shows_one_tenant").await else {
        return;
    };
    let store = ground.store().await;
    let [one, _] = two_tenants(&store).await;
    drop(store);
    let view = "set role toolgate_owner; \
        create view toolgate.names with (security_invoker = true) as select name from toolgate.target; \
        grant select on toolgate.names to toolgate_app";
    ground.database.execute(view).await.unwrap();
    let client = session(&ground, "toolgate_app").await;
    let named = format!("begin; select set_config('app.tenant', '{one}', true)");
    client.batch_execute(&named).await.unwrap();
    assert_eq!(count(&client, "select count(*) from names").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gateways_role_can_neither_copy_in_nor_truncate_nor_call_what_is_new() {
    const TEST: &str = "the_gateways_role_can_neither_copy_in_nor_truncate_nor_call_what_is_new";
    let Some(ground) = Ground::shared(TEST).await else {
        return;
    };
    let new =
        "set role toolgate_owner; create function toolgate.new() returns int language sql as 'select 1'";
    ground.database.execute(new).await.unwrap();
    let client = session(&ground, "toolgate_app").await;
    assert_eq!(refused(&client, "copy policy from stdin").await, "0A000");
    for statement in [
        "truncate policy",
        "truncate audit_event",
        "select toolgate.new()",
        "insert into audit_head (tenant_id, seq, hash) values ('system', 1, '')",
        "update audit_event set kind = ''",
        "delete from audit_event",
        "select seq from audit_event for update",
        "select seq from audit_event for key share",
        "create table toolgate.mine (id bigint)",
        "create table audit.mine (id bigint)",
        "alter table policy disable row level security",
        "drop policy of_its_tenant on policy",
        "set role toolgate_owner",
        "set role toolgate_audit_owner",
        "set session_replication_role = replica",
        "alter table audit_event disable trigger append_only",
    ] {
        assert_eq!(refused(&client, statement).await, "42501", "{statement}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_record_is_append_only_for_the_superuser_too() {
    let Some(ground) = Ground::shared("the_record_is_append_only_for_the_superuser_too").await else {
        return;
    };
    let client = session(&ground, "postgres").await;
    for statement in [
        "update audit_event set kind = ''",
        "delete from audit_event",
        "truncate audit_event",
    ] {
        assert_eq!(refused(&client, statement).await, "42501", "{statement}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_number_is_shared_between_tenants() {
    let Some(ground) = Ground::shared("no_number_is_shared_between_tenants").await else {
        return;
    };
    let client = session(&ground, "postgres").await;
    let sequences = "select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace \
        where n.nspname in ('toolgate', 'audit') and c.relkind = 'S'";
    assert_eq!(count(&client, sequences).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prepared_statement_serves_each_tenant_its_own_rows() {
    const NAMES: &str = "select name from target where tenant_id = $1 order by id";
    let Some(ground) = Ground::shared("a_prepared_statement_serves_each_tenant_its_own_rows").await else {
        return;
    };
    let config = StoreConfig {
        connections: 1,
        strip_tenants: true,
        ..ground.config()
    };
    let store = Store::open(config).await.unwrap();
    let tenants = [suite::tenant(&store).await, suite::tenant(&store).await];
    for tenant in &tenants {
        add_target(&store, tenant, "t", tenant.as_str()).await.unwrap();
    }
    // Often enough for a plan that is made once for all values.
    for round in 0..20 {
        let tenant = &tenants[round % 2];
        let owner = tenant.clone();
        let names: Result<Vec<String>, StoreError> = store
            .with_tenant_read(tenant, move |tx| {
                Box::pin(async move {
                    let rows = tx.query(NAMES, params![&owner]).await?;
                    rows.iter().map(|row| row.text(0).map(str::to_owned)).collect()
                })
            })
            .await;
        assert_eq!(names, Ok(vec![tenant.as_str().to_owned()]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_one_tenant_is_found_by_index() {
    const ROWS: &str = "insert into audit.audit_event select 'tenant-' || t, s, t || '.' || s, '', '', '', '', 1, '', s, \
        'k', 'p', 'c', null, 'success', null from generate_series(1, 20) t, generate_series(1, 200) s; \
        analyze audit.audit_event";
    let Some(ground) = Ground::shared("a_page_of_one_tenant_is_found_by_index").await else {
        return;
    };
    ground.database.execute(ROWS).await.unwrap();
    let client = session(&ground, "toolgate_app").await;
    client
        .batch_execute("begin; select set_config('app.tenant', 'tenant-7', true)")
        .await
        .unwrap();
    for page in [
        "select seq, bytes from audit_event order by seq desc limit 50",
        "select seq, bytes from audit_event where tenant_id = 'tenant-7' and seq < 100 order by seq desc limit 50",
        "select seq from audit_event where tenant_id = 'tenant-7' and event_id = '7.5'",
    ] {
        let plan = client.query(&format!("explain {page}"), &[]).await.unwrap();
        let plan: Vec<String> = plan.iter().map(|row| row.get(0)).collect();
        let plan = plan.join("\n");
        assert!(
            plan.contains("Index") && !plan.contains("Seq Scan"),
            "{page}\n{plan}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_value_of_a_row_gets_into_an_error() {
    const CANARY: &str = "canary-7f3a";
    const ADD_TOKEN: &str = "insert into token (tenant_id, id, kind, name, role, hash, created_us) \
        values ($1, $2, $3, '', '', $4, 0)";
    let Some(ground) = Ground::shared("no_value_of_a_row_gets_into_an_error").await else {
        return;
    };
    let store = ground.store().await;
    let [one, other] = two_tenants(&store).await;
    let mut told = vec![
        add_target(&store, &one, "x", &format!("{CANARY}\0"))
            .await
            .unwrap_err(),
        enrol(&store, &one, CANARY).await.unwrap_err(),
    ];
    add_target(&store, &one, CANARY, CANARY).await.unwrap();
    told.push(add_target(&store, &one, CANARY, CANARY).await.unwrap_err());
    let owner = one.clone();
    let wrong: Result<u64, StoreError> = store
        .with_tenant(&one, move |tx| {
            Box::pin(async move {
                tx.execute(ADD_TOKEN, params![&owner, CANARY, CANARY, CANARY.as_bytes()])
                    .await
            })
        })
        .await;
    told.push(wrong.unwrap_err());
    let stripped = StoreConfig {
        strip_tenants: true,
        ..ground.config()
    };
    drop(store);
    let store = Store::open(stripped).await.unwrap();
    let foreign: Result<u64, StoreError> = store
        .with_tenant(&one, move |tx| {
            Box::pin(async move { tx.execute(ADD_TARGET, params![&other, CANARY, CANARY]).await })
        })
        .await;
    told.push(foreign.unwrap_err());
    assert!(
        matches!(
            told.as_slice(),
            [
                StoreError::Constraint(_),
                StoreError::Reference,
                StoreError::Duplicate,
                StoreError::Constraint(_),
                StoreError::Guard(_)
            ]
        ),
        "{told:?}"
    );
    for error in told {
        assert!(!format!("{error} {error:?}").contains(CANARY), "{error:?}");
    }
}
