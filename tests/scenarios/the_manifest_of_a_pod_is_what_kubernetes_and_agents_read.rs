//! `docs/examples/agent-pod.yaml` fits the schema of Kubernetes, puts the profile before what the user adds (row B7), and
//! registers the server under the key that the tailer looks for (row B14).

use serde_json::Value;
use toolgate_contract::{pods, registry};
use toolgate_test_support::{Pod, not_run};

use crate::{agent_tools, manifests::Validator};

const MANIFEST: &str = include_str!("../../docs/examples/agent-pod.yaml");
/// Below it stands what the user adds.
const EXTRAS: &str = "# Extras of the user";

/// The variables of the agent, in their order, with the values that stand in the manifest.
fn variables() -> Vec<(usize, &'static str, Option<&'static str>)> {
    let agent = MANIFEST
        .find("- name: agent\n")
        .expect("the container of the agent");
    let end = agent + MANIFEST[agent..].find("ports:").expect("its ports");
    let mut found = Vec::new();
    for (at, _) in MANIFEST[agent..end].match_indices("- name: TATARA_") {
        let text = &MANIFEST[agent + at..end];
        let mut lines = text.lines();
        let name = lines
            .next()
            .and_then(|line| line.strip_prefix("- name: "))
            .unwrap();
        let value = lines.next().and_then(|line| line.trim().strip_prefix("value: "));
        found.push((agent + at, name, value));
    }
    found
}

fn value(name: &str) -> &'static str {
    let found = variables().into_iter().find(|(_, known, _)| *known == name);
    found
        .and_then(|(.., value)| value)
        .unwrap_or_else(|| panic!("no value of {name}"))
}

#[test]
fn the_profile_is_that_of_the_kind_and_stands_before_what_the_user_adds() {
    let variables = variables();
    assert_eq!(variables[0].1, pods::TOOL_PROFILE, "{variables:?}");
    let extras = MANIFEST.find(EXTRAS).expect(EXTRAS);
    assert!(
        variables.iter().all(|(at, ..)| *at < extras),
        "{variables:?} {extras}"
    );
    let after = &MANIFEST[extras..];
    assert!(
        after[..after.find("ports:").unwrap()].contains("- name: "),
        "there is an extra"
    );
    let kind = value("TATARA_KIND");
    assert!(registry::profile_for_kind(kind).is_some(), "{kind}");
    assert_eq!(value(pods::TOOL_PROFILE), pods::profile_for_kind(kind));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_kind_has_its_profile_on_the_command_line_and_an_unknown_one_the_empty_value() {
    let folder = tempfile::tempdir().unwrap();
    let ask = async |kind: &str| {
        let output = toolgate_test_support::run(&["profile", "for-kind", kind], &[], folder.path())
            .await
            .unwrap();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    let mut kinds = 0;
    for (profile, of_profile, ..) in agent_tools::profiles() {
        for kind in of_profile {
            assert_eq!(ask(&kind).await, format!("{profile}\n"), "{kind}");
            kinds += 1;
        }
    }
    assert_eq!(kinds, 7);
    for unknown in ["healthCheck", "triage", "Implement"] {
        assert_eq!(ask(unknown).await.trim(), "", "{unknown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_name_in_transcripts_is_the_key_of_the_server_and_the_tool() {
    let block = MANIFEST
        .split_once("mcp.json: |\n")
        .expect("the configuration of the client")
        .1;
    let block = block.split_once("\n---\n").expect("the next document").0;
    let client: Value = serde_json::from_str(block).unwrap();
    let servers = client["mcpServers"].as_object().expect("servers");
    let [(key, server)] = &servers.iter().collect::<Vec<_>>()[..] else {
        panic!("{client}");
    };
    assert_eq!(server["command"], "toolgate");
    assert_eq!(server["args"][0], "mcp");
    let expected = format!("mcp__{key}__report_internal_issue");
    assert_eq!(toolgate_transcript::REPORT_TOOL, expected);
    assert_eq!(toolgate_transcript::report_tool(key), expected);

    let pod = Pod::start().await;
    let (mut pipe, begun) = pod.begin(&[], &[]).await.unwrap();
    assert_eq!(begun["result"]["serverInfo"]["name"], key.as_str());
    assert!(
        pipe.tools()
            .await
            .unwrap()
            .iter()
            .any(|tool| expected.ends_with(tool))
    );
}

#[tokio::test]
async fn the_manifest_fits_the_schema_of_kubernetes() {
    const TEST: &str = "the_manifest_fits_the_schema_of_kubernetes";
    let Some(validator) = Validator::find() else {
        not_run(TEST, "no kubernetes-validate; tests/run puts it there");
        return;
    };
    let check = async |manifest: &str| validator.judge(manifest).await;
    let (fits, told) = check(MANIFEST).await;
    assert!(fits, "{told}");
    for kind in ["configmap/", "pod/"] {
        assert!(told.contains(kind), "{told}");
    }
    // It can say no.
    for (good, bad) in [
        ("runAsNonRoot:", "runAsNonRot:"),
        ("secretKeyRef:", "secretRef:"),
        ("containerPort: 9464", "containerPort: metrics"),
    ] {
        assert!(MANIFEST.contains(good));
        let (fits, told) = check(&MANIFEST.replacen(good, bad, 1)).await;
        assert!(!fits, "{bad}: {told}");
    }
}
