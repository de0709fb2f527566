//! Whom a target's certificate is held against and which addresses may be dialled for it.

use serde_json::{Map, Value};

use super::{Defaults, fields::Reading};
use crate::{
    error::Error,
    upstream::{
        UpstreamError,
        reader::{Allow, Base, Destination, Fingerprint, Network, Trust},
    },
};

const CERTIFICATE: &str = "caCertificate";
const FINGERPRINTS: &str = "fingerprints";
const PRIVATE: &str = "allowPrivate";
const LOOPBACK: &str = "allowLoopback";
const HTTP: &str = "allowHttp";

const LONGEST_PEM: usize = 64 * 1024;
const MOST_FINGERPRINTS: usize = 32;
const MOST_NETWORKS: usize = 64;

impl Reading {
    /// Which certificates are accepted: `caCertificate`, `fingerprints`.
    pub(in crate::adapters) fn trust(&mut self) -> Result<Trust, Error> {
        let trust = Trust {
            authorities: self.authorities()?,
            fingerprints: self.fingerprints()?,
        };
        match trust.authorities.is_some() && !trust.fingerprints.is_empty() {
            true => Err(Error::invalid(
                format!("config.{FINGERPRINTS}"),
                "accept their certificates alone, so caCertificate would not count; give one of the two",
            )),
            false => Ok(trust),
        }
    }

    /// Which addresses may be dialled beside public ones: `allowPrivate`, `allowLoopback`, `allowHttp`.
    pub(in crate::adapters) fn allow(&mut self, defaults: Defaults) -> Result<Allow, Error> {
        let allow = Allow {
            private: self.networks()?,
            loopback: self.flag(LOOPBACK)?.unwrap_or(defaults.local),
            http: self.flag(HTTP)?.unwrap_or(defaults.local),
        };
        // Said once and for all: another default later must not change what a target may dial.
        self.store(LOOPBACK, allow.loopback);
        self.store(HTTP, allow.http);
        Ok(allow)
    }

    fn authorities(&mut self) -> Result<Option<String>, Error> {
        let Some(given) = self.take(CERTIFICATE)? else {
            return Ok(None);
        };
        let pem = given.text(LONGEST_PEM)?;
        if pem.contains("PRIVATE KEY") {
            return Err(given.wrong("holds a private key; give the certificate alone"));
        }
        let trust = Trust {
            authorities: Some(pem.clone()),
            fingerprints: vec![],
        };
        trust.check().map_err(|what| given.wrong(what))?;
        self.store(CERTIFICATE, pem.as_str());
        Ok(Some(pem))
    }

    fn fingerprints(&mut self) -> Result<Vec<[u8; 32]>, Error> {
        let Some(given) = self.take(FINGERPRINTS)? else {
            return Ok(vec![]);
        };
        let mut read = Vec::new();
        for text in given.strings(MOST_FINGERPRINTS)? {
            let print = Fingerprint::parse(text.trim()).map_err(|what| given.wrong(what))?;
            if !read.contains(&print) {
                read.push(print);
            }
        }
        if !read.is_empty() {
            self.store(FINGERPRINTS, texts(&read));
        }
        Ok(read.into_iter().map(|print| print.0).collect())
    }

    fn networks(&mut self) -> Result<Vec<Network>, Error> {
        let Some(given) = self.take(PRIVATE)? else {
            return Ok(vec![]);
        };
        let mut read = Vec::new();
        for text in given.strings(MOST_NETWORKS)? {
            let network = Network::parse(text.trim()).map_err(|what| given.wrong(what))?;
            if !network.is_private() {
                return Err(given.wrong(format!(
                    "holds {network}, which is not within a private network; public addresses need no leave, this machine has allowLoopback, and link-local ones are never dialled"
                )));
            }
            if !read.contains(&network) {
                read.push(network);
            }
        }
        if !read.is_empty() {
            self.store(PRIVATE, texts(&read));
        }
        Ok(read)
    }
}

/// The destination of a target, out of its base and its stored settings.
pub(in crate::adapters) fn destination(base: Base, stored: &Value) -> Result<Destination, UpstreamError> {
    let given: Map<String, Value> = stored.as_object().cloned().unwrap_or_default();
    let mut reading = Reading::new(given, &[]);
    // What is stored was read when it was given; if it cannot be read any more, there is no way to the target.
    let unusable = |_| UpstreamError::Unreachable;
    let trust = reading.trust().map_err(unusable)?;
    let allow = reading.allow(Defaults::default()).map_err(unusable)?;
    Ok(Destination { base, trust, allow })
}

fn texts(values: &[impl ToString]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}
