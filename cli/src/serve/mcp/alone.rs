//! What the process brings to a core of its own, out of its environment and its flags.

use toolgate_core::config::{BackEnd, BackEndCredential, StandAlone};

use crate::{
    args::McpArgs,
    config::environment::{Environment, GivenCredential},
    failure::Failure,
};

/// The longest name that is told about the process.
const LONGEST: usize = 256;

/// Reads it.
///
/// # Errors
/// When a back end is named and nobody can be asked as.
pub(super) fn read(environment: &Environment, args: &McpArgs) -> Result<StandAlone, Failure> {
    let back_ends = environment.back_ends()?;
    Ok(StandAlone {
        back_ends: back_ends
            .into_iter()
            .map(|given| BackEnd {
                adapter: given.adapter,
                url: given.url.to_owned(),
                credential: credential(given.credential),
            })
            .collect(),
        read_only: args.read_only,
        repo: named(environment.repo()),
        kind: named(environment.kind()),
    })
}

fn credential(given: GivenCredential<'_>) -> BackEndCredential {
    match given {
        GivenCredential::None => BackEndCredential::None,
        GivenCredential::Token(token) => BackEndCredential::Token(token),
        GivenCredential::Client { id, secret, issuer } => BackEndCredential::Client {
            id: id.to_owned(),
            secret,
            issuer: issuer.to_owned(),
        },
    }
}

fn named(text: Option<&str>) -> String {
    text.unwrap_or_default().chars().take(LONGEST).collect()
}
