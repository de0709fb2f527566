//! `tools/list`: the caller's catalog, whole on one page (row T1).
//!
//! Many clients read the first page only, so there is no second one, and no cursor is one of ours.

use bytes::{BufMut, Bytes, BytesMut};

use crate::mcp::{
    fault::Fault,
    reply::{Answer, Reply},
    result::begin_result,
    server::{Asked, Server, failed},
    tools,
};

pub(in crate::mcp) async fn answer(server: &Server, asked: Asked) -> Reply {
    let names = server.names;
    let list = server
        .lists
        .ask(&server.link, asked.caller, |answer| {
            tools::write(answer, names, &server.info)
        })
        .await;
    let list = match list {
        Ok(list) => list,
        Err(problem) => return failed(problem, &asked.id),
    };
    if asked.params.cursor.is_some() {
        let fault = Fault::params("the cursor is none of ours; the list has one page");
        return fault.about(Some(asked.id)).into();
    }
    let mut head = BytesMut::with_capacity(96);
    begin_result(&mut head, &asked.id, asked.era);
    head.put_slice(b"\"tools\":");
    let tail = match asked.era.is_modern() {
        true => list.written.tail.clone(),
        false => Bytes::from_static(b"}}"),
    };
    Answer::pieces([head.freeze(), list.written.tools.clone(), tail]).into()
}
