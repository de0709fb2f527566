//! The methods, one file each. Each asks the core and writes its result.

pub(super) mod discover;
pub(super) mod initialize;
pub(super) mod listen;
pub(super) mod ping;
pub(super) mod set_level;
pub(super) mod tools_call;
pub(super) mod tools_list;
pub(super) mod unknown;

/// What this server has, in the words of `initialize` and `server/discover`.
const INSTRUCTIONS: &str = "Toolgate is a gate to the systems a company runs. Infrastructure is read-only here: what \
     would change it is refused and recorded. Where several targets fit, name one by target_id; the tools list says which \
     there are. Every call is checked, limited and put on an audit record; a refusal says what to do next.";
