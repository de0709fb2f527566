use proptest::prelude::*;

use super::*;

#[test]
fn networks_are_read_in_one_spelling() {
    let check = |text: &str, expected: Option<&str>| {
        let read = Network::parse(text);
        assert_eq!(
            read.as_ref().ok().map(ToString::to_string).as_deref(),
            expected,
            "{text}: {read:?}"
        );
    };
    check("10.0.0.5/32", Some("10.0.0.5/32"));
    check("10.0.0.5", Some("10.0.0.5/32"));
    check("10.0.0.0/8", Some("10.0.0.0/8"));
    check("0.0.0.0/0", Some("0.0.0.0/0"));
    check("fd00::/8", Some("fd00::/8"));
    check("fd00::1", Some("fd00::1/128"));
    for bad in [
        "",
        "/",
        "/8",
        "10.0.0.0/",
        "10.0.0.0/33",
        "10.0.0.0/+8",
        "10.0.0.0/08.0",
        "10.0.0.0/8/8",
        "10.0.0.5/8",
        "10.0/8",
        "010.0.0.0/8",
        "fd00::/129",
        "fd00::1/8",
        "::ffff:10.0.0.0/104",
        "::ffff:10.0.0.5",
        "fe80::1%eth0",
        "pve.example",
        " 10.0.0.5",
    ] {
        check(bad, None);
    }
    assert_eq!(
        Network::parse("10.1.2.3/8").unwrap_err(),
        "has bits set behind the slash; write 10.0.0.0/8"
    );
}

#[test]
fn only_private_networks_are_private() {
    let check = |text: &str, private: bool| {
        assert_eq!(Network::parse(text).unwrap().is_private(), private, "{text}");
    };
    for text in [
        "10.0.0.0/8",
        "10.0.0.5/32",
        "172.16.0.0/12",
        "192.168.1.0/24",
        "100.64.0.0/10",
        "fd00::/8",
        "fc00::/7",
    ] {
        check(text, true);
    }
    for text in [
        "0.0.0.0/0",
        "8.0.0.0/6",
        "172.0.0.0/8",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "100.0.0.0/8",
        "1.1.1.1/32",
        "::/0",
        "f000::/4",
        "fe80::/10",
        "::1/128",
    ] {
        check(text, false);
    }
}

proptest! {
    #[test]
    fn no_text_makes_reading_panic(text in prop_oneof![any::<String>(), "[0-9a-f.:/]{0,24}"]) {
        if let Ok(network) = Network::parse(&text) {
            prop_assert_eq!(Network::parse(&network.to_string()), Ok(network));
            prop_assert!(network.contains(network.first()) && network.contains(network.last()));
        }
    }

    #[test]
    fn an_address_is_in_a_network_when_its_leading_bits_are(address in any::<u32>(), other in any::<u32>(), bits in 0_u8..=32) {
        let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
        let network = Network { address: Ipv4Addr::from(address & mask).into(), bits };
        prop_assert!(network.contains(Ipv4Addr::from(address).into()));
        let inside = other & mask == address & mask;
        prop_assert_eq!(network.contains(Ipv4Addr::from(other).into()), inside);
    }
}
