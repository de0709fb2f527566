//! `logging/setLevel`: from which level on a conversation wants log messages (row LG1).
//!
//! Without a session there is no conversation to keep it for: the level is checked, and that is all.

use super::ping;
use crate::mcp::{
    fault::Fault,
    level::Level,
    reply::Reply,
    server::{Asked, Server},
};

pub(in crate::mcp) async fn answer(server: &Server, asked: Asked) -> Reply {
    let level = asked.params.level.as_ref();
    let level = level.map_or_else(
        || Err(Fault::params("params.level is missing")),
        |raw| Level::read(raw),
    );
    let level = match level {
        Ok(level) => level,
        Err(fault) => return fault.about(Some(asked.id)).into(),
    };
    if let Err(fault) = server.accept(asked.caller).await {
        return fault.about(Some(asked.id)).into();
    }
    if let (Some(scope), true) = (asked.scope, asked.is_conversation) {
        server.levels.set(scope, level);
    }
    ping::empty(&asked.id, asked.era)
}
