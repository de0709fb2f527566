//! Frames of one uplink in a row: what is read is written back the same, and joining chunks keeps its budget.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use toolgate_contract::frame::{Assembler, Frame};

/// Bytes that the assembler may hold.
const BUDGET: usize = 1 << 16;

fuzz_target!(|messages: Vec<&[u8]>| {
    let mut assembler = Assembler::new(BUDGET);
    for message in messages {
        let Ok(frame) = Frame::decode(Bytes::copy_from_slice(message)) else {
            continue;
        };
        // A header may have been spelt at greater length than we spell it.
        if let Ok(bytes) = frame.encode() {
            assert_eq!(Frame::decode(bytes).as_ref(), Ok(&frame));
        }
        let (kind, id, more) = (frame.header.kind, frame.header.id.clone(), frame.header.more);
        match assembler.push(frame) {
            Ok(Some(whole)) => assert!(!more && whole.body.len() <= BUDGET.max(message.len())),
            Ok(None) => assert!(more && assembler.is_open(kind, &id)),
            Err(_) => assert!(!assembler.is_open(kind, &id), "a body that failed is still held"),
        }
    }
});
