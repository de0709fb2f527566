use super::*;
use crate::upstream::{UpstreamError, reader::Network};

fn is(text: &str) -> Class {
    class(text.parse().unwrap())
}

#[test]
fn each_range_is_known_for_what_it_is() {
    for text in [
        "1.1.1.1",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2606:4700::1111",
        "2001:4860:4860::8888",
        "::ffff:1.1.1.1",
        "64:ff9b::1.1.1.1",
    ] {
        assert_eq!(is(text), Class::Public, "{text}");
    }
    for text in [
        "10.0.0.0",
        "10.255.255.255",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.0.1",
        "100.64.0.1",
        "100.127.255.255",
        "fc00::1",
        "fdff:ffff::1",
        "::ffff:10.0.0.5",
        "::ffff:192.168.1.1",
    ] {
        assert_eq!(is(text), Class::Private, "{text}");
    }
    for text in ["127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1"] {
        assert_eq!(is(text), Class::Loopback, "{text}");
    }
    for text in [
        "0.0.0.0",
        "0.1.2.3",
        "169.254.169.254",
        "169.254.0.1",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "192.0.0.1",
        "192.0.2.1",
        "192.88.99.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::2",
        "::7f00:1",
        "::ffff:0.0.0.0",
        "::ffff:169.254.169.254",
        "::ffff:0:127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::10.0.0.5",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:2::1",
        "2001:10::1",
        "2001:20::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:a9fe:a9fe::1",
        "3fff::1",
        "5f00::1",
        "fd00:ec2::254",
        "fd20:ce::254",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "ff02::1",
    ] {
        assert!(matches!(is(text), Class::Never(_)), "{text}");
    }
}

#[test]
fn an_admin_allows_private_networks_and_this_machine_and_nothing_more() {
    let everything = Allow {
        private: ["0.0.0.0/0", "::/0"]
            .map(|text| Network::parse(text).unwrap())
            .to_vec(),
        loopback: true,
        http: true,
    };
    let one = Allow {
        private: vec![Network::parse("10.0.0.5/32").unwrap()],
        ..Allow::default()
    };
    let check = |text: &str, by_default: bool, by_one: bool, by_everything: bool| {
        let address = text.parse().unwrap();
        let admitted = [&Allow::default(), &one, &everything].map(|allow| admit(address, allow).is_ok());
        assert_eq!(admitted, [by_default, by_one, by_everything], "{text}");
    };
    check("1.1.1.1", true, true, true);
    check("10.0.0.5", false, true, true);
    check("::ffff:10.0.0.5", false, true, true);
    check("10.0.0.6", false, false, true);
    check("fd00::1", false, false, true);
    check("127.0.0.1", false, false, true);
    check("::1", false, false, true);
    check("169.254.169.254", false, false, false);
    check("100.100.100.200", false, false, false);
    check("fd00:ec2::254", false, false, false);
    check("fe80::1", false, false, false);
    check("0.0.0.0", false, false, false);
    check("2002:0a00:0005::", false, false, false);
    check("64:ff9b::a00:5", false, false, false);
}

#[test]
fn an_admin_is_told_what_to_write() {
    let told = |text: &str| admit(text.parse().unwrap(), &Allow::default()).unwrap_err();
    let refused = told("10.0.0.5");
    assert_eq!(refused.error, UpstreamError::Forbidden);
    assert_eq!(
        refused.detail,
        "10.0.0.5 is a private address; allow it with allowPrivate [\"10.0.0.5/32\"]"
    );
    assert!(told("fd00::1").detail.ends_with("[\"fd00::1/128\"]"));
    assert!(told("127.0.0.1").detail.contains("allowLoopback true"));
    assert!(told("169.254.169.254").detail.contains("metadata"));
}
