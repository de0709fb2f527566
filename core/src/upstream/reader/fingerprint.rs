//! Fingerprints of certificates: what an admin compares and pins.

use std::fmt;

use ring::digest::{SHA256, digest};

/// SHA-256 of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    /// The fingerprint that this text spells: 64 hexadecimal digits, in any case, with colons or without.
    ///
    /// # Errors
    /// What is wrong with it, for whoever wrote it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong =
            || "must be the SHA-256 of a certificate: 64 hexadecimal digits, colons optional".to_owned();
        let digits: Vec<u8> = match text.contains(':') {
            true => {
                let pairs: Vec<&str> = text.split(':').collect();
                if pairs.iter().any(|pair| pair.len() != 2) {
                    return Err(wrong());
                }
                pairs.concat().into_bytes()
            }
            false => text.as_bytes().to_vec(),
        };
        let decoded = data_encoding::HEXLOWER_PERMISSIVE
            .decode(&digits)
            .map_err(|_| wrong())?;
        decoded.try_into().map(Self).map_err(|_| wrong())
    }

    /// The fingerprint of this certificate.
    pub(crate) fn of(certificate: &[u8]) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, certificate).as_ref());
        Self(bytes)
    }

    /// Whether it is one of these. Takes as long for each of them, whether one fits or none.
    pub(super) fn is_one_of(&self, known: &[[u8; 32]]) -> bool {
        let mut found = 0_u8;
        for one in known {
            let differs = one
                .iter()
                .zip(&self.0)
                .fold(0_u8, |differs, (a, b)| differs | (a ^ b));
            found |= u8::from(differs == 0);
        }
        found == 1
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, byte) in self.0.iter().enumerate() {
            let colon = if n == 0 { "" } else { ":" };
            write!(f, "{colon}{byte:02X}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_read_with_colons_and_without_in_any_case() {
        let bytes: [u8; 32] = std::array::from_fn(|n| u8::try_from(n * 8).unwrap());
        let shown = Fingerprint(bytes).to_string();
        assert!(
            shown.starts_with("00:08:10:18:20") && shown.ends_with("E8:F0:F8"),
            "{shown}"
        );
        for text in [
            shown.clone(),
            shown.to_lowercase(),
            shown.replace(':', ""),
            shown.replace(':', "").to_lowercase(),
        ] {
            assert_eq!(Fingerprint::parse(&text), Ok(Fingerprint(bytes)), "{text}");
        }
        for bad in [
            "",
            ":",
            "AB",
            &shown[3..],
            &format!("{shown}:00"),
            &shown.replace("00:", "0G:"),
            &shown.replacen(':', "", 1),
            &shown.replace(':', "-"),
            &format!(" {shown}"),
        ] {
            assert!(Fingerprint::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn any_known_one_fits_and_no_other() {
        let known = [[1; 32], [2; 32], [2; 32]];
        assert!(Fingerprint([1; 32]).is_one_of(&known) && Fingerprint([2; 32]).is_one_of(&known));
        assert!(!Fingerprint([3; 32]).is_one_of(&known) && !Fingerprint([1; 32]).is_one_of(&[]));
    }
}
