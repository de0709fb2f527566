//! Finds out what a token can do, by reading only: that the server knows it, that it reads repositories, and that it is
//! for nothing else, as far as this version lets see.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::{
    Server, ask,
    ask::{No, Said},
    probes::{self, Probe},
    repos, row,
    scopes::{self, Judgement, Seen},
    version::{Shows, Version},
};
use crate::{
    adapters::{Grants, Stage, Validation, Verdict, Violation},
    journal::Contact,
    upstream::{
        UpstreamError,
        reader::{Fault, ReadPath, Reader},
    },
};

/// All stages together.
const LONGEST: Duration = Duration::from_secs(10);

/// A validation on its way.
struct Run<'a> {
    server: &'a Server,
    contact: &'a Contact,
    deadline: Instant,
    began: Instant,
    found: Validation,
}

/// Why it ended before its end.
struct Ended;

/// Validates the token of this server.
pub(super) async fn validate(server: &Server, contact: &Contact) -> Validation {
    let mut run = Run {
        server,
        contact,
        deadline: Instant::now() + LONGEST,
        began: Instant::now(),
        found: Validation::of(Verdict::Passed),
    };
    // How it ended stands in what was found.
    let _: Result<(), Ended> = run.stages().await;
    run.found
}

impl Run<'_> {
    async fn stages(&mut self) -> Result<(), Ended> {
        let first = self.reach().await?;
        let (version, mut seen) = self.authenticate(first).await?;
        let sample = self.privileges(&version, &mut seen).await?;
        self.learn(&version);
        self.sample(&sample)
    }

    /// The first question also shows that the name is known, that it can be dialled and that its certificate is good.
    async fn reach(&mut self) -> Result<Result<Said, UpstreamError>, Ended> {
        let said = match timeout_at(
            self.deadline,
            self.server.reader.get(self.contact, &version_path()),
        )
        .await
        {
            Ok(Ok(answer)) => ask::sort(answer),
            Ok(Err(fault)) => return Err(self.unreachable(fault)),
            Err(_) => return Err(self.gave_no_answer("reach", UpstreamError::Timeout)),
        };
        self.passed("reach");
        if self.server.is_tls() {
            self.passed("tls");
        }
        Ok(said)
    }

    /// That the token is known, and which version this is. An anonymous answer looks like any other, so whoever the
    /// token acts for is asked for as well.
    async fn authenticate(&mut self, first: Result<Said, UpstreamError>) -> Result<(Version, Seen), Ended> {
        let mut seen = Seen::default();
        let told = match first {
            Ok(Said::Yes(answer)) => match answer.json::<Value>() {
                Ok(told) => row::text(&told, "version"),
                Err(_) => return Err(self.no_gitea()),
            },
            Ok(Said::No(no)) if no.status == 403 => self.version_anonymously(&no).await?,
            Ok(Said::No(_)) => return Err(self.no_gitea()),
            Err(UpstreamError::CredentialRejected) => return Err(self.token_unknown()),
            Err(error) => return Err(self.gave_no_answer("authenticate", error)),
        };
        let version = Version::read(&told.unwrap_or_default());
        let Probe { kind, path } = probes::user();
        let said = self.ask("authenticate", &path).await?;
        match &said {
            Err(UpstreamError::CredentialRejected) => return Err(self.token_unknown()),
            Ok(Said::No(no)) if no.status == 403 && no.missing_scope().is_none() => self.check_refusal(no)?,
            Ok(_) => {}
            Err(error) => return Err(self.gave_no_answer("authenticate", error.clone())),
        }
        seen.note(kind, &said);
        self.passed("authenticate");
        Ok((version, seen))
    }

    /// On some versions the version itself is behind a scope: it says nothing against a token, and anyone may ask.
    async fn version_anonymously(&mut self, no: &No) -> Result<Option<String>, Ended> {
        if no.missing_scope().is_none() {
            self.check_refusal(no)?;
            return Ok(None);
        }
        let Ok(anonymous) = self.server.anonymous() else {
            return Ok(None);
        };
        let said = self.ask_as(&anonymous, "authenticate", &version_path()).await?;
        Ok(match said {
            Ok(Said::Yes(answer)) => answer
                .json()
                .ok()
                .and_then(|told: Value| row::text(&told, "version")),
            Ok(Said::No(_)) | Err(_) => None,
        })
    }

    /// A 403 that is not about scopes: about whoever asks, unless it is about what may be asked of a public token.
    fn check_refusal(&mut self, no: &No) -> Result<(), Ended> {
        let message = no.message.to_ascii_lowercase();
        if message.contains("only signed in") {
            return Err(self.token_unknown());
        }
        if message.contains("token scope is limited") || message.contains("public") {
            return Ok(());
        }
        let what = "the server refuses the user of the token; look whether the account is active and has nothing left to confirm";
        Err(self.violated("authenticate", what))
    }

    /// That the token reads repositories, and what else it reads.
    async fn privileges(&mut self, version: &Version, seen: &mut Seen) -> Result<Value, Ended> {
        let path = ReadPath::of(["repos", "search"]).with("limit", "1");
        let sample = match self.ask("privileges", &path).await? {
            Ok(Said::Yes(answer)) => answer.json::<Value>().unwrap_or_default(),
            Ok(Said::No(no)) => {
                let Some(told) = no.missing_scope() else {
                    let what = format!("the server refuses to list repositories (HTTP {})", no.status);
                    return Err(self.violated("privileges", &what));
                };
                seen.lacks_repository = true;
                seen.told = seen.told.take().or(told);
                Value::Null
            }
            Err(UpstreamError::CredentialRejected) => return Err(self.token_unknown()),
            Err(error) => return Err(self.gave_no_answer("privileges", error)),
        };
        self.probe(version, seen, owner_in(&sample).as_deref()).await?;
        let Judgement {
            proven,
            wider,
            not_provable,
            violation,
        } = scopes::judge(seen, version.shows());
        self.found.proven = proven;
        self.found.wider = wider;
        self.found.not_provable = not_provable;
        match violation {
            Some(violation) => Err(self.refused("privileges", violation)),
            None => {
                self.passed("privileges");
                Ok(sample)
            }
        }
    }

    /// Asks until the scopes are known, or for everything where only refusals are seen.
    async fn probe(&mut self, version: &Version, seen: &mut Seen, owner: Option<&str>) -> Result<(), Ended> {
        if version.shows() == Shows::Nothing {
            return Ok(());
        }
        for Probe { kind, path } in probes::others(owner) {
            if seen.told.is_some() {
                return Ok(());
            }
            let said = self.ask("privileges", &path).await?;
            if let Err(error @ UpstreamError::RateLimited(_)) = said {
                return Err(self.gave_no_answer("privileges", error));
            }
            seen.note(kind, &said);
        }
        Ok(())
    }

    fn learn(&mut self, version: &Version) {
        let facts = json!({
            "product": version.product.name(),
            "version": if version.text.is_empty() { "unknown" } else { &version.text },
            "ciSource": version.source().name(),
        });
        if let Value::Object(facts) = facts {
            self.found.facts = facts;
        }
        self.passed("version");
    }

    /// That a list of repositories can be read as the tool reads it.
    fn sample(&mut self, sample: &Value) -> Result<(), Ended> {
        let rows = sample
            .get("data")
            .filter(|rows| rows.is_array() || rows.is_null());
        match rows {
            Some(rows) => {
                let each = rows.as_array().into_iter().flatten();
                tracing::debug!(repos = each.filter_map(repos::Repo::read).count(), "sample read");
                self.passed("sample");
                Ok(())
            }
            None => {
                let what = "the list of repositories is not one that this gateway can read";
                self.failed("sample", what, Verdict::Unknown(UpstreamError::Invalid));
                Err(Ended)
            }
        }
    }

    async fn ask(
        &mut self,
        stage: &'static str,
        path: &ReadPath,
    ) -> Result<Result<Said, UpstreamError>, Ended> {
        let reader = self.server.reader.clone();
        self.ask_as(&reader, stage, path).await
    }

    async fn ask_as(
        &mut self,
        reader: &Reader,
        stage: &'static str,
        path: &ReadPath,
    ) -> Result<Result<Said, UpstreamError>, Ended> {
        match timeout_at(self.deadline, reader.get(self.contact, path)).await {
            Ok(Ok(answer)) => Ok(ask::sort(answer)),
            Ok(Err(Fault { error, detail })) => {
                self.failed(stage, &detail, Verdict::Unknown(error));
                Err(Ended)
            }
            Err(_) => Err(self.gave_no_answer(stage, UpstreamError::Timeout)),
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
        self.failed(stage, &detail, Verdict::Unknown(error));
        Ended
    }

    fn gave_no_answer(&mut self, stage: &'static str, error: UpstreamError) -> Ended {
        self.failed(stage, &error.to_string(), Verdict::Unknown(error));
        Ended
    }

    fn no_gitea(&mut self) -> Ended {
        let what = "no Gitea or Forgejo answers there; baseUrl is the address of its start page, with the path below which it is served";
        self.failed("authenticate", what, Verdict::Unknown(UpstreamError::Invalid));
        Ended
    }

    fn token_unknown(&mut self) -> Ended {
        self.violated(
            "authenticate",
            "the server does not accept the token; make a new one and copy it whole",
        )
    }

    fn violated(&mut self, stage: &'static str, what: &str) -> Ended {
        let violation = Violation {
            of: Grants::Scopes,
            what: what.to_owned(),
            wider: false,
        };
        self.refused(stage, violation)
    }

    fn refused(&mut self, stage: &'static str, violation: Violation) -> Ended {
        let what = violation.what.clone();
        self.failed(stage, &what, Verdict::Violation(violation));
        Ended
    }

    fn failed(&mut self, stage: &'static str, what: &str, verdict: Verdict) {
        self.end(stage, Some(what.to_owned()));
        self.found.verdict = verdict;
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

fn version_path() -> ReadPath {
    ReadPath::of(["version"])
}

/// Somebody who owns something here.
fn owner_in(sample: &Value) -> Option<String> {
    let first = sample.get("data")?.as_array()?.first()?;
    row::login(first, "owner")
}
