//! A download in pieces, each of which must come in time.

use std::{ops::Deref, time::Duration};

use reqwest::Response;

use crate::{client::Gateway, failure::Failure};

const SILENCE: Duration = Duration::from_secs(60);

/// What is left of a download.
pub(super) struct Pieces<'a> {
    gateway: &'a Gateway,
    response: Response,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(gateway: &'a Gateway, response: Response) -> Self {
        Self { gateway, response }
    }

    /// The next piece; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<impl Deref<Target = [u8]> + use<>>, Failure> {
        tokio::time::timeout(SILENCE, self.response.chunk())
            .await
            .map_err(|_| Failure::failed("the export stopped halfway").next("run it again"))?
            .map_err(|error| self.gateway.unreachable(&error))
    }
}
