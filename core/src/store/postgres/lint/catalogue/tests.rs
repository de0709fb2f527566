//! The golden text is that of a fresh database, on whatever server.

use std::{fs, path::Path, time::Duration};

use tokio_util::task::TaskTracker;
use toolgate_test_postgres::{Setup, available};

use super::*;
use crate::store::{
    DatabaseUrl, Store, StoreConfig,
    postgres::{connect::Connector, tests::ground::Ground},
    schema,
};

async fn catalogue_of(url: &DatabaseUrl) -> String {
    let within = Duration::from_secs(10);
    let connector = Connector::new(url.clone(), TaskTracker::new(), within)
        .unwrap()
        .unguarded();
    let until = Instant::now() + within;
    let line = connector.open(until).await.unwrap();
    read(&line, &["toolgate_app".to_owned()], until).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_golden_text_is_the_catalogue_of_a_fresh_database() {
    const TEST: &str = "the_golden_text_is_the_catalogue_of_a_fresh_database";
    let Some(ground) = Ground::shared(TEST).await else {
        return;
    };
    let actual = catalogue_of(&ground.url("toolgate_app")).await;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store/postgres/lint/catalogue.txt");
    #[allow(
        clippy::disallowed_methods,
        reason = "the switch of the golden files is no configuration"
    )]
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&file, actual).unwrap();
        return;
    }
    let expected = fs::read_to_string(&file).unwrap();
    assert!(
        expected == actual,
        "if the change is meant, run UPDATE=1 cargo test -p toolgate-core {TEST}\n{}",
        differences(&expected, &actual).join("\n")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_change_is_seen_in_databases_of_other_names_locales_and_administrators() {
    const TEST: &str = "no_change_is_seen_in_databases_of_other_names_locales_and_administrators";
    if !available(TEST) {
        return;
    }
    let cluster = Setup::default().setting("fsync=off").start().await.unwrap();
    let first = Ground::on(&cluster).await;
    // An administrator who is a member of the owners, a role of their own for the gateway, a search path that hides
    // where things are, a database that not everybody may connect to.
    first
        .database
        .execute(
            "create role \"The Boss\" login superuser;
             create role own_gateway login in role toolgate_app;
             alter role toolgate_app set search_path = audit, toolgate",
        )
        .await
        .unwrap();
    let names = [
        (
            "\"toolgate\"",
            "toolgate",
            "encoding 'UTF8' lc_collate 'C.UTF-8' lc_ctype 'C.UTF-8'",
        ),
        (
            "\"Another Name\"",
            "Another%20Name",
            "encoding 'UTF8' locale_provider icu icu_locale 'de-DE' lc_collate 'C' lc_ctype 'C'",
        ),
        (
            "plain",
            "plain",
            "encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C'",
        ),
    ];
    for (name, in_url, how) in names {
        let made = format!("create database {name} owner \"The Boss\" template template0 {how}");
        first.database.execute(&made).await.unwrap();
        let url = |role: &str| -> DatabaseUrl {
            format!("postgres://{role}@127.0.0.1:{}/{in_url}", cluster.port())
                .parse()
                .unwrap()
        };
        schema::migrate(&url("The%20Boss"), None).await.unwrap();
        let closed = format!(
            "revoke all on database {name} from public;
             grant connect on database {name} to toolgate_app, toolgate_auditor, own_gateway"
        );
        first.database.execute(&closed).await.unwrap();
        for role in ["toolgate_app", "toolgate_auditor", "The%20Boss"] {
            let seen = differences(MADE, &catalogue_of(&url(role)).await);
            assert_eq!(seen, Vec::<String>::new(), "{name} as {role}");
        }
        for role in ["toolgate_app", "own_gateway"] {
            let config = StoreConfig {
                insist_on_durability: false,
                ..StoreConfig::postgres(url(role))
            };
            drop(Store::open(config).await.unwrap());
        }
    }
}

#[test]
fn a_thing_that_is_there_in_another_form_is_one_change() {
    let made = "index a on t: of a\nrule b: x\nrole c: there";
    let found = "index a on t: of b\nrole c: there\nrole c: may be superuser";
    assert_eq!(
        differences(made, found),
        [
            "schema: changed \"index a on t\": of b, made as of a",
            "schema: missing \"rule b: x\"",
            "schema: unexpected \"role c: may be superuser\"",
        ]
    );
}
