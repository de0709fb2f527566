//! What a verified token says, held against the rules.

use serde_json::Value;

use super::{Bearer, NAME_PREFIX, Refused, Rules};
use crate::{
    canonical::CanonicalJson,
    identity::{Context, Role},
    names,
};

/// Clocks of an issuer and ours may differ so much.
const LEEWAY_S: f64 = 60.0;
/// A subject is at most so long (OpenID Connect Core §2).
const LONGEST_SUBJECT: usize = 255;

/// What is claimed of a subject: by a token that its key has signed, or by the provider that was asked about it.
pub struct Claims(Value);

impl Claims {
    /// Reads a JSON object whose every member stands once.
    ///
    /// # Errors
    /// When it is none.
    pub(crate) fn parse(json: &[u8]) -> Result<Self, Refused> {
        let read = CanonicalJson::parse(json).map_err(|_| Refused::Malformed)?;
        if !read.is_object() {
            return Err(Refused::Malformed);
        }
        serde_json::from_slice(read.as_bytes())
            .map(Self)
            .map_err(|_| Refused::Malformed)
    }

    /// Whether they are of this issuer, for this audience and of now.
    pub(super) fn check(&self, issuer: &str, audience: &str, now_us: i64) -> Result<(), Refused> {
        if self.text("iss") != Some(issuer) {
            return Err(Refused::Issuer);
        }
        if !self.is_for(audience) {
            return Err(Refused::Audience);
        }
        self.check_time(now_us)
    }

    /// Whom they name. Whom a token is for was looked at before whom it names.
    pub(super) fn judge(&self, rules: &Rules) -> Result<Bearer, Refused> {
        Ok(Bearer {
            name: self.name()?.into(),
            role: self.role(rules)?,
            profile: self.profile(rules)?,
            context: Context::new(self.text("toolgate_project"), self.text("toolgate_task")),
        })
    }

    /// A claim that is a text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// The subject, where it can be shown.
    ///
    /// # Errors
    /// Refused rather than mended: two subjects must never become one name.
    pub(crate) fn subject(&self) -> Result<&str, Refused> {
        let subject = self.text("sub").ok_or(Refused::Subject)?;
        let fits = subject.len() <= LONGEST_SUBJECT && names::is_one_line(subject);
        fits.then_some(subject).ok_or(Refused::Subject)
    }

    /// The claim of this name, or at this place where it is a JSON pointer, which begins with a slash.
    pub(crate) fn claim(&self, place: &str) -> Option<&Value> {
        match place.starts_with('/') {
            true => self.0.pointer(place),
            false => self.0.get(place),
        }
    }

    fn is_for(&self, audience: &str) -> bool {
        match self.0.get("aud") {
            Some(Value::String(one)) => one == audience,
            Some(Value::Array(many)) => many.iter().any(|each| each.as_str() == Some(audience)),
            _ => false,
        }
    }

    // Seconds may have a fraction (RFC 7519 §2). What is no number is no time.
    fn check_time(&self, now_us: i64) -> Result<(), Refused> {
        #[allow(
            clippy::cast_precision_loss,
            reason = "a second is told from another for millennia"
        )]
        let now = now_us as f64 / 1e6;
        let ends = self
            .0
            .get("exp")
            .and_then(Value::as_f64)
            .ok_or(Refused::Expired)?;
        if now >= ends + LEEWAY_S {
            return Err(Refused::Expired);
        }
        match self.0.get("nbf") {
            None => Ok(()),
            Some(begins) => match begins.as_f64() {
                Some(begins) if now + LEEWAY_S >= begins => Ok(()),
                _ => Err(Refused::NotYetValid),
            },
        }
    }

    fn name(&self) -> Result<String, Refused> {
        Ok(format!("{NAME_PREFIX}{}", self.subject()?))
    }

    fn role(&self, rules: &Rules) -> Result<Role, Refused> {
        let Some(claim) = self.claim(&rules.role_claim) else {
            return rules.default_role.ok_or(Refused::Role);
        };
        let named: Vec<&str> = match claim {
            Value::String(one) => vec![one],
            Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let roles: Vec<Role> = named.into_iter().filter_map(Role::parse).collect();
        // Which of two would count nobody can say.
        match roles.split_first() {
            Some((role, others)) if others.iter().all(|other| other == role) => Ok(*role),
            _ => Err(Refused::Role),
        }
    }

    // What is pinned and no name must not leave everything open.
    fn profile(&self, rules: &Rules) -> Result<Option<String>, Refused> {
        if rules.profile_claim.is_empty() {
            return Ok(None);
        }
        match self.claim(&rules.profile_claim) {
            None => Ok(None),
            Some(claim) => {
                let name = claim.as_str().map(str::to_owned);
                name.map(Some).ok_or(Refused::Profile)
            }
        }
    }
}

impl std::fmt::Debug for Claims {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Claims(***)")
    }
}
