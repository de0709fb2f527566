//! What the management faces have in common: who asks, and how a room's answer leaves.

use tonic::{Request, Status};

use super::{Rpc, ask, status};
use crate::{broker::Caller, changes::By, error::Error, identity::Action};

impl Rpc {
    /// The caller of a request, if its role may do this.
    pub(super) async fn caller<T>(&self, request: &Request<T>, action: Action) -> Result<Caller, Status> {
        self.broker
            .caller(&ask::of(request), action)
            .await
            .map_err(status)
    }

    /// A room's answer to a caller. A refusal is on the record before it is told.
    pub(super) async fn answer<T>(&self, caller: &Caller, outcome: Result<T, Error>) -> Result<T, Status> {
        match outcome {
            Ok(value) => Ok(value),
            Err(error) => Err(status(self.broker.refuse(caller, error).await)),
        }
    }
}

/// The caller as the record names it.
pub(super) fn by(caller: &Caller) -> By {
    let principal = caller.principal();
    By {
        tenant: principal.tenant.clone(),
        principal: principal.name.as_ref().to_owned(),
        role: principal.role.as_str(),
        facade: caller.facade,
    }
}
