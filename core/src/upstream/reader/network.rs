//! Networks that an admin allows.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

/// What the guard calls private.
pub const PRIVATE: [&str; 5] = [
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "100.64.0.0/10",
    "fc00::/7",
];

/// A network: an address and how many of its leading bits count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

impl Network {
    /// The network that this text spells: `10.0.0.0/8`, `fd00::/8`, or one address.
    ///
    /// # Errors
    /// What is wrong with it, for whoever wrote it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let wrong = || "must be a network such as 10.0.0.5/32 or fd00::/8".to_owned();
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            None => most,
            Some(bits) if (1..=3).contains(&bits.len()) && bits.bytes().all(|b| b.is_ascii_digit()) => {
                bits.parse().map_err(|_| wrong())?
            }
            Some(_) => return Err(wrong()),
        };
        if bits > most {
            return Err(format!("must have at most {most} bits behind the slash"));
        }
        if let IpAddr::V6(six) = address
            && six.to_ipv4_mapped().is_some()
        {
            return Err("must be written as an IPv4 network".into());
        }
        let network = Self { address, bits };
        let first = network.first();
        match first == address {
            true => Ok(network),
            false => Err(format!("has bits set behind the slash; write {first}/{bits}")),
        }
    }

    /// Whether this address is in it.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let masked = Self {
            address,
            bits: self.bits,
        };
        address.is_ipv4() == self.address.is_ipv4() && masked.first() == self.address
    }

    /// Whether all of it is private: nothing else can be allowed by a network.
    #[must_use]
    pub fn is_private(&self) -> bool {
        // Private ranges lie apart, so both ends in one of them is all of it in one of them.
        let ranges = PRIVATE.iter().filter_map(|range| Self::parse(range).ok());
        let (first, last) = (self.first(), self.last());
        ranges
            .into_iter()
            .any(|range| range.contains(first) && range.contains(last))
    }

    fn first(&self) -> IpAddr {
        let bits = u32::from(self.bits);
        match self.address {
            IpAddr::V4(four) => {
                let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
                Ipv4Addr::from(u32::from(four) & mask).into()
            }
            IpAddr::V6(six) => {
                let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
                Ipv6Addr::from(u128::from(six) & mask).into()
            }
        }
    }

    fn last(&self) -> IpAddr {
        let bits = u32::from(self.bits);
        match self.first() {
            IpAddr::V4(four) => {
                let rest = u32::MAX.checked_shr(bits).unwrap_or(0);
                Ipv4Addr::from(u32::from(four) | rest).into()
            }
            IpAddr::V6(six) => {
                let rest = u128::MAX.checked_shr(bits).unwrap_or(0);
                Ipv6Addr::from(u128::from(six) | rest).into()
            }
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

#[cfg(test)]
mod tests;
