//! Where a cluster is: the settings of a target, and the base of everything that is read from it.
//!
//! Always TLS: the token travels in a header. Any node of a cluster answers for all of them.

use std::net::Ipv6Addr;

use serde_json::{Map, Value};

use crate::{
    adapters::settings::{Defaults, Reading, destination},
    error::Error,
    upstream::{
        UpstreamError,
        reader::{Base, Destination},
    },
};

const HOST: &str = "host";
const PORT: &str = "port";
const LONGEST_HOST: usize = 255;
const USUAL_PORT: u16 = 8006;
/// Where the API stands; another spelling of it answers 200 to errors.
const API: &str = "/api2/json";

/// The settings of a target as they are stored, out of those that were asked for.
pub(in crate::adapters) fn settings(
    given: Map<String, Value>,
    defaults: Defaults,
) -> Result<Map<String, Value>, Error> {
    let place = || format!("config.{HOST}");
    let mut reading = Reading::new(given, &[HOST, PORT]);
    let Some(host) = reading.text(HOST, LONGEST_HOST)? else {
        let what = "is needed: the name or address of a node of the cluster";
        return Err(Error::invalid(place(), what));
    };
    let port = reading.port(PORT)?.unwrap_or(USUAL_PORT);
    let base = base(&host, port).map_err(|what| Error::invalid(place(), what))?;
    reading.store(HOST, base.host());
    reading.store(PORT, port);
    reading.trust()?;
    reading.allow(defaults)?;
    reading.end()
}

/// The destination of a target, out of its stored settings.
pub(super) fn stored(settings: &Value) -> Result<Destination, UpstreamError> {
    let host = settings.get(HOST).and_then(Value::as_str).unwrap_or_default();
    let port = settings.get(PORT).and_then(Value::as_u64);
    let port = port
        .and_then(|port| u16::try_from(port).ok())
        .unwrap_or(USUAL_PORT);
    let base = base(host, port).map_err(|_| UpstreamError::Unreachable)?;
    destination(base, settings)
}

fn base(host: &str, port: u16) -> Result<Base, String> {
    let bare = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(host);
    let host = match bare.parse::<Ipv6Addr>() {
        Ok(_) => format!("[{bare}]"),
        Err(_) if host.contains(['/', ':', '@', '?', '#', '[']) => {
            return Err(
                "is the name or address of a node alone: no https://, no path; the port stands in port"
                    .into(),
            );
        }
        Err(_) => host.to_owned(),
    };
    Base::parse(&format!("https://{host}:{port}{API}"))
}

#[cfg(test)]
mod tests;
