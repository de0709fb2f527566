//! Enrolment tokens: a text that is taken is the one spelling of its token.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolgate_contract::enrolment::EnrolmentToken;

fuzz_target!(|text: &str| {
    if let Ok(token) = EnrolmentToken::parse(text) {
        assert_eq!(token.reveal(), text);
    }
});
