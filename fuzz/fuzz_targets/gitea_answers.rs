//! Answers of Gitea and Forgejo servers: whatever they send is read without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolgate_core::adapters::parse_gitea;

fuzz_target!(|bytes: &[u8]| {
    let _ = parse_gitea(bytes);
});
