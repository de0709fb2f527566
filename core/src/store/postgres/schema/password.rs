//! The password of the gateway's role. What the server is sent is its SCRAM verifier, so that no log of the server can
//! ever hold the password.

use postgres_protocol::password::scram_sha_256;
use tokio_postgres::Client;

use super::{APP, roles};
use crate::store::StoreError;

/// Sets it.
pub(super) async fn set(client: &Client, password: &str) -> Result<(), StoreError> {
    // Letters, digits and `$:+/=-` only.
    let verifier = scram_sha_256(password.as_bytes());
    client
        .batch_execute(&format!("alter role {APP} password '{verifier}'"))
        .await
        .map_err(|failure| roles::unfit("the password of toolgate_app cannot be set", &failure))
}
