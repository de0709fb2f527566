//! `ping`: whether anybody is there, and whether the credential still is one.

use bytes::{BufMut, BytesMut};

use crate::mcp::{
    envelope::Id,
    era::Era,
    reply::{Answer, Reply},
    result::begin_result,
    server::{Asked, Server},
};

pub(in crate::mcp) async fn answer(server: &Server, asked: Asked) -> Reply {
    match server.accept(asked.caller).await {
        Ok(()) => empty(&asked.id, asked.era),
        Err(fault) => fault.about(Some(asked.id)).into(),
    }
}

/// A result without members.
pub(super) fn empty(id: &Id, era: Era) -> Reply {
    let mut out = BytesMut::with_capacity(64);
    begin_result(&mut out, id, era);
    out.put_slice(b"}}");
    Answer::result(out).into()
}
