//! The one kind of request there is: GET, without a body.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, header};
use http_body_util::Empty;
use url::Url;

use super::{Base, Fault};

/// Nothing, and of a type that can hold nothing.
pub(super) type NoBody = Empty<Bytes>;

/// Headers that say how a message is carried, what it holds, or that another verb is meant: none of a caller's.
const OURS: [&str; 17] = [
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
];

/// The headers of every request, the credential among them.
pub(super) struct Head(HeaderMap);

impl Head {
    pub(super) fn new(base: &Base, given: HeaderMap) -> Result<Self, Fault> {
        let mut headers = HeaderMap::new();
        for (name, value) in &given {
            if OURS.contains(&name.as_str()) {
                return Err(Fault::invalid(format!(
                    "the header {name} is not a reader's to send"
                )));
            }
            let mut value = value.clone();
            value.set_sensitive(true);
            headers.append(name.clone(), value);
        }
        let host = HeaderValue::try_from(base.authority())
            .map_err(|_| Fault::invalid("the host of the target cannot stand in a header"))?;
        headers.insert(header::HOST, host);
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        default(&mut headers, header::ACCEPT, "application/json");
        default(
            &mut headers,
            header::USER_AGENT,
            concat!("toolgate/", env!("CARGO_PKG_VERSION")),
        );
        Ok(Self(headers))
    }

    /// The request for this address, of which only path and query travel.
    pub(super) fn request(&self, url: &Url) -> Result<Request<NoBody>, Fault> {
        let target = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        let mut request = Request::get(target)
            .body(NoBody::new())
            .map_err(|_| Fault::invalid("the path that should be read is none; nothing was asked"))?;
        *request.headers_mut() = self.0.clone();
        Ok(request)
    }
}

fn default(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.entry(name).or_insert(HeaderValue::from_static(value));
}
