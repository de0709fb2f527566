//! The relay's end of an uplink, as far as all fakes share it: the socket and the handshake.

mod dial;
mod identity;

pub(crate) use self::{dial::Link, identity::Identity};
