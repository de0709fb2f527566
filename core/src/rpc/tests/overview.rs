//! What a look at the gateway tells, and to whom.

use toolgate_contract::v1::overview_service_client::OverviewServiceClient;

use super::*;

impl World {
    async fn overview(&self, token: &str, minutes: Option<u32>) -> Result<wire::GetOverviewResponse, Status> {
        let asked = with(token, wire::GetOverviewRequest { minutes });
        let mut client = OverviewServiceClient::new(self.service());
        client.get_overview(asked).await.map(tonic::Response::into_inner)
    }

    async fn echo(&self, token: &str) -> Result<(), Status> {
        let asked = wire::CallRequest {
            name: "test_simple_text".into(),
            ..Default::default()
        };
        self.broker().call(with(token, asked)).await.map(drop)
    }
}

#[tokio::test]
async fn the_overview_is_for_those_who_see_targets() {
    let world = World::new().await;
    for (role, may) in [
        ("admin", true),
        ("engineer", true),
        ("auditor", true),
        ("agent", false),
    ] {
        let told = world.overview(&world.token(role).await.token, None).await;
        match may {
            true => assert_eq!(told.unwrap().calls.len(), 60, "{role}"),
            false => assert_eq!(reason(&told.unwrap_err()), ErrorReason::RoleForbidden),
        }
    }
    for minutes in [0, 181] {
        let refused = world.overview(&world.admin, Some(minutes)).await.unwrap_err();
        assert_eq!(reason(&refused), ErrorReason::ArgumentsInvalid);
        assert!(
            refused.message().starts_with("minutes: must be 1 to 180"),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn calls_and_refusals_are_in_the_overview_when_they_are_answered() {
    let world = World::with(Some(Fixtures::default())).await;
    let agent = world.token("agent").await.token;
    let before = world.overview(&world.admin, Some(2)).await.unwrap();
    assert_eq!((before.step_ms, before.calls.iter().sum::<i64>()), (60_000, 0));
    assert_eq!(before.start_ms % 60_000, 0);

    for _ in 0..3 {
        world.echo(&agent).await.unwrap();
    }
    let missing = wire::CallRequest {
        name: "no_such_tool".into(),
        ..Default::default()
    };
    world.broker().call(with(&agent, missing)).await.unwrap_err();

    let told = world.overview(&world.admin, Some(180)).await.unwrap();
    assert_eq!((told.calls.len(), told.calls.iter().sum::<i64>()), (180, 3));
    assert_eq!(told.failed.iter().sum::<i64>(), 0);
    let tool = &told.tools[0];
    assert_eq!(
        (&*tool.name, tool.calls.iter().sum::<i64>()),
        ("test_simple_text", 3)
    );
    let p95: Vec<Option<f64>> = serde_json::from_slice(&tool.p95_ms).unwrap();
    assert_eq!(p95.len(), 180);
    assert!(p95.iter().flatten().all(|ms| *ms > 0.0) && p95.iter().flatten().count() >= 1);
    assert_eq!(told.refused.iter().sum::<i64>(), 1);
    assert_eq!(
        (&*told.refusals[0].reason, told.refusals[0].count),
        ("TOOL_NOT_FOUND", 1)
    );
}

#[tokio::test]
async fn headroom_record_and_uplinks_are_those_of_the_caller() {
    let world = World::with(Some(Fixtures::default())).await;
    let engineer = world.token("engineer").await.token;
    let limits = async |token: &str| world.overview(token, None).await.unwrap().limits.unwrap();
    let whole = limits(&engineer).await;
    assert_eq!(
        (whole.user_left, whole.tenant_left),
        (whole.user_per_minute, whole.tenant_per_minute)
    );
    world.echo(&world.admin).await.unwrap();
    world.echo(&world.admin).await.unwrap();
    assert_eq!(limits(&engineer).await.user_left, whole.user_left);
    let (mine, other) = (limits(&world.admin).await, limits(&engineer).await);
    assert!(
        mine.user_left < whole.user_left && other.tenant_left < whole.tenant_left,
        "{mine:?} {other:?}"
    );

    let told = world.overview(&world.admin, None).await.unwrap();
    assert_eq!(
        told.uplinks.unwrap(),
        wire::UplinkCount {
            connected: 0,
            total: 0
        }
    );
    let id = world.host().await;
    let told = world.overview(&world.admin, None).await.unwrap();
    assert_eq!(
        told.uplinks.unwrap(),
        wire::UplinkCount {
            connected: 0,
            total: 1
        }
    );
    let off = wire::UpdateTargetRequest {
        id,
        disabled: Some(true),
        ..Default::default()
    };
    world
        .targets()
        .update_target(with(&world.admin, off))
        .await
        .unwrap();
    let told = world.overview(&world.admin, None).await.unwrap();
    assert_eq!(told.uplinks.unwrap().total, 0);

    // An export asks for a checkpoint of the record as it is.
    let asked = wire::ExportCheckpointsRequest::default();
    world
        .audit()
        .export_checkpoints(with(&world.admin, asked))
        .await
        .unwrap();
    let newest = world.events(&world.admin, Default::default()).await[0].seq;
    let record = world.overview(&world.admin, None).await.unwrap().record.unwrap();
    assert_eq!((record.seq, record.checkpoint_seq), (newest, Some(newest)));
    assert!(crate::rfc3339::parse(&record.checkpoint_at.unwrap()).is_ok());
}
