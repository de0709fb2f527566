//! What goes with a file: its type, its coding, and for documents what keeps other sites' hands off them.

use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue, header};

use super::packed::Packed;

/// Scripts, styles and connections of this gateway only, nothing inline, in nobody's frame.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'self'; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
);
/// Nothing that the pages could use: whoever gets a script in gets no camera with it.
const PERMISSIONS: HeaderValue = HeaderValue::from_static(
    "accelerometer=(), autoplay=(), camera=(), display-capture=(), encrypted-media=(), fullscreen=(), geolocation=(), \
     gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), publickey-credentials-get=(), \
     screen-wake-lock=(), usb=(), xr-spatial-tracking=()",
);
const DOCUMENT: [(HeaderName, HeaderValue); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (HeaderName::from_static("permissions-policy"), PERMISSIONS),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    // For those who do not know `frame-ancestors`.
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
];

/// The bytes in the coding that the reader takes.
pub(super) fn send(packed: &Packed, asked: &HeaderMap) -> Response {
    let gzip = packed.gzip.as_ref().filter(|_| takes_gzip(asked));
    let body = gzip.unwrap_or(&packed.plain).clone();
    let mut response = Response::new(body.into());
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(packed.content_type),
    );
    if gzip.is_some() {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

/// Adds what a document of ours is always sent with.
pub(super) fn protect(headers: &mut HeaderMap) {
    headers.extend(DOCUMENT);
}

/// Whether `Accept-Encoding` names gzip, or everything, with a weight that is not nothing.
pub(super) fn takes_gzip(asked: &HeaderMap) -> bool {
    let lines = asked.get_all(header::ACCEPT_ENCODING).iter();
    let codings = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','));
    let (mut named, mut any) = (None, None);
    for coding in codings {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let wanted = !is_nothing(weight);
        match name.trim() {
            name if name.eq_ignore_ascii_case("gzip") => named = Some(wanted),
            "*" => any = Some(wanted),
            _ => {}
        }
    }
    named.or(any).unwrap_or(false)
}

/// `q=0` with as many zeros after the point as one likes.
fn is_nothing(weight: &str) -> bool {
    let digits = weight.trim().strip_prefix("q=").map(str::trim);
    digits.is_some_and(|digits| digits.parse() == Ok(0.0_f32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_to_whoever_takes_it() {
        let check = |lines: &[&str], expected: bool| {
            let mut asked = HeaderMap::new();
            for line in lines {
                asked.append(header::ACCEPT_ENCODING, line.parse().unwrap());
            }
            assert_eq!(takes_gzip(&asked), expected, "{lines:?}");
        };
        check(&[], false);
        check(&[""], false);
        check(&["identity"], false);
        check(&["gzip, deflate, br, zstd"], true);
        check(&["br", "GZIP"], true);
        check(&["br;q=1.0, gzip;q=0.2"], true);
        check(&["*"], true);
        check(&["gzip;q=0"], false);
        check(&["gzip; q=0.000, *"], false);
        check(&["*;q=0, gzip"], true);
        check(&["xgzip, gzipx"], false);
    }
}
