//! Answers of Proxmox VE clusters: whatever they send is read without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolgate_core::adapters::parse_proxmox;

fuzz_target!(|bytes: &[u8]| {
    parse_proxmox(bytes);
});
