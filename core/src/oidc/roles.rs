//! Which role somebody has by what the provider claims of them.

use serde_json::Value;

use crate::identity::{Role, jwt::Claims};

/// The rules of the settings.
#[derive(Debug, Clone)]
pub(super) struct Roles {
    /// The claim: a name, or a JSON pointer where it begins with a slash.
    pub(super) claim: String,
    /// A value of it and the role of whoever has it; the first that fits counts.
    pub(super) rules: Vec<(String, Role)>,
    /// The role of those without the claim.
    pub(super) default: Option<Role>,
}

/// What claims say of a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The claim is not there.
    Silent,
    /// By it this role.
    Found(Role),
    /// It is there, and no role is for what it says.
    Nothing,
}

impl Roles {
    /// What these claims say.
    pub(super) fn of(&self, claims: &Claims) -> Verdict {
        let values: Vec<&str> = match claims.claim(&self.claim) {
            None => return Verdict::Silent,
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
            Some(_) => Vec::new(),
        };
        let found = self
            .rules
            .iter()
            .find(|(value, _)| values.contains(&value.as_str()));
        found.map_or(Verdict::Nothing, |(_, role)| Verdict::Found(*role))
    }
}

/// Reads `VALUE=ROLE`. Values may hold an `=` themselves, roles have none.
pub(super) fn parse(rule: &str) -> Option<(String, Role)> {
    let (value, role) = rule.rsplit_once('=')?;
    let value = Some(value).filter(|value| !value.is_empty())?;
    Some((value.to_owned(), Role::parse(role)?))
}

/// The rules where none are given: every role by its own name.
pub(super) fn own() -> Vec<(String, Role)> {
    Role::ALL.map(|role| (role.as_str().to_owned(), role)).to_vec()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_rule_that_fits_counts_and_nothing_else_lets_anybody_in() {
        let roles = Roles {
            claim: "groups".into(),
            rules: ["CN=ops,DC=x=admin", "audit=auditor", "dev=engineer"]
                .map(|rule| parse(rule).unwrap())
                .to_vec(),
            default: None,
        };
        let check = |groups: Value, expected: Verdict| {
            let claims = Claims::parse(json!({"groups": groups}).to_string().as_bytes()).unwrap();
            assert_eq!(roles.of(&claims), expected, "{groups}");
        };
        check(json!("dev"), Verdict::Found(Role::Engineer));
        check(json!(["x", "dev", "audit"]), Verdict::Found(Role::Auditor));
        check(json!(["dev", "CN=ops,DC=x"]), Verdict::Found(Role::Admin));
        for nothing in [
            json!([]),
            json!(""),
            json!("admin"),
            json!("dev,audit"),
            json!(["DEV"]),
            json!([["dev"]]),
            json!({"dev": true}),
            json!(null),
            json!(true),
        ] {
            check(nothing, Verdict::Nothing);
        }
        let silent = Claims::parse(br#"{"group": "dev"}"#).unwrap();
        assert_eq!(roles.of(&silent), Verdict::Silent);
        let nested = Roles {
            claim: "/realm_access/roles".into(),
            rules: own(),
            default: None,
        };
        let claims = Claims::parse(br#"{"realm_access": {"roles": ["uma", "auditor", "agent"]}}"#).unwrap();
        assert_eq!(nested.of(&claims), Verdict::Found(Role::Auditor));
    }

    #[test]
    fn a_rule_is_a_value_and_a_role_of_ours() {
        assert_eq!(parse("a=b=agent"), Some(("a=b".into(), Role::Agent)));
        for bad in ["", "dev", "dev=", "=admin", "dev=root", "dev=Admin", "dev= admin"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
