//! The settings of a project as they were typed, over those it has. The gateway takes settings whole.

use serde_json::{Map, Value, json};

use crate::args::ProjectSettings;

/// Puts what was typed over what there is; an empty label goes.
pub(super) fn over(mut config: Map<String, Value>, typed: &ProjectSettings) -> Map<String, Value> {
    let ProjectSettings {
        access,
        project_url,
        ssh_port,
        host_path,
        adopted,
        status_tool,
        on_drift,
        timeout,
    } = typed;
    for (key, text) in [
        ("access", access),
        ("url", project_url),
        ("hostPath", host_path),
        ("statusTool", status_tool),
        ("onDrift", on_drift),
    ] {
        match text.as_deref() {
            None => {}
            Some("") => drop(config.shift_remove(key)),
            Some(text) => drop(config.insert(key.into(), json!(text))),
        }
    }
    for (key, value) in [
        ("sshPort", ssh_port.map(|port| json!(port))),
        ("adopted", adopted.map(|adopted| json!(adopted))),
        ("timeoutSeconds", timeout.map(|seconds| json!(seconds))),
    ] {
        config.extend(value.map(|value| (key.to_owned(), value)));
    }
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_typed_changes_and_an_empty_label_goes() {
        let before = json!({"access": "read_only", "url": "http://a", "timeoutSeconds": 60});
        let typed = ProjectSettings {
            access: Some("read_write".into()),
            project_url: Some(String::new()),
            adopted: Some(false),
            ..ProjectSettings::default()
        };
        let after = over(before.as_object().cloned().unwrap(), &typed);
        let expected = json!({"access": "read_write", "timeoutSeconds": 60, "adopted": false});
        assert_eq!(Value::Object(after), expected);
    }
}
