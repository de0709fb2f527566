use toolgate_test_postgres::{Cluster, available};

use super::*;
use crate::{
    changes::tests::ground::Ground,
    pages::Page,
    store::{StoreConfig, schema},
    tokens::{Token, Tokens, Wanted},
};

const MINUTE: Duration = Duration::from_secs(60);

async fn token(ground: &Ground, name: &str) -> TokenId {
    let wanted = Wanted {
        name: name.into(),
        role: "engineer".into(),
        ..Wanted::default()
    };
    let made = Tokens::new(ground.changes.clone())
        .create(ground.admin(), wanted)
        .await;
    made.unwrap().0.id
}

async fn stored(ground: &Ground, id: TokenId) -> Option<i64> {
    let page = Page::asked(None, None).unwrap();
    let listed = Tokens::new(ground.changes.clone())
        .list(&ground.admin(), page)
        .await;
    let found: Vec<Token> = listed.unwrap().0;
    found
        .into_iter()
        .find(|token| token.id == id)
        .unwrap()
        .last_used_us
}

#[tokio::test]
async fn a_use_is_told_at_once_and_written_after_a_minute() {
    let ground = Ground::new().await;
    let (id, tenant) = (token(&ground, "ci").await, ground.admin().tenant);
    let uses = Uses::new(ground.store.clone(), ground.clock.clone());
    assert_eq!(uses.last(&tenant, id, None), None);
    let first_us = ground.clock.wall_us();
    uses.note(&tenant, id);
    assert_eq!(uses.last(&tenant, id, None), Some(first_us));

    uses.write(WAIT, TENANTS_AT_ONCE).await.unwrap();
    assert_eq!(stored(&ground, id).await, None, "no write before its time");
    ground.clock.advance(MINUTE);
    let second_us = ground.clock.wall_us();
    uses.note(&tenant, id);
    uses.write(WAIT, TENANTS_AT_ONCE).await.unwrap();
    assert_eq!(stored(&ground, id).await, Some(second_us));
    assert_eq!(uses.0.count.load(Ordering::Relaxed), 0);

    // The next one waits anew.
    uses.note(&tenant, id);
    ground.clock.advance(MINUTE / 2);
    uses.note(&tenant, id);
    uses.write(WAIT, TENANTS_AT_ONCE).await.unwrap();
    assert_eq!(stored(&ground, id).await, Some(second_us));
    assert_eq!(
        uses.last(&tenant, id, Some(second_us)),
        Some(ground.clock.wall_us())
    );
}

#[tokio::test]
async fn what_is_left_is_written_at_the_end() {
    let ground = Ground::new().await;
    let (id, tenant) = (token(&ground, "ci").await, ground.admin().tenant);
    let uses = Uses::new(ground.store.clone(), ground.clock.clone());
    let stop = CancellationToken::new();
    let kept = tokio::spawn(uses.clone().keep(stop.clone()));
    uses.note(&tenant, id);
    stop.cancel();
    kept.await.unwrap();
    assert_eq!(stored(&ground, id).await, Some(ground.clock.wall_us()));
}

#[tokio::test]
async fn a_revoked_token_keeps_its_last_use_and_a_clock_that_goes_back_does_not_move_it() {
    let ground = Ground::new().await;
    let (id, tenant) = (token(&ground, "ci").await, ground.admin().tenant);
    let uses = Uses::new(ground.store.clone(), ground.clock.clone());
    let used_us = ground.clock.wall_us();
    uses.note(&tenant, id);
    uses.write_all().await.unwrap();
    let tokens = Tokens::new(ground.changes.clone());
    tokens.revoke(ground.admin(), &id.to_string()).await.unwrap();
    assert_eq!(stored(&ground, id).await, Some(used_us));

    ground.clock.set_wall_us(used_us - 3_600_000_000);
    uses.note(&tenant, id);
    assert_eq!(uses.last(&tenant, id, Some(used_us)), Some(used_us));
    uses.write_all().await.unwrap();
    assert_eq!(stored(&ground, id).await, Some(used_us));
}

#[tokio::test]
async fn what_cannot_be_held_is_not_noted_and_costs_nobody_else_its_place() {
    let ground = Ground::new().await;
    let tenant = ground.admin().tenant;
    let uses = Uses::new(ground.store.clone(), ground.clock.clone());
    let (known, new) = (TokenId::mint(), TokenId::mint());
    uses.note(&tenant, known);
    uses.0.count.store(MOST, Ordering::Relaxed);
    uses.note(&tenant, new);
    assert_eq!(uses.last(&tenant, new, None), None);
    ground.clock.advance(MINUTE);
    uses.note(&tenant, known);
    assert_eq!(uses.last(&tenant, known, None), Some(ground.clock.wall_us()));
}

#[tokio::test]
async fn a_last_use_is_written_and_never_goes_back_on_the_embedded_store() {
    let ground = Ground::new().await;
    a_last_use_is_written_and_never_goes_back(ground.store.clone()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_last_use_is_written_and_never_goes_back_on_postgresql() {
    if !available("a_last_use_is_written_and_never_goes_back_on_postgresql") {
        return;
    }
    let database = Cluster::shared().await.database().await;
    schema::migrate(&database.admin_url().parse().unwrap(), None)
        .await
        .unwrap();
    let config = StoreConfig {
        // The shared server of the tests flushes nothing.
        insist_on_durability: false,
        ..StoreConfig::postgres(database.url_as("toolgate_app").parse().unwrap())
    };
    a_last_use_is_written_and_never_goes_back(Store::open(config).await.unwrap()).await;
}

async fn a_last_use_is_written_and_never_goes_back(store: Store) {
    const ADD: &str = "insert into token (tenant_id, id, kind, name, role, hash, created_us) \
        values ($1, $2, 'api', 'ci', 'agent', $3, 1)";
    const LAST: &str = "select last_used_us from token where tenant_id = $1 and id = $2";
    let (tenant, id) = (TenantId::mint(), TokenId::mint());
    let owner = tenant.clone();
    let made: Result<u64, StoreError> = store
        .with_tenant(&tenant, move |tx| {
            Box::pin(async move {
                tx.create_tenant("acme", 1).await?;
                tx.execute(ADD, params![&owner, id, &[7; 32]]).await
            })
        })
        .await;
    assert_eq!(made, Ok(1));
    let last = async || {
        let owner = tenant.clone();
        let row: Result<_, StoreError> = store
            .with_tenant_read(&tenant, move |tx| {
                Box::pin(async move { tx.query_opt(LAST, params![&owner, id]).await })
            })
            .await;
        row.unwrap().unwrap().opt_int(0).unwrap()
    };
    assert_eq!(last().await, None);
    let clock = Clock::manual(5_000_000);
    let uses = Uses::new(store.clone(), clock.clone());
    for (wall_us, expected) in [
        (5_000_000, 5_000_000),
        (9_000_000, 9_000_000),
        (6_000_000, 9_000_000),
    ] {
        clock.set_wall_us(wall_us);
        uses.note(&tenant, id);
        uses.write_all().await.unwrap();
        assert_eq!(last().await, Some(expected));
    }
}
