//! Credentials: a text that is taken begins with its kind and tenant, and no two texts have one hash.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolgate_core::identity::Presented;

fuzz_target!(|texts: (&str, &str)| {
    let (one, other) = (Presented::parse(texts.0), Presented::parse(texts.1));
    for (text, presented) in [(texts.0, &one), (texts.1, &other)] {
        if let Some(presented) = presented {
            assert!(text.is_ascii());
            assert_eq!(text.split('_').nth(1), Some(presented.tenant.as_str()));
        }
    }
    if let (Some(one), Some(other)) = (one, other) {
        assert_eq!(one.hash == other.hash, texts.0 == texts.1);
    }
});
