//! Which field of a target's form mends a stage that did not pass, as far as that can be told.
//!
//! A guess for people, told beside the reason and never in its place: it decides nothing. Where a reason of the gateway's
//! own says a setting's name it is that setting; else it follows from what the stage is about. Pure.

use serde_json::Value;

use super::{Kind, Validation, Verdict};
use crate::upstream::UpstreamError;

/// Settings that reasons name, by the stage whose reasons are the gateway's own.
const OF_REACHING: [&str; 3] = [
    "/config/allowPrivate",
    "/config/allowLoopback",
    "/config/allowHttp",
];
const OF_TLS: [&str; 2] = ["/config/fingerprints", "/config/caCertificate"];

/// The fields of one target.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mends {
    address: &'static str,
    /// What a credential that is not accepted is mended by.
    secret: &'static str,
    /// What says whose privileges they are.
    holder: &'static str,
    /// Where its tokens come from, where they are asked for.
    tokens: Option<&'static str>,
}

impl Mends {
    /// Those of a target of this kind with these settings.
    pub(super) fn of(kind: Kind, settings: &Value) -> Self {
        let tokens = [("tokenUrl", "/config/tokenUrl"), ("issuer", "/config/issuer")];
        let tokens = tokens.into_iter().find(|(key, _)| settings.get(key).is_some());
        let (address, secret, holder) = match kind {
            Kind::Proxmox => ("/config/host", "/credential/tokenSecret", "/credential/tokenId"),
            Kind::AgentMemory | Kind::AgentOperator | Kind::AgentChat if tokens.is_some() => (
                "/config/baseUrl",
                "/credential/clientSecret",
                "/credential/clientId",
            ),
            _ => ("/config/baseUrl", "/credential/token", "/credential/token"),
        };
        Self {
            address,
            secret,
            holder,
            tokens: tokens.map(|(_, pointer)| pointer),
        }
    }

    /// Puts the field to the stage that did not pass.
    pub(super) fn put(self, mut found: Validation) -> Validation {
        if let Some(stage) = found.stages.last_mut()
            && let Some(reason) = &stage.failed
        {
            stage.mends = self.field(stage.name, reason, &found.verdict);
        }
        found
    }

    fn field(self, stage: &str, reason: &str, verdict: &Verdict) -> Option<&'static str> {
        let error = match verdict {
            Verdict::Passed => return None,
            Verdict::Violation(_) => return Some(self.of_credential(stage)),
            Verdict::Unknown(error) => error,
        };
        match (stage, error) {
            (_, UpstreamError::CredentialRejected) => Some(self.of_credential(stage)),
            (_, UpstreamError::TokenUnavailable) => self.tokens,
            ("tls", _) => Some(named(reason, &OF_TLS).unwrap_or("/config/caCertificate")),
            ("reach", _) if named(reason, &OF_REACHING).is_some() => named(reason, &OF_REACHING),
            (
                "reach",
                UpstreamError::Unreachable
                | UpstreamError::Forbidden
                | UpstreamError::Timeout
                | UpstreamError::BrokenOff,
            )
            | (_, UpstreamError::Invalid) => Some(self.address),
            // The target itself has to be mended, or waited for.
            _ => None,
        }
    }

    fn of_credential(self, stage: &str) -> &'static str {
        match stage {
            "authenticate" => self.secret,
            _ => self.holder,
        }
    }
}

/// The setting that the text names first.
fn named(text: &str, settings: &[&'static str]) -> Option<&'static str> {
    let places = settings.iter().filter_map(|pointer| {
        let name = pointer.rsplit('/').next()?;
        Some((text.find(name)?, *pointer))
    });
    places.min().map(|(_, pointer)| pointer)
}

#[cfg(test)]
mod tests {
    use std::{net::IpAddr, time::Duration};

    use serde_json::json;

    use super::*;
    use crate::{
        adapters::{Grants, Stage, Violation},
        upstream::reader::{Allow, admit},
    };

    fn mended(
        kind: Kind,
        settings: Value,
        stage: &'static str,
        why: &str,
        verdict: Verdict,
    ) -> Option<&'static str> {
        let mut found = Validation::of(verdict);
        let took = Duration::ZERO;
        found.stages = vec![
            Stage {
                name: "reach",
                took,
                failed: None,
                mends: None,
            },
            Stage {
                name: stage,
                took,
                failed: Some(why.to_owned()),
                mends: None,
            },
        ];
        let found = Mends::of(kind, &settings).put(found);
        assert_eq!(found.stages[0].mends, None);
        found.stages[1].mends
    }

    fn wide() -> Verdict {
        Verdict::Violation(Violation {
            of: Grants::Scopes,
            what: String::new(),
            wider: true,
        })
    }

    #[test]
    fn a_stage_that_did_not_pass_names_the_field_that_mends_it() {
        use UpstreamError::{
            CredentialRejected, Failed, Invalid, RateLimited, Tls, TokenUnavailable, Unreachable,
        };
        let check = |kind, stage, why: &str, verdict, expected| {
            assert_eq!(
                mended(kind, json!({}), stage, why, verdict),
                expected,
                "{stage} {why}"
            );
        };
        let unknown = Verdict::Unknown;
        let reset = "connection reset";
        check(
            Kind::Proxmox,
            "reach",
            reset,
            unknown(Unreachable),
            Some("/config/host"),
        );
        check(
            Kind::Gitea,
            "reach",
            reset,
            unknown(Unreachable),
            Some("/config/baseUrl"),
        );
        check(
            Kind::Github,
            "tls",
            "expired",
            unknown(Tls),
            Some("/config/caCertificate"),
        );
        let prints = "it is X; compare it, then give it as fingerprints, not caCertificate";
        check(
            Kind::Github,
            "tls",
            prints,
            unknown(Tls),
            Some("/config/fingerprints"),
        );
        let secret = Some("/credential/tokenSecret");
        check(
            Kind::Proxmox,
            "authenticate",
            "401",
            unknown(CredentialRejected),
            secret,
        );
        check(Kind::Proxmox, "authenticate", "401", wide(), secret);
        check(
            Kind::Proxmox,
            "privileges",
            "more",
            wide(),
            Some("/credential/tokenId"),
        );
        check(
            Kind::Github,
            "privileges",
            "more",
            wide(),
            Some("/credential/token"),
        );
        check(
            Kind::Gitea,
            "version",
            "html",
            unknown(Invalid),
            Some("/config/baseUrl"),
        );
        // What nobody can mend in a form.
        check(Kind::Gitea, "sample", "500", unknown(Failed), None);
        check(
            Kind::Gitea,
            "reach",
            "429",
            unknown(RateLimited(Duration::ZERO)),
            None,
        );
        check(
            Kind::AgentChat,
            "authenticate",
            "503",
            unknown(TokenUnavailable),
            None,
        );
        // Texts of a target name nothing.
        check(Kind::Gitea, "sample", "set allowHttp", unknown(Failed), None);
    }

    #[test]
    fn tokens_that_are_asked_for_are_mended_where_they_come_from() {
        let settings = json!({"issuer": "https://id.example"});
        let check = |verdict, expected| {
            let found = mended(Kind::AgentMemory, settings.clone(), "authenticate", "", verdict);
            assert_eq!(found, Some(expected));
        };
        check(
            Verdict::Unknown(UpstreamError::TokenUnavailable),
            "/config/issuer",
        );
        check(
            Verdict::Unknown(UpstreamError::CredentialRejected),
            "/credential/clientSecret",
        );
    }

    #[test]
    fn an_address_that_may_not_be_dialled_is_mended_by_the_setting_that_allows_it() {
        for (address, expected) in [
            ("10.0.0.5", "/config/allowPrivate"),
            ("fd00::1", "/config/allowPrivate"),
            ("127.0.0.1", "/config/allowLoopback"),
            ("169.254.1.1", "/config/host"),
        ] {
            let address: IpAddr = address.parse().unwrap();
            let fault = admit(address, &Allow::default()).unwrap_err();
            let found = mended(
                Kind::Proxmox,
                json!({}),
                "reach",
                &fault.detail,
                Verdict::Unknown(fault.error),
            );
            assert_eq!(found, Some(expected), "{address}");
        }
    }
}
