//! Where checkpoints go beside the gateway's own disk, so that who owns that disk cannot take them back.
//!
//! A [`Sink`] takes lines; a [`courier::Courier`] brings them to it from the files, by a cursor that survives restarts.
//! The files are the spool: nothing is held in memory, and nothing is lost while a peer is away.

mod courier;
mod cursor;
mod webhook;

use std::fmt;

use futures::future::BoxFuture;

pub(super) use self::courier::{Courier, Pace};
pub use self::webhook::{Webhook, WebhookError, is_webhook};

/// A place outside the gateway that keeps checkpoints.
///
/// Given in [`AnchorConfig::sinks`](super::AnchorConfig). To write one (an object store with a retention lock, a log service, a timestamp authority): keep the lines you are
/// given durably and in order, and answer only then. Lines come whole, each with its end, as they stand in the checkpoint
/// files; they are public keys, checkpoints and roots (`docs/audit.md`). After an answer that was lost the same lines come
/// again, so take a line that you have already for done: a checkpoint is known by (tenant, seq, time), a root by its
/// number, a key by its id. For an object store: one object for each call, named by the first line's hash, written with
/// a condition that it does not exist and with the lock's retention; "exists already" is success.
pub trait Sink: fmt::Debug + Send + Sync + 'static {
    /// Its name, a label of metrics and the name of its place in the files: a word of small letters of its own, never a
    /// text from outside.
    fn name(&self) -> &'static str;

    /// Appends these lines durably, in order. Must end by itself within seconds.
    fn append(&self, lines: Vec<u8>) -> BoxFuture<'_, Result<(), SinkError>>;
}

/// Why a sink did not take lines. They come again.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SinkError(pub String);
