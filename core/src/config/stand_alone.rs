//! A core that lives for one process: `toolgate mcp` where no gateway is near.
//!
//! What stands here was given to the process by its environment and is never stored. Its credentials are the declared
//! exception to the rule that credentials come from a provider alone (`gateway.md` INV-3).

use std::fmt;

use zeroize::Zeroizing;

/// What the process brings.
#[derive(Debug, Clone, Default)]
pub struct StandAlone {
    /// The back ends of agents that it was given.
    pub back_ends: Vec<BackEnd>,
    /// Nothing is written at any back end, whatever else allows it.
    pub read_only: bool,
    /// The repository that the process works in, for records of internal issues; empty where it is not known.
    pub repo: String,
    /// The kind of its task, likewise.
    pub kind: String,
}

/// One back end of agents.
#[derive(Debug, Clone)]
pub struct BackEnd {
    /// Its adapter type, such as `agent-memory`.
    pub adapter: &'static str,
    /// Where it is.
    pub url: String,
    /// As whom it is asked.
    pub credential: BackEndCredential,
}

/// As whom a back end is asked. Shows no secret.
#[derive(Clone)]
pub enum BackEndCredential {
    /// As nobody: without a credential.
    None,
    /// With this token.
    Token(Zeroizing<String>),
    /// With tokens that an issuer hands out to a client.
    Client {
        /// The client.
        id: String,
        /// Its secret.
        secret: Zeroizing<String>,
        /// The issuer's address.
        issuer: String,
    },
}

impl fmt::Debug for BackEndCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Token(_) => "Token(***)",
            Self::Client { .. } => "Client(***)",
        })
    }
}
