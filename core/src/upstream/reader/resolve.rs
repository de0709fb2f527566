//! From a name to addresses. A face, so that tests can say what names mean.

use std::{io, net::IpAddr, sync::Arc};

use futures::future::BoxFuture;

/// Looks names up.
pub(super) trait Resolve: Send + Sync {
    /// Every address of this name.
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// As this machine looks names up.
pub(super) fn system() -> Arc<dyn Resolve> {
    Arc::new(System)
}

struct System;

impl Resolve for System {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}
