//! Lines of an export: what is taken as the row of a line is written as that line again, in the same format.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolgate_core::audit::export::{Format, Line, Link};

fuzz_target!(|text: &[u8]| {
    for format in [Format::Ndjson, Format::Csv] {
        let link = Link::of(format, text);
        let tenant = link.map_or("local", |link| link.tenant);
        let mut line = Line::default();
        if line.read(format, tenant, text).is_err() {
            continue;
        }
        let row = line.row();
        let mut again = Vec::new();
        format.write(&mut again, tenant, &row);
        assert_eq!(row.columns_agree, again == text);
        if let Ok(link) = link {
            assert_eq!(link.seq, row.seq);
            assert_eq!((&link.prev[..], &link.hash[..]), (row.prev, row.hash));
        }
    }
});
