//! Long bodies in pieces: cutting them up, and joining them again within bounds.

use std::collections::HashMap;

use bytes::BytesMut;

use super::{Frame, FrameError, FrameId, Header, Kind, MAX_BODY, MAX_CHUNK, MAX_IN_FLIGHT};

/// The frames that carry one frame, in order. Frames of others may go in between.
#[derive(Debug)]
pub struct Chunks {
    rest: Option<Frame>,
}

impl Chunks {
    pub(super) fn new(frame: Frame) -> Result<Self, FrameError> {
        let limit = if frame.header.kind.may_be_chunked() {
            MAX_BODY
        } else {
            MAX_CHUNK
        };
        if frame.body.len() > limit {
            return Err(FrameError::BodyTooLarge);
        }
        let first = Header {
            more: frame.body.len() > MAX_CHUNK,
            ..frame.header.clone()
        };
        first.check()?;
        Ok(Self { rest: Some(frame) })
    }
}

impl Iterator for Chunks {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        let mut rest = self.rest.take()?;
        if rest.body.len() <= MAX_CHUNK {
            return Some(rest);
        }
        let body = rest.body.split_to(MAX_CHUNK);
        let header = Header {
            more: true,
            ..rest.header.clone()
        };
        self.rest = Some(rest);
        Some(Frame { header, body })
    }
}

/// Why a body could not be joined. The pieces so far are gone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("body of {kind:?} {id} cannot be joined: {why}")]
pub struct Unassembled {
    /// Of what.
    pub kind: Kind,
    /// Of which.
    pub id: FrameId,
    /// Why.
    pub why: FrameError,
}

/// Joins the chunks of one connection. Holds at most [`MAX_IN_FLIGHT`] bodies and `budget` bytes.
#[derive(Debug)]
pub struct Assembler {
    open: HashMap<(Kind, FrameId), (Header, BytesMut)>,
    held: usize,
    budget: usize,
}

impl Assembler {
    /// An assembler that holds at most `budget` bytes.
    #[must_use]
    pub fn new(budget: usize) -> Self {
        Self {
            open: HashMap::new(),
            held: 0,
            budget,
        }
    }

    /// Takes one frame; gives the whole one when it is complete. The first chunk's header stands for all.
    pub fn push(&mut self, frame: Frame) -> Result<Option<Frame>, Unassembled> {
        let key = (frame.header.kind, frame.header.id.clone());
        if !frame.header.more && !self.open.contains_key(&key) {
            return Ok(Some(frame));
        }
        if let Err(why) = self.admit(&key, &frame) {
            self.forget(key.0, &key.1);
            return Err(Unassembled {
                kind: key.0,
                id: key.1,
                why,
            });
        }
        self.held += frame.body.len();
        let more = frame.header.more;
        let (_, body) = self
            .open
            .entry(key.clone())
            .or_insert_with(|| (frame.header, BytesMut::new()));
        body.extend_from_slice(&frame.body);
        if more {
            return Ok(None);
        }
        Ok(self.take(&key))
    }

    /// Drops what is held of a body that nobody waits for.
    pub fn forget(&mut self, kind: Kind, id: &FrameId) {
        self.take(&(kind, id.clone()));
    }

    /// True while chunks of this body are awaited.
    #[must_use]
    pub fn is_open(&self, kind: Kind, id: &FrameId) -> bool {
        self.open.contains_key(&(kind, id.clone()))
    }

    fn admit(&self, key: &(Kind, FrameId), frame: &Frame) -> Result<(), FrameError> {
        let held = match self.open.get(key) {
            Some((_, body)) => body.len(),
            None if self.open.len() >= MAX_IN_FLIGHT => return Err(FrameError::Field("id")),
            None => 0,
        };
        let length = frame.body.len();
        if held + length > MAX_BODY || self.held + length > self.budget {
            return Err(FrameError::BodyTooLarge);
        }
        // An endless run of empty chunks would never come to the limit.
        if frame.header.more && frame.body.is_empty() {
            return Err(FrameError::Field("more"));
        }
        Ok(())
    }

    fn take(&mut self, key: &(Kind, FrameId)) -> Option<Frame> {
        let (mut header, body) = self.open.remove(key)?;
        self.held -= body.len();
        header.more = false;
        Some(Frame {
            header,
            body: body.freeze(),
        })
    }
}
