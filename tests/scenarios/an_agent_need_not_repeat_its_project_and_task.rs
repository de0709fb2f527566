//! Project and task of agent tools come from the arguments, else from the token, else from the request; what is in none
//! of them is told by the names of all.

use serde_json::{Value, json};
use toolgate_test_support::{AgentOperator, BackEnds, Caller, Issuer, Signer, World};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_need_not_repeat_its_project_and_task() {
    let signer = Signer::eddsa("k");
    let issuer = Issuer::start(&[&signer]).await;
    let world = World::new().unlimited().jwt(issuer.settings()).start().await;
    let back_ends = BackEnds::added(world.admin(), "read_write").await.unwrap();
    let mut claims = issuer.claims("pod", "engineer", world.clock().wall_us());
    claims["toolgate_project"] = json!("claimed");
    let pod = world.admin().with_token(signer.token(&claims));
    let (admin, operator) = (world.admin(), &back_ends.operator);

    let header: &[(&str, &str)] = &[("toolgate-project", "headed"), ("toolgate-task", "t-7")];
    for (caller, arguments, headers, path) in [
        (admin, json!({"project": "said"}), header, "/projects/said"),
        (admin, json!({}), header, "/projects/headed"),
        (admin, json!({"project": ""}), header, "/projects/headed"),
        (&pod, json!({}), header, "/projects/claimed"),
        (&pod, json!({}), &[], "/projects/claimed"),
        (&pod, json!({"project": "said"}), header, "/projects/said"),
    ] {
        assert_eq!(
            project_get(caller, arguments.clone(), headers, operator)
                .await
                .as_deref(),
            Ok(path),
            "{arguments}"
        );
    }
    let missing = project_get(admin, json!({}), &[], operator).await.unwrap_err();
    assert_eq!(missing["violations"][0]["pointer"], "/project");
    assert_eq!(missing["violations"][0]["keyword"], "required");
    let text = missing["violations"][0]["message"].as_str().unwrap();
    for place in ["argument project", "Toolgate-Project", "TATARA_PROJECT"] {
        assert!(text.contains(place), "{text}");
    }
    let dots = project_get(admin, json!({}), &[("toolgate-project", "..")], operator)
        .await
        .unwrap_err();
    assert_eq!(dots["violations"][0]["pointer"], "/project");
    // The claim says nothing of the task, so the header's counts.
    operator.forget();
    let body = json!({"name": "task_get", "arguments": {}});
    pod.invoke_with(&body, &[("prefer", "wait"), ("toolgate-task", "t-7")])
        .await;
    assert_eq!(operator.last().unwrap().path, "/tasks/t-7");
}

/// The path that the operator was asked for, or the refusal.
async fn project_get(
    caller: &Caller,
    arguments: Value,
    headers: &[(&str, &str)],
    operator: &AgentOperator,
) -> Result<String, Value> {
    operator.forget();
    let headers: Vec<(&str, &str)> = headers.iter().copied().chain([("prefer", "wait")]).collect();
    let body = json!({"name": "project_get", "arguments": arguments});
    let answer = caller.invoke_with(&body, &headers).await;
    match answer.status {
        200 => Ok(operator.last().expect("it was asked").path),
        _ => {
            assert!(operator.asked().is_empty());
            Err(answer.json())
        }
    }
}
