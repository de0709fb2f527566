//! Rows of the record: bytes that are taken are the one encoding of their event, and lists read the same of them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolgate_core::audit::row_bytes::{Columns, decode, encode};

fuzz_target!(|bytes: &[u8]| {
    let columns = Columns::of(bytes);
    let Ok(event) = decode(bytes) else {
        return;
    };
    assert_eq!(encode(&event), bytes);
    let columns = columns.expect("a row has columns");
    assert_eq!(columns.event_id, event.id.to_string());
    assert_eq!(
        (columns.kind, columns.time_us),
        (event.kind.as_str(), event.time_us)
    );
    assert_eq!(
        (columns.principal, columns.capability),
        (&*event.principal, &*event.capability)
    );
});
