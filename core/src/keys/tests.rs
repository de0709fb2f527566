use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::Path,
};

use ring::signature::{ED25519, UnparsedPublicKey};
use toolgate_contract::ids::TenantId;

use super::{KeyError, Keyring, files};

fn root_file(dir: &Path) -> std::path::PathBuf {
    let mut entries = fs::read_dir(dir.join("keys")).unwrap();
    entries
        .find_map(|entry| {
            let path = entry.unwrap().path();
            path.to_string_lossy().contains("root-").then_some(path)
        })
        .unwrap()
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn the_first_open_makes_private_files_and_the_next_finds_the_same_keys() {
    let dir = tempfile::tempdir().unwrap();
    let tenant = TenantId::mint();
    let first = Keyring::open(dir.path()).unwrap();
    let second = Keyring::open(dir.path()).unwrap();

    assert_eq!(
        first.record_key(&tenant).mac(&[7; 32]),
        second.record_key(&tenant).mac(&[7; 32])
    );
    assert_eq!(
        first.gateway_identity().public_key(),
        second.gateway_identity().public_key()
    );
    assert_eq!(
        fs::metadata(dir.path().join("keys")).unwrap().mode() & 0o777,
        0o700
    );
    let files: Vec<_> = fs::read_dir(dir.path().join("keys"))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(files.len(), 2);
    for file in files {
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
    }
}

#[test]
fn keys_differ_by_tenant_and_by_purpose() {
    let dir = tempfile::tempdir().unwrap();
    let keys = Keyring::open(dir.path()).unwrap();
    let (one, other) = (TenantId::mint(), TenantId::mint());

    assert_ne!(
        keys.record_key(&one).mac(&[0; 32]),
        keys.record_key(&other).mac(&[0; 32])
    );
    assert_ne!(
        keys.arguments_key(&one).hash(b"{}"),
        keys.arguments_key(&other).hash(b"{}")
    );
    assert_ne!(
        keys.record_key(&one).mac(&[0; 32]),
        keys.arguments_key(&one).hash(&[0; 32])
    );
    assert!(
        keys.record_key(&one)
            .verifies(&[0; 32], &keys.record_key(&one).mac(&[0; 32]))
    );
    assert!(
        !keys
            .record_key(&other)
            .verifies(&[0; 32], &keys.record_key(&one).mac(&[0; 32]))
    );
}

#[test]
fn the_newest_root_seals_and_an_older_one_is_still_found() {
    let dir = tempfile::tempdir().unwrap();
    let tenant = TenantId::mint();
    let before = Keyring::open(dir.path()).unwrap().record_key(&tenant);
    let rotated = dir.path().join("keys/root-7ZZZZZZZZZZZZZZZZZZZZZZZZZ.key");
    fs::write(&rotated, "ab".repeat(32)).unwrap();
    set_mode(&rotated, 0o600);

    let keys = Keyring::open(dir.path()).unwrap();

    assert_eq!(&**keys.record_key(&tenant).id(), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
    let old = keys.record_key_by_id(before.id(), &tenant).unwrap();
    assert_eq!(old.mac(&[1; 32]), before.mac(&[1; 32]));
    assert!(
        keys.record_key_by_id("01ARZ3NDEKTSV4RRFFQ69G5FAV", &tenant)
            .is_none()
    );
    assert!(keys.record_key_by_id("../../etc/passwd", &tenant).is_none());
}

#[test]
fn a_root_made_by_another_instance_is_found_by_its_id() {
    let dir = tempfile::tempdir().unwrap();
    let keys = Keyring::open(dir.path()).unwrap();
    let later = dir.path().join("keys/root-7ZZZZZZZZZZZZZZZZZZZZZZZZZ.key");
    fs::write(&later, "cd".repeat(32)).unwrap();
    set_mode(&later, 0o600);

    assert!(
        keys.record_key_by_id("7ZZZZZZZZZZZZZZZZZZZZZZZZZ", &TenantId::mint())
            .is_some()
    );
}

#[test]
fn the_identity_signs_and_verifies() {
    let dir = tempfile::tempdir().unwrap();
    let keys = Keyring::open(dir.path()).unwrap();
    let identity = keys.gateway_identity();
    let signature = identity.sign(b"hello");

    let public = UnparsedPublicKey::new(&ED25519, identity.public_key());
    assert!(public.verify(b"hello", &signature).is_ok());
    assert!(public.verify(b"hallo", &signature).is_err());
}

#[test]
fn a_file_or_folder_open_to_others_is_refused_with_the_way_out() {
    let dir = tempfile::tempdir().unwrap();
    Keyring::open(dir.path()).unwrap();
    for (path, mode) in [
        (root_file(dir.path()), 0o640),
        (dir.path().join("keys/gateway.ed25519"), 0o604),
        (dir.path().join("keys"), 0o750),
    ] {
        let before = fs::metadata(&path).unwrap().mode() & 0o777;
        set_mode(&path, mode);
        let error = Keyring::open(dir.path()).unwrap_err();
        assert!(matches!(error, KeyError::Mode { .. }), "{error}");
        assert!(error.to_string().contains("chmod"), "{error}");
        set_mode(&path, before);
    }
    Keyring::open(dir.path()).unwrap();
}

#[test]
fn a_damaged_missing_or_linked_key_is_refused() {
    let check = |spoil: &dyn Fn(&Path)| {
        let dir = tempfile::tempdir().unwrap();
        Keyring::open(dir.path()).unwrap();
        spoil(dir.path());
        Keyring::open(dir.path()).unwrap_err().to_string()
    };
    let short = check(&|dir| fs::write(root_file(dir), "abcd").unwrap());
    assert!(short.contains("64 hexadecimal digits"), "{short}");
    let no_key = check(&|dir| fs::write(dir.join("keys/gateway.ed25519"), "no key").unwrap());
    assert!(no_key.contains("Ed25519"), "{no_key}");
    let linked = check(&|dir| {
        let root = root_file(dir);
        fs::rename(&root, dir.join("elsewhere")).unwrap();
        symlink(dir.join("elsewhere"), root).unwrap();
    });
    assert!(linked.contains("cannot open"), "{linked}");
}

#[test]
fn opening_for_verification_makes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Keyring::open_existing(dir.path()).is_err());
    assert!(!dir.path().join("keys").exists());
    Keyring::open(dir.path()).unwrap();
    assert!(Keyring::open_existing(dir.path()).is_ok());
}

#[test]
fn two_openers_at_once_make_one_root() {
    let dir = tempfile::tempdir().unwrap();
    let tenant = TenantId::mint();
    let macs = std::thread::scope(|scope| {
        let openers: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    Keyring::open(dir.path())
                        .unwrap()
                        .record_key(&tenant)
                        .mac(&[0; 32])
                })
            })
            .collect();
        openers
            .into_iter()
            .map(|opener| opener.join().unwrap())
            .collect::<Vec<_>>()
    });
    assert!(macs.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn debug_output_holds_no_key() {
    let dir = tempfile::tempdir().unwrap();
    let keys = Keyring::open(dir.path()).unwrap();
    let secret = fs::read_to_string(root_file(dir.path())).unwrap();
    let shown = format!(
        "{keys:?} {:?} {:?}",
        keys.record_key(&TenantId::system()),
        keys.arguments_key(&TenantId::system())
    );
    assert!(shown.contains("***") && !shown.contains(secret.trim()));
    assert!(!files::is_root_id("root"));
}
