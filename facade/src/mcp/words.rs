//! Messages around the bytes of a project's server: what it says stays its own, and only its place in JSON-RPC is ours.

use bytes::{BufMut, Bytes, BytesMut};
use toolgate_contract::splice;

use super::{envelope::Id, result::one_line};
use crate::result::write_text;

/// Where a message of a subscription says whose it is.
const SUBSCRIPTION: [&str; 2] = ["_meta", "io.modelcontextprotocol/subscriptionId"];

/// A notification. Without parameters it has none.
pub(super) fn notification(method: &str, params: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(64 + method.len() + params.len());
    out.put_slice(b"{\"jsonrpc\":\"2.0\",\"method\":");
    write_text(&mut out, method);
    end(out, params)
}

/// A request of the server to the client, under the server's id.
pub(super) fn request(id: &str, method: &str, params: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(96 + method.len() + params.len());
    out.put_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    write_text(&mut out, id);
    out.put_slice(b",\"method\":");
    write_text(&mut out, method);
    end(out, params)
}

fn end(mut out: BytesMut, params: &[u8]) -> Bytes {
    if !params.is_empty() {
        out.put_slice(b",\"params\":");
        out.put_slice(params);
    }
    out.put_u8(b'}');
    one_line(&mut out);
    out.freeze()
}

/// An error of the server, under the client's id.
pub(super) fn error(id: &Id, error: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(64 + error.len());
    out.put_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    id.write(&mut out);
    out.put_slice(b",\"error\":");
    out.put_slice(error);
    out.put_u8(b'}');
    one_line(&mut out);
    out.freeze()
}

/// Parameters of a progress notification with the client's token in the place of the one that is there; `None` where
/// there is none.
pub(super) fn with_token(params: &[u8], token: &[u8]) -> Option<Bytes> {
    let (text, token) = (
        std::str::from_utf8(params).ok()?,
        std::str::from_utf8(token).ok()?,
    );
    let former = splice::member(text, "progressToken").ok()??;
    Some(match former == token {
        true => Bytes::copy_from_slice(params),
        false => splice::in_place_of(text, former, token).into(),
    })
}

/// An object with the client's id in the place of the one by which the server knows the subscription; as it is where it
/// names none.
pub(super) fn with_subscription(object: &Bytes, id: &Id) -> Bytes {
    let named = || {
        let text = std::str::from_utf8(object).ok()?;
        let former = splice::at(text, &SUBSCRIPTION).ok()??;
        let mut ours = BytesMut::new();
        id.write(&mut ours);
        Some(splice::in_place_of(
            text,
            former,
            std::str::from_utf8(&ours).ok()?,
        ))
    };
    named().map_or_else(|| object.clone(), Bytes::from)
}

#[cfg(test)]
mod tests;
