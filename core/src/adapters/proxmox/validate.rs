//! Finds out what a token can do, by reading only: that the server knows it, and that it may do what PVEAuditor may and
//! nothing else.
//!
//! A server waits three seconds before it says that it does not know a token, so that is found out by one question, and
//! first. The others are asked at once.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{
    Cluster,
    ask::{self, Said},
    privileges::{self, Judgement, Seen},
    row, vms,
};
use crate::{
    adapters::{Grants, Stage, Validation, Verdict, Violation},
    journal::Contact,
    upstream::{
        UpstreamError,
        reader::{Answer, Fault, ReadPath},
    },
};

/// All stages together.
const LONGEST: Duration = Duration::from_secs(10);

/// A validation on its way.
struct Run<'a> {
    cluster: &'a Cluster,
    contact: &'a Contact,
    deadline: Instant,
    began: Instant,
    found: Validation,
}

/// Why it ended before its end.
struct Ended;

/// Validates the token of this cluster.
pub(super) async fn validate(cluster: &Cluster, contact: &Contact) -> Validation {
    let began = Instant::now();
    let mut run = Run {
        cluster,
        contact,
        deadline: began + LONGEST,
        began,
        found: Validation::of(Verdict::Passed),
    };
    // How it ended stands in what was found.
    let _: Result<(), Ended> = run.stages().await;
    run.found
}

impl Run<'_> {
    async fn stages(&mut self) -> Result<(), Ended> {
        let answer = self.reach().await?;
        let version = self.authenticate(&answer)?;
        self.privileges().await?;
        self.learn(&version);
        self.sample().await
    }

    /// The first answer also shows that the name is known, that it can be dialled and that its certificate is good.
    async fn reach(&mut self) -> Result<Answer, Ended> {
        let path = ReadPath::of(["version"]);
        let asked = self.cluster.reader.get(self.contact, &path);
        match timeout_at(self.deadline, asked).await {
            Ok(Ok(answer)) => {
                self.passed("reach");
                if self.cluster.is_tls {
                    self.passed("tls");
                }
                Ok(answer)
            }
            Ok(Err(fault)) => Err(self.unreachable(fault)),
            Err(_) => Err(self.gave_no_answer("reach", UpstreamError::Timeout)),
        }
    }

    fn authenticate(&mut self, answer: &Answer) -> Result<Value, Ended> {
        let version = match ask::sort(answer) {
            Err(UpstreamError::CredentialRejected) => return Err(self.token_unknown("authenticate")),
            _ if ask::is_of_another(answer) => {
                let what = "no Proxmox VE answers there; host and port are those of a node's own web page, usually port 8006";
                return Err(self.garbled("authenticate", what));
            }
            Err(error) => return Err(self.gave_no_answer("authenticate", error)),
            Ok(Said::No(no)) => {
                let what = no.told("the version of the server");
                return Err(self.garbled("authenticate", &what));
            }
            Ok(Said::Yes(version)) => version,
        };
        self.passed("authenticate");
        Ok(version)
    }

    async fn privileges(&mut self) -> Result<(), Ended> {
        let seen = self.see().await?;
        let Some(judgement) = privileges::judge(&self.cluster.token, &seen) else {
            let what = "what the server tells of roles and permissions is not what this gateway can read";
            return Err(self.garbled("privileges", what));
        };
        let Judgement {
            proven,
            wider,
            not_provable,
            violation,
        } = judgement;
        self.found.proven = proven;
        self.found.wider = wider;
        self.found.not_provable = not_provable;
        match violation {
            Some(violation) => Err(self.refused("privileges", violation)),
            None => {
                self.passed("privileges");
                Ok(())
            }
        }
    }

    /// Everything that is told of the token. The lists may be kept from it, the others may not.
    async fn see(&mut self) -> Result<Seen, Ended> {
        let paths = [
            ReadPath::of(["access", "roles"]),
            ReadPath::of(["access", "permissions"]),
            ReadPath::of(["access", "acl"]),
            ReadPath::of(["access", "users"]).with("full", "1"),
        ];
        let [roles, permissions, acl, users] = &paths;
        let (cluster, contact) = (self.cluster, self.contact);
        let all = async {
            futures::join!(
                cluster.reader.get(contact, roles),
                cluster.reader.get(contact, permissions),
                cluster.reader.get(contact, acl),
                cluster.reader.get(contact, users),
            )
        };
        let Ok((roles, permissions, acl, users)) = timeout_at(self.deadline, all).await else {
            return Err(self.gave_no_answer("privileges", UpstreamError::Timeout));
        };
        Ok(Seen {
            roles: self.needed(roles, "the roles of the server")?,
            permissions: self.needed(permissions, "what the token may do")?,
            acl: self.perhaps(acl)?,
            users: self.perhaps(users)?,
        })
    }

    fn needed(&mut self, answer: Result<Answer, Fault>, what: &str) -> Result<Value, Ended> {
        match self.said(answer)? {
            Said::Yes(data) => Ok(data),
            Said::No(no) => Err(self.garbled("privileges", &no.told(what))),
        }
    }

    fn perhaps(&mut self, answer: Result<Answer, Fault>) -> Result<Option<Value>, Ended> {
        Ok(match self.said(answer)? {
            Said::Yes(data) => Some(data),
            Said::No(_) => None,
        })
    }

    fn said(&mut self, answer: Result<Answer, Fault>) -> Result<Said, Ended> {
        match answer.map(|answer| ask::sort(&answer)) {
            Ok(Ok(said)) => Ok(said),
            Ok(Err(UpstreamError::CredentialRejected)) => Err(self.token_unknown("privileges")),
            Ok(Err(error)) => Err(self.gave_no_answer("privileges", error)),
            Err(Fault { error, detail }) => Err(self.unknown("privileges", &detail, error)),
        }
    }

    fn learn(&mut self, version: &Value) {
        let version = row::text(version, "version").unwrap_or_else(|| "unknown".to_owned());
        let short: String = version.chars().take(64).collect();
        self.found.facts.insert("version".to_owned(), short.into());
        self.passed("version");
    }

    /// That guests can be listed as the tool lists them.
    async fn sample(&mut self) -> Result<(), Ended> {
        let asked = vms::all(self.cluster, self.contact);
        match timeout_at(self.deadline, asked).await {
            Ok(Ok(Ok(guests))) => {
                tracing::debug!(guests = guests.len(), "sample read");
                self.passed("sample");
                Ok(())
            }
            Ok(Ok(Err(no))) => Err(self.garbled("sample", &no)),
            Ok(Err(error)) => Err(self.gave_no_answer("sample", error)),
            Err(_) => Err(self.gave_no_answer("sample", UpstreamError::Timeout)),
        }
    }

    fn unreachable(&mut self, Fault { error, detail }: Fault) -> Ended {
        let stage = match error {
            UpstreamError::Tls => {
                self.passed("reach");
                "tls"
            }
            _ => "reach",
        };
        self.unknown(stage, &detail, error)
    }

    fn gave_no_answer(&mut self, stage: &'static str, error: UpstreamError) -> Ended {
        self.unknown(stage, &error.to_string(), error)
    }

    fn garbled(&mut self, stage: &'static str, what: &str) -> Ended {
        self.unknown(stage, what, UpstreamError::Invalid)
    }

    fn token_unknown(&mut self, stage: &'static str) -> Ended {
        let what = "the server does not accept the token: its id or secret is wrong, it has expired, or its owner is disabled; make a new one and copy it whole";
        let violation = Violation {
            of: Grants::Roles,
            what: what.to_owned(),
            wider: false,
        };
        self.refused(stage, violation)
    }

    fn refused(&mut self, stage: &'static str, violation: Violation) -> Ended {
        self.end(stage, Some(violation.what.clone()));
        self.found.verdict = Verdict::Violation(violation);
        Ended
    }

    fn unknown(&mut self, stage: &'static str, what: &str, error: UpstreamError) -> Ended {
        self.end(stage, Some(what.to_owned()));
        self.found.verdict = Verdict::Unknown(error);
        Ended
    }

    fn passed(&mut self, stage: &'static str) {
        self.end(stage, None);
    }

    fn end(&mut self, name: &'static str, failed: Option<String>) {
        let now = Instant::now();
        let took = now - self.began;
        self.began = now;
        self.found.stages.push(Stage {
            name,
            took,
            failed,
            mends: None,
        });
    }
}
