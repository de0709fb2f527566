//! The settings of a host: labels only, closed. A host is never dialled, so nothing here is used to reach it.

use serde_json::{Map, Value};

use crate::{canonical::CanonicalJson, error::Error};

/// Marks the host this gateway runs on; only the gateway itself sets it.
const BUILT_IN: &str = "builtIn";

/// The settings as asked, of a target with this name.
pub(super) fn read(bytes: &[u8], name: &str) -> Result<Value, Error> {
    let Edit { config, built_in } = parse(bytes, Some(name))?;
    match built_in {
        None => Ok(Value::Object(config)),
        Some(_) => Err(unknown_key(BUILT_IN)),
    }
}

/// New settings of a target, which may repeat the mark that they were read with.
#[derive(Debug)]
pub(super) struct Edit {
    config: Map<String, Value>,
    built_in: Option<Value>,
}

impl Edit {
    /// The settings over the former ones: whole, but the mark stays.
    pub(super) fn over(mut self, former: &Value) -> Result<Value, Error> {
        let mark = former.get(BUILT_IN);
        if self.built_in.is_some() && self.built_in.as_ref() != mark {
            return Err(unknown_key(BUILT_IN));
        }
        if let Some(mark) = mark {
            self.config.insert(BUILT_IN.into(), mark.clone());
        }
        Ok(Value::Object(self.config))
    }
}

pub(super) fn read_edit(bytes: &[u8]) -> Result<Edit, Error> {
    parse(bytes, None)
}

fn parse(bytes: &[u8], name: Option<&str>) -> Result<Edit, Error> {
    let canonical =
        CanonicalJson::parse(bytes).map_err(|error| Error::unreadable("config", error.to_string()))?;
    let Value::Object(mut given) = canonical.to_value() else {
        return Err(Error::unreadable("config", "must be one JSON object"));
    };
    let built_in = given.remove(BUILT_IN);
    let mut config = Map::new();
    config.insert(
        "hostname".into(),
        hostname(given.remove("hostname"), name)?.into(),
    );
    if let Some(port) = given.remove("port") {
        config.insert("port".into(), port_number(&port)?.into());
    }
    match given.keys().next() {
        None => Ok(Edit { config, built_in }),
        Some(key) => Err(unknown_key(key)),
    }
}

/// The settings of the host this gateway runs on.
pub(super) fn built_in(hostname: &str) -> Value {
    serde_json::json!({"hostname": hostname, BUILT_IN: true})
}

/// Whether these are the settings of the host this gateway runs on.
pub(super) fn is_built_in(config: &Value) -> bool {
    config.get(BUILT_IN) == Some(&Value::Bool(true))
}

impl super::Target {
    /// Whether it is the host this gateway runs on.
    #[must_use]
    pub fn is_built_in(&self) -> bool {
        is_built_in(&self.config)
    }
}

/// What a relay serves takes no credential: nothing, `null` and `{}` say so.
pub(super) fn refuse_credential(adapter: &str, bytes: &[u8]) -> Result<(), Error> {
    let text: Vec<u8> = bytes
        .iter()
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    match text.as_slice() {
        b"" | b"null" | b"{}" => Ok(()),
        _ => Err(Error::invalid(
            "credential",
            format!(
                "targets of type {adapter} take none; their relay enrols with the token that is minted here"
            ),
        )),
    }
}

fn hostname(value: Option<Value>, name: Option<&str>) -> Result<String, Error> {
    const PLACE: &str = "config.hostname";
    match value {
        None => Err(Error::invalid(PLACE, "is required")),
        Some(Value::String(given)) if is_hostname(&given) => Ok(given),
        // Whoever gave one text for both looks for the mistake in the name.
        Some(Value::String(given)) if name == Some(&given) => Err(Error::invalid(
            "name",
            "stands for the host name as well and is none; give the host name by itself",
        )),
        Some(Value::String(_)) => Err(Error::invalid(
            PLACE,
            "must be a host name or address of 1 to 253 characters without spaces",
        )),
        Some(_) => Err(Error::invalid(PLACE, "must be a string")),
    }
}

fn is_hostname(name: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']' | '%');
    (1..=253).contains(&name.chars().count()) && name.chars().all(fits)
}

fn port_number(value: &Value) -> Result<u64, Error> {
    value
        .as_u64()
        .filter(|port| (1..=65_535).contains(port))
        .ok_or_else(|| Error::invalid("config.port", "must be a whole number from 1 to 65535"))
}

fn unknown_key(key: &str) -> Error {
    let short: String = key.chars().take(64).collect();
    let place = format!("config.{}", short.escape_debug());
    Error::invalid(
        place,
        "is no setting of a target of type ssh; hostname and port are",
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_are_closed_and_bounded() {
        let check = |text: &str, place: Option<&str>| {
            let told = read(text.as_bytes(), "web").err().map(|error| error.to_string());
            match (told, place) {
                (None, None) => {}
                (Some(told), Some(place)) => assert!(told.starts_with(place), "{text}: {told}"),
                (told, _) => panic!("{text}: {told:?}"),
            }
        };
        check(r#"{"hostname":"web-1.example"}"#, None);
        check(r#"{"hostname":"fe80::1","port":22}"#, None);
        check(r#"{"hostname":"größe.example","port":65535}"#, None);
        check("", Some("config: "));
        check("[]", Some("config: "));
        check("null", Some("config: "));
        check(r#"{"hostname":"a","hostname":"b"}"#, Some("config: "));
        check("{}", Some("config.hostname: "));
        check(r#"{"hostname":""}"#, Some("config.hostname: "));
        check(r#"{"hostname":"a b"}"#, Some("config.hostname: "));
        check(r#"{"hostname":5}"#, Some("config.hostname: "));
        check(
            &format!(r#"{{"hostname":"{}"}}"#, "a".repeat(254)),
            Some("config.hostname: "),
        );
        for port in ["0", "65536", "-1", "22.5", "\"22\"", "null"] {
            check(
                &format!(r#"{{"hostname":"a","port":{port}}}"#),
                Some("config.port: "),
            );
        }
        check(r#"{"hostname":"a","user":"root"}"#, Some("config.user: "));
        check(r#"{"hostname":"a","builtIn":true}"#, Some("config.builtIn: "));
    }

    #[test]
    fn the_mark_of_the_built_in_host_can_be_repeated_but_not_made_or_lost() {
        let over = |text: &str, former: Value| read_edit(text.as_bytes()).unwrap().over(&former).ok();
        let marked = json!({"hostname": "b", "builtIn": true});
        assert_eq!(over(r#"{"hostname":"b"}"#, built_in("a")), Some(marked.clone()));
        assert_eq!(
            over(r#"{"hostname":"b","builtIn":true}"#, built_in("a")),
            Some(marked)
        );
        assert_eq!(over(r#"{"hostname":"b","builtIn":false}"#, built_in("a")), None);
        assert_eq!(
            over(r#"{"hostname":"b","builtIn":true}"#, json!({"hostname": "a"})),
            None
        );
    }

    #[test]
    fn hosts_take_no_credential() {
        for none in ["", "{}", " { } ", "null"] {
            assert!(refuse_credential("ssh", none.as_bytes()).is_ok(), "{none}");
        }
        for some in [r#"{"password":"x"}"#, "\"key\"", "[]", "{", "\u{0}"] {
            assert!(refuse_credential("ssh", some.as_bytes()).is_err(), "{some}");
        }
    }
}
