//! What `docs/guide.md` tells to copy: the manifests fit the schema of Kubernetes, systemd takes the unit and holds it tight,
//! and the settings in both are settings of the gateway. No image is built here: there is no engine for it.

use serde_json::Value;
use tokio::process::Command;
use toolgate_test_support::{not_run, run};

use crate::manifests::Validator;

const MANIFESTS: &str = include_str!("../../docs/examples/kubernetes.yaml");
const UNIT: &str = include_str!("../../docs/examples/toolgate.service");
const IMAGE: &str = include_str!("../../docs/examples/Containerfile");
const GUIDE: &str = include_str!("../../docs/guide.md");
/// The most exposure that `systemd-analyze security` may see, in tenths.
const EXPOSURE: &str = "--threshold=20";

#[tokio::test]
async fn the_manifests_fit_the_schema_of_kubernetes() {
    let Some(validator) = Validator::find() else {
        not_run(
            "the_manifests_fit_the_schema_of_kubernetes",
            "no kubernetes-validate; tests/run puts it there",
        );
        return;
    };
    let (fits, told) = validator.judge(MANIFESTS).await;
    assert!(fits, "{told}");
    for kind in [
        "secret/",
        "configmap/",
        "statefulset/",
        "service/",
        "poddisruptionbudget/",
        "networkpolicy/",
    ] {
        assert!(told.contains(kind), "{told}");
    }
    let (fits, told) = validator
        .judge(&MANIFESTS.replace("readinessProbe:", "readyProbe:"))
        .await;
    assert!(!fits, "{told}");
}

#[tokio::test]
async fn systemd_takes_the_unit_and_holds_it_tight() {
    let folder = tempfile::tempdir().unwrap();
    // Its program has to be there, whatever it is.
    let unit = UNIT.replace("/usr/local/bin/toolgate", "/bin/true");
    std::fs::write(folder.path().join("toolgate.service"), unit).unwrap();
    let analyze = async |arguments: &[&str]| {
        Command::new("systemd-analyze")
            .args(arguments)
            .arg(folder.path().join("toolgate.service"))
            .output()
            .await
    };
    let Ok(verified) = analyze(&["verify", "--man=no"]).await else {
        not_run(
            "systemd_takes_the_unit_and_holds_it_tight",
            "no systemd-analyze on this machine",
        );
        return;
    };
    let told = String::from_utf8_lossy(&verified.stderr);
    assert!(
        verified.status.success() && !told.contains("toolgate.service:"),
        "{told}"
    );
    let tight = analyze(&["security", "--offline=true", EXPOSURE]).await.unwrap();
    let told = String::from_utf8_lossy(&tight.stdout);
    assert!(tight.status.success(), "{told}");
}

#[tokio::test]
async fn their_settings_are_settings_of_the_gateway() {
    let check = async |settings: &str, wanted: &[(&str, Value)]| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("toolgate.toml");
        std::fs::write(&file, settings).unwrap();
        let arguments = ["config", "show", "--json", "--config", file.to_str().unwrap()];
        let shown = run(&arguments, &[], folder.path()).await.unwrap();
        assert!(shown.status.success(), "{settings}: {shown:?}");
        let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
        for (key, value) in wanted {
            assert!(told(&shown, key, value), "{key} in {shown}");
        }
    };
    let (_, of_pod) = MANIFESTS.split_once("toolgate.toml: |\n").unwrap();
    let (of_pod, _) = of_pod.split_once("---").unwrap();
    let of_pod: String = of_pod
        .lines()
        .map(|line| format!("{}\n", line.trim_start()))
        .collect();
    check(&of_pod, &[("behind_proxy", true.into())]).await;
    let (_, of_machine) = GUIDE.split_once("# /etc/toolgate/toolgate.toml").unwrap();
    let (of_machine, _) = of_machine.split_once("```").unwrap();
    let (_, of_machine) = of_machine.split_once('\n').unwrap();
    let of_machine = of_machine.replace("/etc/toolgate/webhook-token", "webhook-token");
    check(&of_machine, &[("public_url", "https://gate.example.org".into())]).await;
    // What the image sets by variables, each is one of a setting.
    let variables: Vec<&str> = IMAGE
        .lines()
        .filter_map(|line| line.strip_prefix("ENV "))
        .flat_map(|line| line.split_whitespace())
        .filter_map(|pair| pair.split_once('=').map(|(name, _)| name))
        .collect();
    assert_eq!(variables.len(), 3, "{variables:?}");
    let settings = include_str!("../../docs/configuration.md");
    for variable in variables {
        assert!(settings.contains(&format!("variable `{variable}`")), "{variable}");
    }
}

/// Whether a setting is shown with this value.
fn told(shown: &Value, key: &str, value: &Value) -> bool {
    let mut settings = shown["settings"].as_array().into_iter().flatten();
    settings.any(|setting| setting["key"] == key && setting["value"] == *value)
}
