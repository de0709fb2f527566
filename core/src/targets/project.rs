//! The name and the settings of a project: closed, and nothing in them is used to reach it, since its relay dials in.
//!
//! What is stored says how calls are treated even where that is the default, so that later defaults change nothing.

use serde_json::{Map, Value};

use super::given;
use crate::{adapters::Reading, error::Error};

/// Says where the project is registered; only the gateway itself sets it.
const SOURCE: &str = "source";
/// The value of [`SOURCE`] for those of `projects.toml`.
const FILE: &str = "file";

const URL: &str = "url";
const SSH_PORT: &str = "sshPort";
const HOST_PATH: &str = "hostPath";
const ADOPTED: &str = "adopted";
const ACCESS: &str = "access";
const STATUS_TOOL: &str = "statusTool";
const ON_DRIFT: &str = "onDrift";
const TIMEOUT: &str = "timeoutSeconds";

/// The settings of a project, as they are spelled in JSON.
pub(super) const KEYS: [&str; 8] = [
    URL,
    SSH_PORT,
    HOST_PATH,
    ADOPTED,
    ACCESS,
    STATUS_TOOL,
    ON_DRIFT,
    TIMEOUT,
];
/// Name spaces of infrastructure, which no project may be called like.
const RESERVED: [&str; 4] = ["proxmox", "ssh", "github", "gitea"];
const LONGEST_NAME: usize = 40;
const LONGEST_LABEL: usize = 2_048;
const LONGEST_TOOL: usize = 128;
const STATUS_TOOL_OF_OLD: &str = "get_pipeline_status";
const SECONDS: u64 = 60;
const MOST_SECONDS: u64 = 3_600;

/// Refuses what cannot be the name of a project.
pub(super) fn check_name(name: &str) -> Result<(), Error> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let length = (1..=LONGEST_NAME).contains(&name.len());
    if !length || name.starts_with('-') || !name.chars().all(fits) {
        return Err(Error::invalid(
            "name",
            "must have 1 to 40 small letters a to z, digits and -, and not begin with -",
        ));
    }
    if RESERVED.contains(&name) {
        return Err(Error::invalid(
            "name",
            format!(
                "must not be one of {}: those are name spaces of infrastructure",
                RESERVED.join(", ")
            ),
        ));
    }
    Ok(())
}

/// The settings as they are stored, out of those that were asked for.
pub(super) fn settings(bytes: &[u8]) -> Result<Value, Error> {
    let Edit { config, source } = read_edit(bytes)?;
    match source {
        None => Ok(Value::Object(config)),
        Some(_) => Err(not_yours()),
    }
}

/// The settings of an entry of `projects.toml`.
pub(super) fn of_file(given: Map<String, Value>) -> Result<Value, Error> {
    let mut config = read(given)?;
    config.insert(SOURCE.into(), FILE.into());
    Ok(Value::Object(config))
}

/// Whether the project is registered by `projects.toml`.
pub(super) fn is_of_file(config: &Value) -> bool {
    config.get(SOURCE).and_then(Value::as_str) == Some(FILE)
}

/// The settings as they can be given, and where the project is registered.
pub(super) fn parted(config: &Value) -> (Value, &'static str) {
    let source = if is_of_file(config) { FILE } else { "api" };
    let mut config = config.clone();
    if let Value::Object(config) = &mut config {
        config.shift_remove(SOURCE);
    }
    (config, source)
}

/// New settings of a project, which may repeat where it is registered as they were read.
#[derive(Debug)]
pub(super) struct Edit {
    config: Map<String, Value>,
    source: Option<Value>,
}

impl Edit {
    /// The settings over the former ones: whole, but where it is registered stays.
    pub(super) fn over(mut self, former: &Value) -> Result<Value, Error> {
        let kept = former.get(SOURCE);
        if self.source.is_some() && self.source.as_ref() != kept {
            return Err(not_yours());
        }
        if let Some(kept) = kept {
            self.config.insert(SOURCE.into(), kept.clone());
        }
        Ok(Value::Object(self.config))
    }
}

pub(super) fn read_edit(bytes: &[u8]) -> Result<Edit, Error> {
    let mut given = given::object("config", bytes)?;
    let source = given.shift_remove(SOURCE);
    Ok(Edit {
        config: read(given)?,
        source,
    })
}

fn read(given: Map<String, Value>) -> Result<Map<String, Value>, Error> {
    let mut reading = Reading::new(given, &KEYS);
    reading.text(URL, LONGEST_LABEL)?;
    reading.port(SSH_PORT)?;
    reading.text(HOST_PATH, LONGEST_LABEL)?;
    reading.flag(ADOPTED)?;
    one_of(&mut reading, ACCESS, ["read_only", "read_write"])?;
    if reading.text(STATUS_TOOL, LONGEST_TOOL)?.is_none() {
        reading.store(STATUS_TOOL, STATUS_TOOL_OF_OLD);
    }
    one_of(&mut reading, ON_DRIFT, ["record", "block"])?;
    if reading.number(TIMEOUT, 1..=MOST_SECONDS)?.is_none() {
        reading.store(TIMEOUT, SECONDS);
    }
    reading.end()
}

// The first one is the default.
fn one_of(reading: &mut Reading, key: &'static str, values: [&'static str; 2]) -> Result<(), Error> {
    match reading.text(key, 64)?.as_deref() {
        None => {
            reading.store(key, values[0]);
            Ok(())
        }
        Some(given) if values.contains(&given) => Ok(()),
        Some(_) => Err(Error::invalid(
            format!("config.{key}"),
            format!("must be {} or {}", values[0], values[1]),
        )),
    }
}

fn not_yours() -> Error {
    Error::invalid(
        "config.source",
        "is set by the gateway itself for projects of projects.toml; leave it out",
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_those_of_name_spaces_but_not_of_infrastructure() {
        for good in ["a", "0", "robot-studio", "a-", &"a".repeat(40)] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "-a",
            "A",
            "a_b",
            "a.b",
            "a b",
            "ä",
            "a\n",
            "a/b",
            "proxmox",
            "ssh",
            "github",
            "gitea",
            &"a".repeat(41),
        ] {
            let told = check_name(bad).unwrap_err().to_string();
            assert!(told.starts_with("name: must"), "{bad:?}: {told}");
        }
    }

    #[test]
    fn what_is_stored_says_how_calls_are_treated() {
        let stored = |text: &str| settings(text.as_bytes()).unwrap();
        let plain = json!({
            "access": "read_only", "statusTool": "get_pipeline_status", "onDrift": "record", "timeoutSeconds": 60,
        });
        for nothing in ["", "{}", r#"{"access":null,"url":null}"#] {
            assert_eq!(stored(nothing), plain, "{nothing}");
        }
        let whole = json!({
            "url": "http://10.0.0.7:3001", "sshPort": 2222, "hostPath": "/srv/a", "adopted": true,
            "access": "read_write", "statusTool": "status", "onDrift": "block", "timeoutSeconds": 3600,
        });
        assert_eq!(stored(&whole.to_string()), whole);
        let snake = r#"{"url":"http://10.0.0.7:3001","ssh_port":2222,"host_path":"/srv/a","adopted":true,
            "access":"read_write","status_tool":"status","on_drift":"block","timeout_seconds":3600}"#;
        assert_eq!(stored(snake), whole);
    }

    #[test]
    fn settings_are_closed_and_bounded() {
        let check = |text: &str, expected: &str| {
            let told = settings(text.as_bytes()).unwrap_err().to_string();
            assert!(told.starts_with(expected), "{text}: {told}");
        };
        check("[]", "config: ");
        check("{", "config: ");
        check(r#"{"url":1}"#, "config.url: must be a string");
        check(
            &format!(r#"{{"url":"{}"}}"#, "a".repeat(2_049)),
            "config.url: must have 1 to 2048",
        );
        check(r#"{"url":"a\nb"}"#, "config.url: must be one line");
        for port in ["0", "65536", "-1", "2.5", "\"22\""] {
            check(
                &format!(r#"{{"sshPort":{port}}}"#),
                "config.sshPort: must be a whole number",
            );
        }
        check(r#"{"hostPath":""}"#, "config.hostPath: must have 1");
        check(r#"{"adopted":"yes"}"#, "config.adopted: must be true or false");
        check(
            r#"{"access":"write"}"#,
            "config.access: must be read_only or read_write",
        );
        check(r#"{"statusTool":""}"#, "config.statusTool: must have 1 to 128");
        check(r#"{"onDrift":"stop"}"#, "config.onDrift: must be record or block");
        for seconds in ["0", "3601", "1.5", "\"60\"", "-1"] {
            check(
                &format!(r#"{{"timeoutSeconds":{seconds}}}"#),
                "config.timeoutSeconds: must be a whole number from 1 to 3600",
            );
        }
        check(
            r#"{"status_tol":"a"}"#,
            "config.status_tol: is no setting of such a target, did you mean statusTool?",
        );
        check(
            r#"{"sshPort":1,"ssh_port":1}"#,
            "config.ssh_port: stands there as sshPort",
        );
        check(r#"{"source":"file"}"#, "config.source: is set by the gateway");
    }

    #[test]
    fn where_a_project_is_registered_can_be_repeated_but_not_made_or_lost() {
        let over = |text: &str, former: &Value| read_edit(text.as_bytes()).unwrap().over(former).ok();
        let of_file = of_file(Map::new()).unwrap();
        assert!(is_of_file(&of_file));
        assert_eq!(over("{}", &of_file).as_ref(), Some(&of_file));
        assert_eq!(over(r#"{"source":"file"}"#, &of_file).as_ref(), Some(&of_file));
        assert_eq!(over(r#"{"source":"api"}"#, &of_file), None);
        let plain = settings(b"{}").unwrap();
        assert_eq!(over(r#"{"source":"file"}"#, &plain), None);
        assert!(!is_of_file(&over("{}", &plain).unwrap()));
    }
}
