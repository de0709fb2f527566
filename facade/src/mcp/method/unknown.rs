//! Methods that this server does not have. Who asks is looked at all the same (row A3).

use crate::mcp::{
    fault::Fault,
    reply::Reply,
    server::{Asked, Server},
};

pub(in crate::mcp) async fn answer(server: &Server, asked: Asked) -> Reply {
    let fault = match server.accept(asked.caller).await {
        Ok(()) => Fault::no_method(&asked.method, asked.era.is_modern()),
        Err(fault) => fault,
    };
    fault.about(Some(asked.id)).into()
}
