//! Gate INV-2. The role of the gateway sees the rows of the tenant that its transaction names, and none where it names
//! none: whatever statement it sends, in whichever table. It may change no record, and is nobody's owner.

use toolgate_test_support::{Ground, Role};

const APP: &str = "toolgate_app";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_that_names_no_tenant_finds_nothing() {
    let test = "a_statement_that_names_no_tenant_finds_nothing";
    let Some(ground) = Ground::postgres(test).await else {
        return;
    };
    let world = ground
        .world()
        .host("web-1")
        .principal("reader", Role::Engineer)
        .stranger("stranger")
        .start()
        .await;
    world.run("uptime").await.unwrap();
    let (_, _) = world.as_principal("stranger").add_host("web-2").await.unwrap();
    world.as_principal("stranger").run("uptime").await.unwrap_err();
    let database = world.store().postgres().database();
    let tables = "select format('%I.%I', table_schema, table_name) from information_schema.columns \
                  where column_name = 'tenant_id' and table_schema in ('toolgate', 'audit') order by 1";
    let tables = database.column(tables).await.unwrap();
    assert!(tables.len() >= 10, "{tables:?}");
    let tenants = "select id from toolgate.tenants where id <> 'system'";
    let tenants = database.column(tenants).await.unwrap();
    assert_eq!(tenants.len(), 2);

    let mut seen = 0;
    for table in &tables {
        // As the superuser, to know that there is something to hide.
        let all = format!("select distinct tenant_id from {table}");
        let all = database.column(&all).await.unwrap();
        let ask = |tenant: &str| {
            format!(
                "begin; select set_config('app.tenant', '{tenant}', true) where '{tenant}' <> ''; select tenant_id from {table}; commit"
            )
        };
        for tenant in ["", "no-such-tenant"] {
            let found = database.column_as(APP, &ask(tenant)).await.unwrap();
            let found: Vec<&String> = found.iter().filter(|found| *found != tenant).collect();
            assert!(found.is_empty(), "{table} shows {found:?} to {tenant:?}");
        }
        for tenant in &tenants {
            let found = database.column_as(APP, &ask(tenant)).await.unwrap();
            assert!(
                found.iter().all(|found| found == tenant),
                "{table} shows {found:?} to {tenant}"
            );
            // The first is what was set.
            if all.contains(tenant) {
                assert!(found.len() > 1, "{table} hides {tenant} from itself");
                seen += 1;
            }
        }
    }
    assert!(seen >= 6, "too little was there to be hidden: {seen}");

    for refused in [
        "update audit.audit_event set result = 'x'",
        "delete from audit.intent",
        "insert into audit.audit_head values ('x', 1, '')",
        "truncate toolgate.token",
        "set row_security = off; select * from toolgate.token",
        "alter table toolgate.token disable row level security",
        "set role toolgate_owner",
    ] {
        let told = database.column_as(APP, refused).await.unwrap_err();
        assert!(told.starts_with("42501"), "{refused}: {told}");
    }
}
