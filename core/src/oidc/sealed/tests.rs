use proptest::prelude::*;
use toolgate_contract::ids::TenantId;

use super::*;
use crate::keys::Keyring;

const NOW_US: i64 = 1_780_000_000_000_000;

struct Ground {
    _dir: tempfile::TempDir,
    keys: Keyring,
    tenant: TenantId,
}

impl Ground {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self {
            keys: Keyring::open(dir.path()).unwrap(),
            _dir: dir,
            tenant: TenantId::mint(),
        }
    }

    fn seal(&self, pending: &Pending) -> String {
        let sealed = pending.seal(&self.keys.sign_in_key(&self.tenant)).unwrap();
        sealed.reveal().to_owned()
    }

    fn open(&self, text: &str) -> Option<Pending> {
        let key = |id: &str| self.keys.sign_in_key_by_id(id, &self.tenant);
        Pending::open(&Secret::new(text.to_owned()), key)
    }
}

fn pending(next: &str) -> Pending {
    let redirect = Url::parse("https://gate.example/sign-in/oidc/callback").unwrap();
    Pending::new(Next::of(next), redirect, NOW_US).unwrap()
}

fn told(pending: &Pending) -> [String; 5] {
    [
        pending.state.reveal().to_owned(),
        pending.nonce.reveal().to_owned(),
        pending.verifier.reveal().to_owned(),
        pending.next.clone().into(),
        pending.redirect.to_string(),
    ]
}

#[test]
fn what_is_sealed_opens_here_and_says_nothing_outside() {
    let ground = Ground::new();
    let made = pending("/audit?result=refused");
    let sealed = ground.seal(&made);
    assert_eq!(ground.open(&sealed).map(|it| told(&it)), Some(told(&made)));
    assert_ne!(sealed, ground.seal(&made), "a nonce is used twice");
    assert!(sealed.len() < LONGEST && sealed.bytes().all(|b| b.is_ascii_graphic() && b != b';'));
    let shown = format!("{made:?}");
    for secret in &told(&made)[..3] {
        assert!(secret.len() == 43 && !sealed.contains(secret.as_str()) && !shown.contains(secret.as_str()));
    }
    let longest = pending(&format!("/{}", "a".repeat(1023)));
    assert!(ground.open(&ground.seal(&longest)).is_some());
}

#[test]
fn it_ends_after_ten_minutes_and_is_answered_by_its_own_state_only() {
    let (made, other) = (pending("/"), pending("/"));
    assert!(made.is_open(NOW_US) && made.is_open(NOW_US + 599_999_999));
    assert!(!made.is_open(NOW_US + 600_000_000));
    let state = |text: &str| Secret::new(text.to_owned());
    let own = made.state.reveal();
    assert!(made.is_answered_by(&state(own)));
    for wrong in [
        "",
        &own[1..],
        &own.to_lowercase(),
        other.state.reveal(),
        made.nonce.reveal(),
    ] {
        assert!(!made.is_answered_by(&state(wrong)), "{wrong}");
    }
}

#[test]
fn what_was_sealed_elsewhere_or_for_another_tenant_does_not_open() {
    let (ground, other) = (Ground::new(), Ground::new());
    let sealed = ground.seal(&pending("/"));
    assert!(other.open(&sealed).is_none());
    let (id, body) = sealed.split_once('.').unwrap();
    let stranger = TenantId::mint();
    let key = |id: &str| ground.keys.sign_in_key_by_id(id, &stranger);
    assert!(Pending::open(&Secret::new(sealed.clone()), key).is_none());
    // The right key under another name.
    let key = |_: &str| Some(ground.keys.sign_in_key(&ground.tenant));
    let renamed = format!("{}.{body}", other.keys.newest_id());
    assert!(Pending::open(&Secret::new(renamed), key).is_none());
    for text in [
        "",
        ".",
        id,
        body,
        &format!("{id}."),
        &format!(".{body}"),
        &format!("../{id}.{body}"),
    ] {
        assert!(ground.open(text).is_none(), "{text}");
    }
}

#[test]
fn a_newer_root_seals_and_the_former_still_opens() {
    let ground = Ground::new();
    let sealed = ground.seal(&pending("/"));
    crate::keys::rotate_root(ground._dir.path()).unwrap();
    assert!(ground.keys.take_up_newer().unwrap());
    assert_ne!(sealed[..26], ground.seal(&pending("/"))[..26]);
    assert!(ground.open(&sealed).is_some());
}

proptest! {
    #[test]
    fn a_changed_byte_is_seen(at in any::<proptest::sample::Index>(), to in "[A-Za-z0-9_.-]") {
        let ground = Ground::new();
        let sealed = ground.seal(&pending("/adapters"));
        let at = at.index(sealed.len());
        let changed = format!("{}{to}{}", &sealed[..at], &sealed[at + 1..]);
        prop_assert_eq!(ground.open(&changed).is_some(), changed == sealed);
    }

    #[test]
    fn no_text_opens(text in ".{0,200}", body in proptest::collection::vec(any::<u8>(), 0..300)) {
        let ground = Ground::new();
        prop_assert!(ground.open(&text).is_none());
        let forged = format!("{}.{}", ground.keys.newest_id(), BASE64URL_NOPAD.encode(&body));
        prop_assert!(ground.open(&forged).is_none());
    }
}
