//! Where a target points instead of answering, and whether it is followed.
//!
//! Only to the same scheme, host and port and below the base path: the credential goes nowhere else.

use http::{HeaderMap, HeaderValue, StatusCode, header::LOCATION};
use percent_encoding::percent_decode_str;
use url::Url;

use super::{Base, Fault};

const LONGEST: usize = 8 * 1024;

/// Where an answer points, if it is one that points.
pub(super) fn location(status: StatusCode, headers: &HeaderMap) -> Option<HeaderValue> {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
        .then(|| headers.get(LOCATION).cloned())
        .flatten()
}

/// The address that is read next.
pub(super) fn resolve(base: &Base, at: &Url, location: &HeaderValue) -> Result<Url, Fault> {
    let text = location
        .to_str()
        .ok()
        .filter(|text| text.len() <= LONGEST && !text.contains(['\\', '\t']))
        .ok_or_else(|| Fault::invalid("the target points to an address that is none"))?;
    let mut url = at
        .join(text)
        .map_err(|_| Fault::invalid("the target points to an address that is none"))?;
    url.set_fragment(None);
    if !url.username().is_empty() || url.password().is_some() {
        return Err(elsewhere(base, &url));
    }
    match base.holds(&url) && !leaves(url.path()) {
        true => Ok(url),
        false => Err(elsewhere(base, &url)),
    }
}

pub(super) fn too_many() -> Fault {
    Fault::invalid("the target pointed on four times in a row; is its own address set right there?")
}

// A server that decodes before it splits would see another path than was looked at here.
fn leaves(path: &str) -> bool {
    let decoded = percent_decode_str(path).decode_utf8_lossy();
    decoded
        .split(['/', '\\'])
        .any(|segment| matches!(segment, "." | ".."))
}

fn elsewhere(base: &Base, url: &Url) -> Fault {
    let place = match (url.host_str(), url.port_or_known_default()) {
        (Some(host), Some(port)) if url.origin() != base.url().origin() => {
            format!("{}://{host}:{port}", url.scheme())
        }
        (Some(_), _) => "a path outside of its base path".to_owned(),
        (None, _) => "something that is no web address".to_owned(),
    };
    let place: String = place.chars().take(200).collect();
    Fault::invalid(format!(
        "{} points to {place}, and the credential is not taken there; set the address that the target calls its own",
        base.place()
    ))
}

#[cfg(test)]
mod tests;
