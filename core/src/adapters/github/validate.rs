//! Finds out what a token can do, by reading only (`gateway.md` D7).
//!
//! Three parts come of it: what it was seen to be able to do as it should, what it can do beyond that, and what no
//! reading can prove. Permission to write implies permission to read, so each kind of thing beside runs is read once;
//! what was read is too much. Whether it may also start runs is asked by no GET at all.

mod expiry;
mod probe;

use std::time::Duration;

use futures::{StreamExt, stream};
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};

pub(super) use self::expiry::expiry;
use self::probe::{ADMINISTRATIVE, Answered, PRIVATE, Place, Probe};
use super::{
    API_VERSION, Github,
    ask::{self, Lack, Miss, lack},
    no::No,
    repos::{self, Told},
    route::Route,
};
use crate::{
    adapters::{Grants, Stage, Validation, Verdict, Violation},
    journal::Contact,
    upstream::{UpstreamError, reader::Answer},
};

/// All stages together; whoever waits, waits for ten seconds.
const LONGEST: Duration = Duration::from_millis(9_500);
/// Probes under way at once.
const AT_ONCE: usize = 10;
/// A probe for more than the least is given up after this and listed as not provable: a test of the connection has five
/// seconds for everything.
const PROBE: Duration = Duration::from_secs(3);
/// Private repositories that are asked for their runs before it is given up.
const MOST_REPOS: usize = 3;

/// What a GET never proves or rules out.
const NEVER_PROVABLE: [&str; 5] = [
    "actions:write",
    "workflows:write",
    "permissions of the account",
    "permissions of organisations",
    "repositories that were not probed",
];

/// A validation on its way.
struct Run<'a> {
    github: &'a Github,
    contact: &'a Contact,
    deadline: Instant,
    began: Duration,
    found: Validation,
}

/// It ended before its end; how stands in what was found.
struct Ended;

/// Validates the token of this target.
pub(super) async fn validate(github: &Github, contact: &Contact) -> Validation {
    let mut run = Run {
        github,
        contact,
        deadline: Instant::now() + LONGEST,
        began: github.clock.monotonic(),
        found: Validation::of(Verdict::Passed),
    };
    // Passed or not, what was found is told.
    let _: Result<(), Ended> = run.stages().await;
    run.found
}

impl Run<'_> {
    async fn stages(&mut self) -> Result<(), Ended> {
        let user = self.reach().await?;
        self.authenticate(user)?;
        let (mut all, mut private) = self.metadata().await?;
        all.sort_by_key(probe::unlikely);
        private.sort_by_key(probe::unlikely);
        self.permissions(&all, &private).await?;
        self.passed("privileges");
        self.sample(&all)
    }

    /// The first question also shows that the name is known, that it can be dialled and that its certificate is good.
    async fn reach(&mut self) -> Result<Result<Answer, Miss>, Ended> {
        if let Some(left) = self.github.cool_down.left() {
            return Err(self.unknown("reach", ask::left_alone(left)));
        }
        let asked = self.ask(&Route::of(["user"])).await;
        if let Err(Miss::Fault(lack)) = &asked {
            match lack.error {
                UpstreamError::Tls => {
                    self.passed("reach");
                    return Err(self.unknown("tls", lack.clone()));
                }
                UpstreamError::Timeout if lack.detail == ask::SLOW => {}
                UpstreamError::Unreachable | UpstreamError::Forbidden | UpstreamError::Timeout => {
                    return Err(self.unknown("reach", lack.clone()));
                }
                _ => {}
            }
        }
        self.passed("reach");
        if !self.github.base.is_plain_http() {
            self.passed("tls");
        }
        Ok(asked)
    }

    fn authenticate(&mut self, user: Result<Answer, Miss>) -> Result<(), Ended> {
        let answer = match user {
            Ok(answer) => answer,
            Err(Miss::Fault(lack)) if lack.error == UpstreamError::CredentialRejected => {
                return Err(self.violation("authenticate", lack.detail, false));
            }
            Err(Miss::Fault(lack)) => return Err(self.unknown("authenticate", lack)),
            Err(Miss::No(no)) => return Err(self.not_let_in(&no)),
        };
        if answer.headers.contains_key("x-oauth-scopes") {
            return Err(self.violation("authenticate", SCOPED.into(), true));
        }
        let user: Value = answer.json().unwrap_or_default();
        let Some(login) = user["login"].as_str().filter(|login| login.len() <= 100) else {
            return Err(self.unknown("authenticate", no_github()));
        };
        self.learn("login", login);
        self.learn("apiVersion", API_VERSION);
        let header = |name: &str| answer.headers.get(name).and_then(|value| value.to_str().ok());
        if let Some(at) = header("github-authentication-token-expiration").and_then(expiry) {
            self.learn("expiresAt", &at);
        }
        if let Some(version) = header("x-github-enterprise-version").filter(|version| version.len() <= 32) {
            self.learn("enterpriseVersion", version);
        }
        self.passed("authenticate");
        Ok(())
    }

    fn not_let_in(&mut self, no: &No) -> Ended {
        if no.scoped {
            return self.violation("authenticate", SCOPED.into(), true);
        }
        match no.status.as_u16() {
            403 => {
                let what = "GitHub knows the token and lets it read nothing of its own user; give a fine-grained personal access token that no policy of an organisation holds back";
                self.violation("authenticate", what.into(), false)
            }
            _ => self.unknown("authenticate", no_github()),
        }
    }

    /// Metadata is part of every fine-grained token, so a list of repositories is the least that it reads.
    async fn metadata(&mut self) -> Result<(Vec<Told>, Vec<Told>), Ended> {
        let mine = Route::of(["user", "repos"]).with("sort", "pushed");
        let all = mine.clone().with("per_page", "30");
        let private = mine.with("visibility", "private").with("per_page", "10");
        let (all, private) = tokio::join!(self.ask(&all), self.ask(&private));
        let all = self.listed(all)?;
        let mut private = self.listed(private)?;
        private.retain(|repo| repo.private == Some(true));
        self.found.proven.push("metadata:read".into());
        Ok((all, private))
    }

    fn listed(&mut self, asked: Result<Answer, Miss>) -> Result<Vec<Told>, Ended> {
        match asked {
            Ok(answer) => {
                let rows = answer.json().and_then(|rows| repos::rows(&rows));
                rows.map_err(|_| self.unknown("privileges", no_github()))
            }
            Err(Miss::Fault(lack)) => Err(self.unknown("privileges", lack)),
            Err(Miss::No(_)) => {
                let what = "the token may not list repositories: it lacks `metadata: read`, which every fine-grained token of GitHub has; make a new one";
                Err(self.violation("privileges", what.into(), false))
            }
        }
    }

    async fn permissions(&mut self, all: &[Told], private: &[Told]) -> Result<(), Ended> {
        self.learn_flag("privateRepositories", !private.is_empty());
        let places: Vec<Place> = private.iter().filter_map(probe::place).take(MOST_REPOS).collect();
        let lacks_actions = match places.split_first() {
            Some((first, others)) => {
                let probed = self.probe_all(&PRIVATE, first).await;
                self.note(&probed)?;
                self.actions(&probed, others).await?
            }
            None => {
                self.public_only(all).await?;
                false
            }
        };
        self.found.not_provable.extend(NEVER_PROVABLE.map(str::to_owned));
        self.judge(lacks_actions)
    }

    /// Whether runs can be read: of the first private repository, else of the next ones. Gives whether they cannot.
    async fn actions(&mut self, probed: &[(Probe, Answered)], others: &[Place]) -> Result<bool, Ended> {
        let of = |probed: &[(Probe, Answered)]| {
            let minimum = probed.iter().find(|(probe, _)| probe.is_minimum());
            minimum.map_or(Answered::Unclear, |(_, answered)| answered.clone())
        };
        let mut answered = of(probed);
        for place in others {
            if answered != Answered::Unclear {
                break;
            }
            let again = self.probe_all(&PRIVATE[..1], place).await;
            self.note_limits(&again)?;
            answered = of(&again);
        }
        match answered {
            Answered::Held => self.found.proven.push("actions:read".into()),
            Answered::NotHeld => return Ok(true),
            Answered::Unclear | Answered::Kept(_) => self.found.not_provable.push("actions:read".into()),
        }
        Ok(false)
    }

    /// In public repositories everybody reads runs, code and issues: only what is never public tells something.
    async fn public_only(&mut self, all: &[Told]) -> Result<(), Ended> {
        self.found.not_provable.push("actions:read".into());
        let open = PRIVATE
            .iter()
            .filter(|probe| !ADMINISTRATIVE.contains(probe) && !probe.is_minimum());
        self.found
            .not_provable
            .extend(open.map(|probe| probe.permission.to_owned()));
        let probed = match all.iter().find_map(probe::place) {
            Some(public) => self.probe_all(&ADMINISTRATIVE, &public).await,
            None => ADMINISTRATIVE
                .iter()
                .map(|probe| (*probe, Answered::Unclear))
                .collect(),
        };
        self.note(&probed)
    }

    async fn probe_all(&self, probes: &[Probe], place: &Place) -> Vec<(Probe, Answered)> {
        let mut asked = Vec::with_capacity(probes.len());
        for probe in probes {
            asked.push(self.probe(*probe, place.clone()));
        }
        let mut answered: Vec<_> = stream::iter(asked).buffer_unordered(AT_ONCE).collect().await;
        answered.sort_by_key(|(probe, _)| probe.permission);
        answered
    }

    async fn probe(&self, probe: Probe, place: Place) -> (Probe, Answered) {
        let route = probe.route(&place);
        let answer = match probe.is_minimum() {
            true => self.ask(&route).await,
            false => timeout(PROBE, self.ask(&route))
                .await
                .unwrap_or_else(|_| Err(lack(UpstreamError::Timeout, ask::SLOW))),
        };
        (probe, probe.read(&place, answer))
    }

    fn note(&mut self, probed: &[(Probe, Answered)]) -> Result<(), Ended> {
        for (probe, answered) in probed.iter().filter(|(probe, _)| !probe.is_minimum()) {
            match answered {
                Answered::Held => self.found.wider.push(probe.permission.to_owned()),
                Answered::NotHeld => {}
                Answered::Unclear | Answered::Kept(_) => {
                    self.found.not_provable.push(probe.permission.to_owned())
                }
            }
        }
        self.note_limits(probed)
    }

    // Too much is too much, however little else was seen; what was kept back cannot be told to be well.
    fn note_limits(&mut self, probed: &[(Probe, Answered)]) -> Result<(), Ended> {
        let kept = probed.iter().find_map(|(_, answered)| match answered {
            Answered::Kept(lack) => Some(lack.clone()),
            _ => None,
        });
        match kept {
            Some(lack) if self.found.wider.is_empty() => Err(self.unknown("privileges", lack)),
            _ => Ok(()),
        }
    }

    fn judge(&mut self, lacks_actions: bool) -> Result<(), Ended> {
        let lacks = "it lacks `actions: read`, without which it reads no runs of private repositories";
        if !self.found.wider.is_empty() {
            let wider = self.found.wider.join(", ");
            let also = if lacks_actions {
                format!("; and {lacks}")
            } else {
                String::new()
            };
            let what = format!(
                "the token can also read {wider}{also}; make one with `actions: read` and `metadata: read` alone"
            );
            return Err(self.violation("privileges", what, true));
        }
        if lacks_actions {
            let what = format!("the token can do too little: {lacks}; give it that permission");
            return Err(self.violation("privileges", what, false));
        }
        Ok(())
    }

    /// What the tools would make of what was read.
    fn sample(&mut self, all: &[Told]) -> Result<(), Ended> {
        if !all.is_empty() && all.iter().all(|repo| repo.full_name.is_none()) {
            return Err(self.unknown("sample", no_github()));
        }
        self.passed("sample");
        Ok(())
    }

    async fn ask(&self, route: &Route) -> Result<Answer, Miss> {
        match timeout_at(self.deadline, self.github.ask(self.contact, route)).await {
            Ok(answer) => answer,
            Err(_) => Err(lack(
                UpstreamError::Timeout,
                "the whole validation took longer than it may; GitHub, or the way to it, is slow",
            )),
        }
    }

    fn learn(&mut self, name: &str, text: &str) {
        self.found.facts.insert(name.to_owned(), text.into());
    }

    fn learn_flag(&mut self, name: &str, flag: bool) {
        self.found.facts.insert(name.to_owned(), flag.into());
    }

    fn passed(&mut self, name: &'static str) {
        self.stage(name, None);
    }

    fn violation(&mut self, stage: &'static str, what: String, wider: bool) -> Ended {
        self.stage(stage, Some(what.clone()));
        let of = Grants::Scopes;
        self.found.verdict = Verdict::Violation(Violation { of, what, wider });
        Ended
    }

    fn unknown(&mut self, stage: &'static str, lack: Lack) -> Ended {
        self.stage(stage, Some(lack.detail));
        self.found.verdict = Verdict::Unknown(lack.error);
        Ended
    }

    fn stage(&mut self, name: &'static str, failed: Option<String>) {
        let now = self.github.clock.monotonic();
        let took = now.saturating_sub(self.began);
        self.began = now;
        self.found.stages.push(Stage {
            name,
            took,
            failed,
            mends: None,
        });
    }
}

const SCOPED: &str = "GitHub tells scopes of this token, so it is a classic or an OAuth token, whose reach cannot be held to reading; give a fine-grained personal access token";

fn no_github() -> Lack {
    Lack {
        error: UpstreamError::Invalid,
        detail: "something answers there, but not as GitHub's API does; is baseUrl right? A server of one's own has it at https://HOST/api/v3".into(),
    }
}

#[cfg(test)]
mod tests;
