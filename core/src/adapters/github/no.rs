//! What GitHub says when it says no, and what that means for whoever asked.

use http::{HeaderMap, StatusCode};
use serde_json::Value;

use super::said::{message, plain};

/// A no of GitHub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct No {
    pub(super) status: StatusCode,
    /// Its message, as it came.
    pub(super) message: String,
    /// What permissions the question takes, where it says: `actions=read`.
    pub(super) takes: Option<String>,
    /// Whether the answer tells scopes of the token, which it does of none that this gateway takes.
    pub(super) scoped: bool,
    sign_on: bool,
    blocked: Option<String>,
}

/// What was asked for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wanted<'a> {
    /// The token's own repositories.
    Mine,
    /// The repositories of an organisation.
    Org(&'a str),
    /// Runs of a repository.
    Runs(&'a str, &'a str),
    /// One run of a repository.
    Run(&'a str, &'a str, u64),
}

impl No {
    /// Reads an answer; anything may be missing.
    pub(super) fn read(status: StatusCode, headers: &HeaderMap, body: &Value) -> Self {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let block = body.get("block").filter(|block| block.is_object());
        let reason = |block: &Value| block["reason"].as_str().unwrap_or("no reason told").to_owned();
        Self {
            status,
            message: body["message"].as_str().unwrap_or_default().to_owned(),
            takes: header("x-accepted-github-permissions")
                .filter(|takes| !takes.is_empty())
                .map(str::to_owned),
            scoped: headers.contains_key("x-oauth-scopes"),
            // `required; url=…`: the address authorises whoever opens it and is told nobody.
            sign_on: header("x-github-sso").is_some_and(|sso| sso.trim_start().starts_with("required")),
            blocked: block.map(reason),
        }
    }

    /// Whether it is because a permission is missing.
    pub(super) fn lacks_permission(&self) -> bool {
        self.status == StatusCode::FORBIDDEN
            && !self.sign_on
            && self.blocked.is_none()
            && (self.takes.is_some() || self.says("not accessible by"))
            && !self.says("ip allow list")
    }

    /// What to tell whoever asked.
    pub(super) fn told(&self, wanted: Wanted<'_>) -> String {
        let status = self.status.as_u16();
        if self.sign_on {
            return format!(
                "the organisation wants single sign-on for {}, and the gateway's token is not authorised for that; its owner authorises it at GitHub",
                wanted.name()
            );
        }
        if self.blocked.is_some() || status == 451 || self.says("access blocked") {
            let reason = self
                .blocked
                .as_deref()
                .map(|reason| format!(" ({})", plain(reason, 60)));
            return format!(
                "GitHub has blocked {}{}; nobody can read it there",
                wanted.name(),
                reason.unwrap_or_default()
            );
        }
        if self.says("ip allow list") {
            return format!(
                "the organisation of {} admits only addresses on its list; its owner adds the gateway's",
                wanted.name()
            );
        }
        match status {
            _ if self.lacks_permission() => self.told_permission(wanted),
            404 => wanted.not_found(),
            410 => format!("GitHub says that {} is gone for good", wanted.name()),
            403 => format!("GitHub refused to show {}: {}", wanted.name(), self.words()),
            _ => format!(
                "GitHub did not accept the question for {} ({status}): {}",
                wanted.name(),
                self.words()
            ),
        }
    }

    fn told_permission(&self, wanted: Wanted<'_>) -> String {
        let takes = match self.takes.as_deref().map(permissions) {
            Some(takes) if !takes.is_empty() => format!(" (GitHub asks for {takes})"),
            _ => String::new(),
        };
        format!(
            "the gateway's token may not read {}{takes}; an admin gives the token `actions: read` and `metadata: read` and selects the repository",
            wanted.name()
        )
    }

    fn words(&self) -> String {
        let words = message(&self.message);
        if words.is_empty() {
            "it says no more".into()
        } else {
            words
        }
    }

    fn says(&self, words: &str) -> bool {
        self.message.to_ascii_lowercase().contains(words)
    }
}

impl Wanted<'_> {
    fn name(self) -> String {
        match self {
            Self::Mine => "the token's repositories".into(),
            Self::Org(org) => format!("the repositories of {}", plain(org, 100)),
            Self::Runs(owner, repo) => format!("the runs of {}/{}", plain(owner, 100), plain(repo, 101)),
            Self::Run(owner, repo, run) => format!("run {run} of {}/{}", plain(owner, 100), plain(repo, 101)),
        }
    }

    fn not_found(self) -> String {
        match self {
            Self::Mine => "GitHub knows no list of repositories for this token; is the target's baseUrl that of its API?".into(),
            Self::Org(org) => format!(
                "no organisation {} is visible to the gateway's token; a person's repositories are listed without org",
                plain(org, 100)
            ),
            Self::Runs(owner, repo) => format!(
                "no repository {}/{} is visible to the gateway's token, or its Actions are off; github.list_repos names those that are",
                plain(owner, 100), plain(repo, 101)
            ),
            Self::Run(owner, repo, run) => format!(
                "no run {run} is visible in {}/{}; github.get_recent_ci_runs names ids, which are not the numbers shown on pages",
                plain(owner, 100), plain(repo, 101)
            ),
        }
    }
}

/// `actions=read; contents=read,issues=read` in words; `,` is and, `;` is or. Nothing else is taken from it.
fn permissions(takes: &str) -> String {
    let fits = |c: &char| c.is_ascii_lowercase() || matches!(c, '_' | '=' | ',' | ';');
    let kept: String = takes.chars().filter(fits).take(200).collect();
    kept.replace(',', " and ").replace(';', " or ").replace('=', ": ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(status: u16, headers: &[(&str, &str)], body: &Value, expected: &str) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(http::HeaderName::try_from(*name).unwrap(), value.parse().unwrap());
        }
        let no = No::read(StatusCode::from_u16(status).unwrap(), &map, body);
        let told = no.told(Wanted::Runs("acme", "site"));
        assert!(told.contains(expected), "{told}");
        assert!(!told.contains("://") && !told.contains("SECRET"), "{told}");
    }

    #[test]
    fn every_no_says_what_to_do() {
        let said =
            |message: &str| json!({"message": message, "documentation_url": "https://docs.github.com/rest"});
        let lacking = said("Resource not accessible by personal access token");
        check(
            403,
            &[(
                "x-accepted-github-permissions",
                "actions=read,contents=read; administration=read",
            )],
            &lacking,
            "(GitHub asks for actions: read and contents: read or administration: read); an admin gives",
        );
        check(403, &[], &lacking, "an admin gives the token `actions: read`");
        check(404, &[], &said("Not Found"), "no repository acme/site is visible");
        check(404, &[], &Value::Null, "no repository acme/site is visible");
        check(
            403,
            &[(
                "x-github-sso",
                "required; url=https://github.com/orgs/acme/sso?authorization_request=SECRET",
            )],
            &said("Resource protected by organization SAML enforcement."),
            "wants single sign-on",
        );
        let blocked = json!({"message": "Repository access blocked", "block": {"reason": "tos", "html_url": "https://github.com/tos"}});
        check(
            403,
            &[],
            &blocked,
            "GitHub has blocked the runs of acme/site (tos)",
        );
        check(
            451,
            &[],
            &json!({"block": {"reason": "dmca"}}),
            "blocked the runs of acme/site (dmca)",
        );
        check(
            451,
            &[],
            &Value::Null,
            "GitHub has blocked the runs of acme/site;",
        );
        check(
            403,
            &[("x-accepted-github-permissions", "actions=read")],
            &said(
                "Although you appear to have the correct authorization credentials, the `acme` organization has an IP allow list enabled",
            ),
            "admits only addresses on its list",
        );
        check(
            403,
            &[],
            &said("Must have admin rights, see https://x.example/SECRET"),
            "refused to show the runs of acme/site: Must have admin rights, see",
        );
        check(410, &[], &Value::Null, "gone for good");
        check(422, &[], &said("Validation Failed"), "(422): Validation Failed");
        check(400, &[], &json!([1]), "(400): it says no more");
    }
}
