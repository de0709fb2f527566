//! Gate INV-3. Every secret that went in is looked for in everything that comes out: answers, the record, the log, the
//! database and its log. None is there; what is stored of tokens are hashes.

use std::{fs, path::Path};

use serde_json::json;
use toolgate_test_support::{Dialect, Does, Gateway, McpClient, Project, Revision, Role, until};

#[tokio::test]
async fn no_secret_leaves_the_gate() {
    let mut gateway = Gateway::start(&["--log-level", "trace"]).await.unwrap();
    let admin = gateway.admin();
    let (id, reader) = admin.make_token("canary-reader", Role::Engineer).await.unwrap();
    let (_, enrolment) = admin.add_host("canary-host").await.unwrap();
    let (target, of_project) = admin.add_project("canary-project", "read_write").await.unwrap();
    let project = Project::enrol(gateway.url(), "canary-project", &target, &of_project)
        .await
        .unwrap();
    admin.project_is_up("canary-project", 2).await;
    let result = "canary-result-51cd";
    for (what, does) in [
        ("create_story", Does::text(result)),
        (
            "prompts/get",
            Does::Answers(format!(r#"{{"messages":[],"description":"{result}"}}"#)),
        ),
        (
            "who_are_you",
            Does::Errs(format!(r#"{{"code":-32000,"message":"{result}"}}"#)),
        ),
    ] {
        project.when(what, does);
    }
    let event = format!(r#"{{"level":"info","data":"{result}"}}"#);
    project.notify("notifications/message", &event).await;
    let wrong = format!("{}x", &reader.token()[..reader.token().len() - 1]);
    let argument = "canary-argument-7f3a";

    let mut answers = Vec::new();
    answers.push(reader.with_token(&*wrong).get("/api/mcp/tools").await.text);
    answers.push(admin.get("/api/tokens").await.text);
    answers.push(admin.get("/api/mcp/adapter").await.text);
    answers.push(admin.get("/metrics").await.text);
    answers.push(
        admin
            .post("/api/sign-in", json!({"code": format!("tgl_{argument}")}))
            .await
            .text,
    );
    let command = format!("rm -rf {argument}");
    answers.push(
        admin
            .invoke_with(
                &json!({"name": "ssh.run_whitelisted_command",
        "arguments": {"command": command}}),
                &[("prefer", "wait")],
            )
            .await
            .text,
    );
    for dialect in Dialect::ALL {
        let wrong = reader.with_token(&*wrong).by(dialect).await;
        for speaker in [wrong, reader.by(dialect).await] {
            let told = speaker
                .call("ssh.run_whitelisted_command", &json!({"command": command}))
                .await;
            answers.push(format!("{dialect:?} {told:?} {:?}", speaker.tools().await));
        }
    }
    // What a project is asked and answers passes, and stays nowhere.
    for dialect in Dialect::ALL {
        let speaker = reader.by(dialect).await;
        for tool in ["create_story", "who_are_you"] {
            let arguments = json!({"name": argument, "project": "canary-project"});
            let told = speaker.call(tool, &arguments).await;
            answers.push(format!("{told:?}").replace(result, ""));
        }
    }
    let pipe = McpClient::open(&reader, "/mcp/project/canary-project", Revision::November2025).await;
    for (method, params) in [
        ("prompts/get", "name"),
        ("resources/read", "uri"),
        ("completion/complete", "ref"),
    ] {
        let told = pipe.ask(method, &json!({ params: argument }).to_string()).await;
        answers.push(told.answer.replace(result, ""));
    }
    reader
        .invoke_with(
            &json!({"name": "ssh.run_whitelisted_command", "arguments": {"command": "uptime"}}),
            &[],
        )
        .await;
    admin.delete(&format!("/api/tokens/{id}")).await;
    answers.push(admin.get("/api/audit/export").await.text);
    until(std::time::Duration::from_secs(5), || async {
        (!gateway.log().is_empty()).then_some(())
    })
    .await;
    gateway.terminate().await;

    // The secret part may hold underscores of its own.
    let secret = |token: &str| token.splitn(3, '_').nth(2).unwrap().to_owned();
    let canaries = [
        ("admin token", secret(admin.token())),
        ("reader token", secret(reader.token())),
        ("wrong token", secret(&wrong)),
        ("enrolment token", secret(&enrolment)[..40].to_owned()),
        (
            "enrolment token of a project",
            secret(&of_project)[..40].to_owned(),
        ),
        ("argument", argument.to_owned()),
        ("result of a project", result.to_owned()),
    ];
    let mut outputs: Vec<(String, Vec<u8>)> = vec![
        ("log".into(), gateway.log().into_bytes()),
        ("answers".into(), answers.join("\n").into_bytes()),
    ];
    for file in files(&gateway.data_dir()) {
        let own = file.ends_with("admin-token");
        if !own {
            outputs.push((file.clone(), fs::read(&file).unwrap()));
        }
    }
    assert!(
        outputs
            .iter()
            .any(|(name, bytes)| name.contains("toolgate.db") && bytes.len() > 4096)
    );
    assert!(outputs[0].1.len() > 1000, "at trace level the log is not empty");
    for (name, bytes) in &outputs {
        for (what, canary) in &canaries {
            let found = bytes
                .windows(canary.len())
                .any(|window| window == canary.as_bytes());
            assert!(!found, "the {what} stands in {name}{}", place(bytes, canary));
        }
    }
}

fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false if entry.file_type().unwrap().is_file() => found.push(path.display().to_string()),
            false => {}
        }
    }
    found
}

/// The line around a finding, the finding itself struck out.
fn place(bytes: &[u8], canary: &str) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = text
        .lines()
        .find(|line| line.contains(canary))
        .unwrap_or_default();
    format!(
        ": {}",
        line.replace(canary, "***").chars().take(600).collect::<String>()
    )
}
