//! The parameters of a message: the members that some method reads, each as it was written.

use bytes::Bytes;
use serde_json::value::RawValue;

use super::keys::pick;

/// Every member that a method reads, in the order of [`Params`].
const OURS: [&str; 10] = [
    "_meta",
    "name",
    "arguments",
    "cursor",
    "level",
    "protocolVersion",
    "notifications",
    "requestId",
    "targetId",
    "target_id",
];

/// What the methods read. Members of other names are nobody's business here.
#[derive(Debug, Clone, Default)]
pub(in crate::mcp) struct Params {
    pub(in crate::mcp) meta: Option<Bytes>,
    pub(in crate::mcp) name: Option<Bytes>,
    pub(in crate::mcp) arguments: Option<Bytes>,
    pub(in crate::mcp) cursor: Option<Bytes>,
    pub(in crate::mcp) level: Option<Bytes>,
    pub(in crate::mcp) protocol_version: Option<Bytes>,
    pub(in crate::mcp) notifications: Option<Bytes>,
    pub(in crate::mcp) request_id: Option<Bytes>,
    /// The target beside the arguments, in either spelling.
    pub(in crate::mcp) target_id: [Option<Bytes>; 2],
    /// All of them, as they were written; empty where there are none.
    pub(in crate::mcp) raw: Bytes,
}

impl Params {
    /// Reads the object `raw`, which is a part of `message`. A member that is null is as good as absent.
    pub(super) fn read(message: &Bytes, raw: &RawValue) -> Result<Self, String> {
        if !raw.get().starts_with('{') {
            return Err("member params must be an object".into());
        }
        let found = pick(raw.get(), &OURS)?;
        let [
            meta,
            name,
            arguments,
            cursor,
            level,
            protocol_version,
            notifications,
            request_id,
            camel,
            snake,
        ] = found.map(|raw| {
            let text = raw?.get();
            (text != "null").then(|| message.slice_ref(text.as_bytes()))
        });
        Ok(Self {
            meta,
            name,
            arguments,
            cursor,
            level,
            protocol_version,
            notifications,
            request_id,
            target_id: [camel, snake],
            raw: message.slice_ref(raw.get().as_bytes()),
        })
    }
}

/// The text that a member is; `None` where it is another kind of value.
pub(in crate::mcp) fn text(member: &Bytes) -> Option<String> {
    serde_json::from_slice(member).ok()
}
