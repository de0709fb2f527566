//! How far a request came, so that a deadline that passes can say where it passed.

use std::{
    sync::atomic::{AtomicU8, Ordering},
    time::Duration,
};

use super::{Base, Fault};
use crate::upstream::UpstreamError;

/// How far one request came.
#[derive(Debug, Default)]
pub(super) struct Progress(AtomicU8);

/// What is being waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Stage {
    Turn,
    Name,
    Dial,
    Tls,
    Head,
    Body,
}

const ALL: [Stage; 6] = [
    Stage::Turn,
    Stage::Name,
    Stage::Dial,
    Stage::Tls,
    Stage::Head,
    Stage::Body,
];

impl Progress {
    pub(super) fn reached(&self, stage: Stage) {
        self.0.store(stage as u8, Ordering::Relaxed);
    }

    pub(super) fn too_late(&self, base: &Base, deadline: Duration) -> Fault {
        let stage = ALL.get(usize::from(self.0.load(Ordering::Relaxed)));
        let what = match stage.unwrap_or(&Stage::Turn) {
            Stage::Turn => {
                let detail = format!("all connections to {} are in use; try again", base.place());
                return Fault::new(UpstreamError::Overloaded, detail);
            }
            Stage::Name => "its name was still being looked up; look at the DNS of this machine",
            Stage::Dial => "no connection was made; look at its address and at firewalls between",
            Stage::Tls => "the connection was made, but no TLS session; is this the port of its HTTPS?",
            Stage::Head => "the request was sent and nothing came back",
            Stage::Body => "its answer began and did not end",
        };
        let detail = format!(
            "no answer from {} within {} s: {what}",
            base.place(),
            deadline.as_secs_f32()
        );
        Fault::new(UpstreamError::Timeout, detail)
    }
}
