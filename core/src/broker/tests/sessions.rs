//! Requests that stand in a session of an MCP client.

use super::*;

fn in_session(credential: &Secret, session: &str) -> Ask {
    Ask {
        session: Some(session.into()),
        ..ask(Some(credential))
    }
}

impl World {
    async fn opened(&self, credential: &Secret) -> String {
        let caller = self.broker.caller(&ask(Some(credential)), Action::SeeSelf).await;
        let sessions = &self.broker.rooms().mcp_sessions;
        sessions.open(caller.unwrap().principal(), "2025-06-18").unwrap()
    }

    async fn call_in(&self, credential: &Secret, session: &str) -> Result<Settled, ErrorReason> {
        let asked = in_session(credential, session);
        let called = self.broker.call(&asked, wish(SSH, UPTIME)).await;
        called.map_err(|failed| failed.error.reason())
    }
}

#[tokio::test]
async fn a_call_stands_in_a_session_of_its_caller_or_is_refused_and_counted() {
    let world = World::new(Limits::default()).await;
    let neighbour = world.neighbour().await;
    let bob = world.token("bob", Role::Engineer, None).await;
    let session = world.opened(&world.admin).await;
    world.call_in(&world.admin, &session).await.unwrap();

    let not_there = Err(ErrorReason::ResourceNotFound);
    let told = async |credential: &Secret, session: &str| world.call_in(credential, session).await.map(drop);
    assert_eq!(told(&bob, &session).await, not_there);
    assert_eq!(told(&neighbour.admin, &session).await, not_there);
    for text in ["", "x", "2025-06-18..", &format!("{session} ")] {
        assert_eq!(told(&world.admin, text).await, not_there, "{text}");
    }
    assert_eq!(world.contacts(), 1);
    let counted = "select sum(count) from refusal_counter where tenant_id = $1";
    world.call(&world.admin, SSH, UPTIME).await.unwrap();
    assert_eq!(world.count(counted).await, 5);
}

#[tokio::test]
async fn a_session_outlives_the_token_it_began_with_and_is_no_credential() {
    let world = World::new(Limits::default()).await;
    let session = world.opened(&world.admin).await;
    let renewed = world.token("admin", Role::Admin, None).await;
    world.call_in(&renewed, &session).await.unwrap();
    let nobody = Ask {
        session: Some(session.clone()),
        ..ask(None)
    };
    let failed = world.broker.call(&nobody, wish(SSH, UPTIME)).await.unwrap_err();
    assert_eq!(failed.error.reason(), ErrorReason::CredentialInvalid);
}
