//! The settings of a target that is a back end of agents: where it is, how much may be done there, and where its tokens
//! come from.

use serde_json::{Map, Value};

use crate::{
    adapters::settings::{Defaults, Reading},
    error::Error,
    upstream::reader::Base,
};

const BASE_URL: &str = "baseUrl";
const ACCESS: &str = "access";
const TOKEN_URL: &str = "tokenUrl";
const ISSUER: &str = "issuer";
const SCOPE: &str = "scope";

const LONGEST_URL: usize = 2_048;
const LONGEST_SCOPE: usize = 1_024;

/// Where tokens are handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tokens {
    /// At this address.
    At(Base),
    /// Where this issuer says.
    Of(Base),
}

/// What the settings say beside whom to trust and what to dial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) base: Base,
    pub(super) tokens: Option<Tokens>,
    pub(super) scope: Option<String>,
}

/// The settings of a target as they are stored, out of those that were asked for.
pub(in crate::adapters) fn settings(
    given: Map<String, Value>,
    defaults: Defaults,
) -> Result<Map<String, Value>, Error> {
    let mut reading = Reading::new(given, &[BASE_URL, ACCESS, TOKEN_URL, ISSUER, SCOPE]);
    let Some(base) = url(&mut reading, BASE_URL)? else {
        return Err(wrong(
            BASE_URL,
            "is needed: the address below which the back end has its paths",
        ));
    };
    access(&mut reading)?;
    let addresses = [
        Some(base),
        url(&mut reading, TOKEN_URL)?,
        url(&mut reading, ISSUER)?,
    ];
    if addresses[1..].iter().all(Option::is_some) {
        return Err(wrong(
            TOKEN_URL,
            "and issuer both say where tokens come from; give one",
        ));
    }
    let scope = reading.text(SCOPE, LONGEST_SCOPE)?;
    if scope.is_some() && addresses[1..].iter().all(Option::is_none) {
        return Err(wrong(
            SCOPE,
            "is asked for with tokens; give tokenUrl or issuer beside it",
        ));
    }
    reading.trust()?;
    let allow = reading.allow(defaults)?;
    for (base, key) in addresses.iter().zip([BASE_URL, TOKEN_URL, ISSUER]) {
        if base.as_ref().is_some_and(Base::is_plain_http) && !allow.http {
            return Err(wrong(key, "is plain HTTP; use https, or set allowHttp"));
        }
    }
    reading.end()
}

impl Settings {
    /// What is stored; `None` where it cannot be read any more.
    pub(super) fn stored(settings: &Value) -> Option<Self> {
        let text = |key: &str| settings.get(key).and_then(Value::as_str);
        let tokens = match (text(TOKEN_URL), text(ISSUER)) {
            (Some(url), _) => Some(Tokens::At(Base::parse(url).ok()?)),
            (None, Some(url)) => Some(Tokens::Of(Base::parse(url).ok()?)),
            (None, None) => None,
        };
        Some(Self {
            base: Base::parse(text(BASE_URL)?).ok()?,
            tokens,
            scope: text(SCOPE).map(str::to_owned),
        })
    }
}

fn url(reading: &mut Reading, key: &'static str) -> Result<Option<Base>, Error> {
    let Some(text) = reading.text(key, LONGEST_URL)? else {
        return Ok(None);
    };
    let base = Base::parse(&text).map_err(|what| wrong(key, what))?;
    reading.store(key, base.as_str());
    Ok(Some(base))
}

// Said once and for all, so that what may be done at a target stands in its settings.
fn access(reading: &mut Reading) -> Result<(), Error> {
    match reading.text(ACCESS, 64)?.as_deref() {
        None => {
            reading.store(ACCESS, "read_only");
            Ok(())
        }
        Some("read_only" | "read_write") => Ok(()),
        Some(_) => Err(wrong(ACCESS, "must be read_only or read_write")),
    }
}

fn wrong(key: &str, what: impl Into<String>) -> Error {
    Error::invalid(format!("config.{key}"), what)
}

#[cfg(test)]
mod tests;
