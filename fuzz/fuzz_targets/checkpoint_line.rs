//! Lines of checkpoint files: what is taken has one spelling, and key lists are taken or refused without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolgate_core::anchor::{Checkpoint, PublicKeys, Root};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(checkpoint) = Checkpoint::parse(text) {
        assert_eq!(checkpoint.to_line(), text);
    }
    if let Ok(root) = Root::parse(text) {
        assert_eq!(root.to_line(), text);
    }
    if let Ok(keys) = PublicKeys::parse(text) {
        assert_eq!(keys.lines().collect::<Vec<_>>(), text.lines().collect::<Vec<_>>());
        if let Some(line) = text.lines().last()
            && let Ok(checkpoint) = Checkpoint::parse(line)
        {
            let _ = checkpoint.check(&keys);
        }
    }
});
