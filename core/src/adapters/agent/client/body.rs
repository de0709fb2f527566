//! The body of an answer: streamed, and never larger than the limit in memory.

use bytes::{Bytes, BytesMut};
use http::header::CONTENT_ENCODING;
use reqwest::Response;

use super::{Answer, told};
use crate::upstream::reader::{Base, Fault};

/// Of a success.
const LONGEST: usize = 8 * 1024 * 1024;
/// Of what is no success: more of it is never told, so more is not waited for.
const LONGEST_NO: usize = 16 * 1024;

pub(super) async fn read(base: &Base, mut response: Response) -> Result<Answer, Fault> {
    let (status, headers) = (response.status(), response.headers().clone());
    let is_success = status.is_success();
    if is_success && response.content_length().is_some_and(|n| n > LONGEST as u64) {
        return Err(too_large());
    }
    // None was asked for, so that the bytes which count against the limit are those that are told.
    if is_success
        && headers
            .get(CONTENT_ENCODING)
            .is_some_and(|value| value != "identity")
    {
        return Err(Fault::invalid(
            "the answer is encoded in a way that was not asked for; does a proxy stand between?",
        ));
    }
    let mut body = BytesMut::new();
    let mut more = false;
    while let Some(chunk) = response.chunk().await.map_err(|error| told(base, &error))? {
        if is_success && body.len() + chunk.len() > LONGEST {
            return Err(too_large());
        }
        body.extend_from_slice(&chunk);
        if !is_success && body.len() > LONGEST_NO {
            more = true;
            break;
        }
    }
    Ok(Answer {
        status,
        headers,
        body: Bytes::from(body),
        more,
    })
}

fn too_large() -> Fault {
    Fault::too_large("the answer is over the limit of 8 MiB; ask for less at once")
}
