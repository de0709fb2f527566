//! Which addresses may be dialled. Asked with every address, at the moment of dialling.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Allow, Fault};

/// What an address is, as far as dialling it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Public,
    Private,
    Loopback,
    /// Never dialled; the text says what it is.
    Never(&'static str),
}

/// The address to dial, in its own family, if it may be.
pub(crate) fn admit(address: IpAddr, allow: &Allow) -> Result<IpAddr, Fault> {
    // An IPv4 address in IPv6 clothes is what it is underneath.
    let address = address.to_canonical();
    match class(address) {
        Class::Public => Ok(address),
        Class::Private if allow.private.iter().any(|network| network.contains(address)) => Ok(address),
        Class::Loopback if allow.loopback => Ok(address),
        Class::Private => {
            let bits = if address.is_ipv4() { 32 } else { 128 };
            Err(Fault::forbidden(format!(
                "{address} is a private address; allow it with allowPrivate [\"{address}/{bits}\"]"
            )))
        }
        Class::Loopback => Err(Fault::forbidden(format!(
            "{address} is this machine itself; allow it with allowLoopback true"
        ))),
        Class::Never(what) => Err(Fault::forbidden(format!(
            "{address} is {what}, which is never dialled; give another address"
        ))),
    }
}

/// What this address is.
pub(super) fn class(address: IpAddr) -> Class {
    match address.to_canonical() {
        IpAddr::V4(four) => class_of_four(four),
        IpAddr::V6(six) => class_of_six(six),
    }
}

fn class_of_four(address: Ipv4Addr) -> Class {
    match address.octets() {
        [169, 254, ..] => Class::Never("a link-local address, where clouds keep their metadata"),
        [100, 100, 100, 200] | [168, 63, 129, 16] | [192, 0, 0, 192] => {
            Class::Never("the metadata service of a cloud")
        }
        [0, ..] => Class::Never("an unspecified address"),
        [127, ..] => Class::Loopback,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] | [100, 64..=127, ..] => Class::Private,
        [198, 18..=19, ..] => Class::Never("an address of benchmarking networks"),
        [192, 0, 0, _] | [192, 0, 2, _] | [192, 88, 99, _] | [198, 51, 100, _] | [203, 0, 113, _] => {
            Class::Never("a reserved address")
        }
        [224..=239, ..] => Class::Never("a multicast address"),
        [240..=255, ..] => Class::Never("a reserved address"),
        _ => Class::Public,
    }
}

fn class_of_six(address: Ipv6Addr) -> Class {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Class::Never("an unspecified address"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Class::Loopback,
        // NAT64: the gateway would dial the IPv4 address behind it, so only a public one will do.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            let four = Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
            match class_of_four(four) {
                Class::Public => Class::Public,
                _ => Class::Never("a translated address of a network that is not public"),
            }
        }
        [0xfd00, 0xec2, ..] | [0xfd20, 0xce, ..] => Class::Never("the metadata service of a cloud"),
        [0xfc00..=0xfdff, ..] => Class::Private,
        [0xfe80..=0xfebf, ..] => Class::Never("a link-local address"),
        [0xff00..=0xffff, ..] => Class::Never("a multicast address"),
        [0x2002, ..] => Class::Never("an address of 6to4, which hides another one"),
        [0x2001, 0, ..] => Class::Never("an address of Teredo, which hides another one"),
        [0x2001, 0x1..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => {
            Class::Never("a reserved address")
        }
        [0x2000..=0x3fff, ..] => Class::Public,
        _ => Class::Never("a reserved address"),
    }
}

#[cfg(test)]
mod tests;
