//! What an error of the client means. Its own text is not told: it may hold what the target sent.

use std::{error::Error as StdError, io};

use tokio_rustls::rustls;

use super::egress::NotAdmitted;
use crate::upstream::{
    UpstreamError,
    reader::{Base, Fault, told_of_tls},
};

/// The fault behind an error.
pub(in crate::adapters::agent) fn told(base: &Base, error: &reqwest::Error) -> Fault {
    let place = base.place();
    let mut at: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(cause) = at {
        if let Some(NotAdmitted(fault)) = cause.downcast_ref() {
            return fault.clone();
        }
        if let Some(error) = cause.downcast_ref::<rustls::Error>() {
            return told_of_tls(&place, error);
        }
        if let Some(fault) = cause.downcast_ref().and_then(|error| of_hyper(&place, error)) {
            return fault;
        }
        if let Some(error) = cause.downcast_ref::<io::Error>() {
            if let Some(fault) = of_io(&place, error) {
                return fault;
            }
            // An I/O error passes over what it wraps where it tells its source.
            if let Some(inner) = error.get_ref() {
                at = Some(inner);
                continue;
            }
        }
        at = cause.source();
    }
    if error.is_timeout() {
        let what = match error.is_connect() {
            true => "no connection was made; look at its address and at firewalls between",
            false => "its answer did not come",
        };
        return Fault::new(
            UpstreamError::Timeout,
            format!("no answer from {place} in time: {what}"),
        );
    }
    let what = format!("{place} ended the connection before its answer was whole");
    match error.is_connect() {
        true => Fault::unreachable(what),
        false => Fault::new(UpstreamError::BrokenOff, what),
    }
}

fn of_hyper(place: &str, error: &hyper::Error) -> Option<Fault> {
    if error.is_parse_too_large() {
        return Some(Fault::too_large("the headers of the answer are over the limit"));
    }
    error.is_parse().then(|| {
        Fault::invalid(format!(
            "what answers at {place} does not speak HTTP as it should; is this the right port?"
        ))
    })
}

fn of_io(place: &str, error: &io::Error) -> Option<Fault> {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Some(Fault::unreachable(format!(
            "no connection to {place}: nothing listens there; look at address and port"
        ))),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => Some(Fault::unreachable(
            format!("no connection to {place}: there is no way there from this machine"),
        )),
        _ => None,
    }
}
