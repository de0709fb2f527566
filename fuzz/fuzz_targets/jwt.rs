//! JWTs and key sets: no bytes bring their readers down, what is read back names the key it came with, and nothing is
//! taken without a signature.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use toolgate_core::identity::jwt::{Keys, LONGEST_KEYS, LONGEST_TOKEN, Rules, Token};

static RULES: LazyLock<Rules> = LazyLock::new(|| Rules {
    issuer: "https://issuer.example".into(),
    audience: "gate".into(),
    role_claim: "/realm_access/roles".into(),
    profile_claim: "profile".into(),
    default_role: None,
});

// The public key of RFC 8037, appendix A.2; nobody here has signed with it.
static KEYS: LazyLock<Keys> = LazyLock::new(|| {
    let set = br#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
    Keys::parse(set).expect("a set")
});

fuzz_target!(|input: (&str, &[u8])| {
    let (text, set) = input;
    if let Ok(token) = Token::parse(text) {
        assert!(text.len() <= LONGEST_TOKEN && Token::is_meant(text));
        assert!(!token.key_id().is_empty());
        assert!(RULES.judge(&token, &KEYS, 0).is_err());
    }
    if let Ok(keys) = Keys::parse(set) {
        assert!(set.len() <= LONGEST_KEYS && keys.count() > 0);
    }
});
