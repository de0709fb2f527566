//! What GitHub answers, in bodies and in headers: read without a panic, whatever it is, and the same each time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolgate_core::adapters::parse_github;

fuzz_target!(|bytes: &[u8]| {
    assert_eq!(parse_github(bytes), parse_github(bytes));
});
