//! Settings and credential of a target that is dialled, as they were given: read, held against the adapter's own
//! rules, and nothing of a credential said again in an error.

use serde_json::{Map, Value};
use toolgate_contract::v1::ErrorReason;

use super::findings;
use crate::{
    adapters::{Defaults, Kind},
    canonical::CanonicalJson,
    error::{Error, Violated},
    secrets::{Credential, ProviderKind, SecretRef},
};

/// Names where the credential is kept, in place of the credential itself.
const REFERENCE: [&str; 2] = ["secretRef", "secret_ref"];
const PLACE: &str = "credential.secretRef";

/// The settings as they are stored.
pub(super) fn settings(kind: Kind, bytes: &[u8], defaults: Defaults) -> Result<Value, Error> {
    let given = object("config", bytes)?;
    kind.settings(given, defaults).map(Value::Object)
}

/// The credential, or where it is kept; `serves` tells whose secrets this gateway can get.
pub(super) fn credential(
    kind: Kind,
    bytes: &[u8],
    serves: impl Fn(ProviderKind) -> bool,
) -> Result<Credential, Error> {
    let given = object("credential", bytes)?;
    if REFERENCE.iter().any(|key| given.contains_key(*key)) {
        return reference(&given, serves).map(Credential::Elsewhere);
    }
    kind.credential(&given)
        .map(Credential::Value)
        .map_err(with_finding)
}

// Nothing stands for `{}`; whether that is enough is for the adapter to say.
pub(super) fn object(place: &'static str, bytes: &[u8]) -> Result<Map<String, Value>, Error> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    let parsed = CanonicalJson::parse(bytes);
    let canonical = parsed.map_err(|error| Error::unreadable(place, error.to_string()))?;
    match canonical.to_value() {
        Value::Object(given) => Ok(given),
        _ => Err(Error::unreadable(place, "must be one JSON object")),
    }
}

fn reference(given: &Map<String, Value>, serves: impl Fn(ProviderKind) -> bool) -> Result<SecretRef, Error> {
    let mut values = given.values();
    let (Some(Value::String(text)), None) = (values.next(), values.next()) else {
        let what =
            "is one text that names a secret, such as aws:prod/git or vault:prod/git#3, and stands alone";
        return Err(Error::invalid(PLACE, what));
    };
    let reference = parse(text).ok_or_else(|| {
        let what = "must be aws:NAME, vault:PATH or vault:PATH#VERSION, with a name of letters, digits and -_.=+@/ \
                    below the tenant's own folder";
        Error::invalid(PLACE, what)
    })?;
    let provider = reference.provider();
    if !serves(provider) {
        let what = format!(
            "this gateway gets no secrets from {}; its operator sets that up, or give the credential itself",
            provider.as_str()
        );
        return Err(Error::invalid(PLACE, what));
    }
    Ok(reference)
}

fn parse(text: &str) -> Option<SecretRef> {
    match text.split_once(':')? {
        ("aws", name) => SecretRef::aws(name),
        ("vault", path) => match path.split_once('#') {
            None => SecretRef::vault(path, None),
            // A sign would be read as well.
            Some((_, version)) if version.starts_with('+') => None,
            Some((path, version)) => SecretRef::vault(path, Some(version.parse().ok()?)),
        },
        _ => None,
    }
}

// A credential of a kind that is never accepted needs no validation to be told; callers find the same shape.
fn with_finding(error: Error) -> Error {
    match error {
        Error::Violation(mut violated) if violated.validation.is_none() => {
            violated.validation = Some(findings::told(&findings::unseen(
                &violated.what,
                violated.pointer.as_deref(),
            )));
            Error::Violation(violated)
        }
        other => other,
    }
}

/// Whether this says that the credential itself is not accepted.
pub(super) fn is_violation(error: &Error) -> bool {
    matches!(error, Error::Violation(violated) if is_of_credential(violated))
}

fn is_of_credential(violated: &Violated) -> bool {
    matches!(
        violated.reason,
        ErrorReason::RoleViolation | ErrorReason::ScopeViolation
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Credential, Error> {
        credential(Kind::Gitea, text.as_bytes(), |it| it == ProviderKind::Vault)
    }

    #[test]
    fn a_reference_stands_alone_and_names_a_provider_that_is_served() {
        let check = |text: &str, place: Option<&str>| {
            let told = read(text).err().map(|error| error.to_string());
            match (told, place) {
                (None, None) => {}
                (Some(told), Some(place)) => {
                    assert!(told.starts_with(place), "{text}: {told}");
                    assert!(!told.contains("hush"), "{told}");
                }
                (told, _) => panic!("{text}: {told:?}"),
            }
        };
        check(r#"{"secretRef":"vault:prod/git"}"#, None);
        check(r#"{"secret_ref":"vault:prod/git#3"}"#, None);
        check(
            r#"{"secretRef":"aws:prod/git"}"#,
            Some("credential.secretRef: this gateway"),
        );
        for wrong in [
            "hush",
            "local:hush",
            "vault:../hush",
            "vault:hush#0",
            "vault:hush#x",
            "vault:hush#+3",
            "vault:",
            "gcp:hush",
        ] {
            let text = format!(r#"{{"secretRef":"{wrong}"}}"#);
            check(&text, Some("credential.secretRef: must be"));
        }
        check(r#"{"secretRef":5}"#, Some("credential.secretRef: is one text"));
        check(
            r#"{"secretRef":"vault:hush","token":"hush"}"#,
            Some("credential.secretRef: is one text"),
        );
        check(
            r#"{"secretRef":"vault:hush","secret_ref":"vault:hush"}"#,
            Some("credential.secretRef: is one text"),
        );
        check("[]", Some("credential: must be one JSON object"));
        check(r#""hush"#, Some("credential: "));
    }

    #[test]
    fn a_reference_keeps_its_version() {
        let reference = |text| parse(text).map(|it| it.stored());
        assert_eq!(
            reference("vault:a/b#3"),
            SecretRef::vault("a/b", Some(3)).map(|it| it.stored())
        );
        assert_eq!(reference("aws:a"), SecretRef::aws("a").map(|it| it.stored()));
    }
}
