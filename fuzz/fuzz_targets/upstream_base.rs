//! Addresses, networks and fingerprints that admins write: what is taken has one spelling, and reads the same again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolgate_core::upstream::reader::{Base, Fingerprint, Network};

fuzz_target!(|text: &str| {
    if let Ok(base) = Base::parse(text) {
        assert_eq!(Base::parse(base.as_str()).as_ref(), Ok(&base));
        assert!(!base.host().is_empty() && !base.host().contains(['@', '%', ' ']));
    }
    if let Ok(network) = Network::parse(text) {
        assert_eq!(Network::parse(&network.to_string()), Ok(network));
    }
    if let Ok(print) = Fingerprint::parse(text) {
        assert_eq!(Fingerprint::parse(&print.to_string()), Ok(print));
    }
});
