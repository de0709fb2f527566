//! The six commands: what is taken is told back word for word, and no word holds what a shell or an option would be.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolgate_contract::ssh;

fuzz_target!(|text: &str| {
    let Ok(command) = ssh::parse(text) else {
        return;
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || " -_.@:=\\".contains(c);
    assert!(text.chars().all(plain), "{text:?}");
    assert_eq!(ssh::parse(text), Ok(command.clone()));
    let argv = command.argv();
    assert_eq!(argv.first().map(String::as_str), Some(command.program()));
    assert!(
        argv.iter()
            .all(|word| !word.is_empty() && !word.contains(['\0', '\n', ' '])),
        "{argv:?}"
    );
});
