//! The body of an answer: read whole, inflated where it was deflated, and never larger than the limit.

use std::io::{self, Write};

use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use http::{HeaderMap, header::CONTENT_ENCODING};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

use super::{Fault, exchange::broken};

/// As it travels, and once more when it is inflated.
const LONGEST: usize = 8 * 1024 * 1024;

/// Reads a body.
pub(super) async fn read(headers: &HeaderMap, mut incoming: Incoming) -> Result<Bytes, Fault> {
    let mut body = Inflating::of(headers)?;
    if incoming.size_hint().lower() > LONGEST as u64 {
        return Err(too_large());
    }
    let mut travelled = 0;
    while let Some(frame) = incoming.frame().await {
        let Ok(data) = frame.map_err(|error| broken(&error))?.into_data() else {
            continue;
        };
        travelled += data.len();
        if travelled > LONGEST {
            return Err(too_large());
        }
        body.take(&data)?;
    }
    // Nothing deflated is nothing: some say gzip of an empty body.
    match travelled {
        0 => Ok(Bytes::new()),
        _ => body.finish(),
    }
}

/// A body on its way to what it was before it was deflated.
enum Inflating {
    Plain(Capped),
    // Boxed: it holds a window of 32 KiB.
    Gzip(Box<MultiGzDecoder<Capped>>),
}

impl Inflating {
    /// One gzip, or nothing. Whatever lies within each other, or was not asked for, is refused.
    fn of(headers: &HeaderMap) -> Result<Self, Fault> {
        let mut encodings = headers.get_all(CONTENT_ENCODING).iter();
        let first = encodings.next().map(|value| value.as_bytes().trim_ascii());
        let plain = Capped(Vec::new());
        match (first, encodings.next()) {
            (None, _) => Ok(Self::Plain(plain)),
            (Some(only), None) if is(only, "identity") || only.is_empty() => Ok(Self::Plain(plain)),
            (Some(only), None) if is(only, "gzip") || is(only, "x-gzip") => {
                Ok(Self::Gzip(Box::new(MultiGzDecoder::new(plain))))
            }
            _ => Err(Fault::invalid(
                "the answer is encoded in a way that was not asked for; does a proxy stand between?",
            )),
        }
    }

    fn take(&mut self, data: &[u8]) -> Result<(), Fault> {
        let taken = match self {
            Self::Plain(body) => body.write_all(data),
            Self::Gzip(decoder) => decoder.write_all(data),
        };
        taken.map_err(|error| spoilt(&error))
    }

    fn finish(self) -> Result<Bytes, Fault> {
        match self {
            Self::Plain(body) => Ok(body.0.into()),
            Self::Gzip(decoder) => match decoder.finish() {
                Ok(body) => Ok(body.0.into()),
                Err(error) => Err(spoilt(&error)),
            },
        }
    }
}

/// Takes so much and then fails, however small it was deflated.
#[derive(Debug)]
struct Capped(Vec<u8>);

impl Write for Capped {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if self.0.len() + data.len() > LONGEST {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn is(given: &[u8], encoding: &str) -> bool {
    given.eq_ignore_ascii_case(encoding.as_bytes())
}

fn spoilt(error: &io::Error) -> Fault {
    match error.kind() {
        io::ErrorKind::FileTooLarge => too_large(),
        _ => Fault::invalid("the answer says gzip and is none"),
    }
}

fn too_large() -> Fault {
    Fault::too_large("the answer is over the limit of 8 MiB; ask for less at once")
}

#[cfg(test)]
mod tests;
