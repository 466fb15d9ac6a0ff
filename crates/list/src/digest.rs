//! A digest of any algorithm, as a value.

use std::fmt;

use crate::Algorithm;
use crate::algorithm::LONGEST_DIGEST;

/// The digest of one input under one algorithm.
#[derive(Clone, Copy)]
pub struct Digest {
    algorithm: Algorithm,
    bytes: [u8; LONGEST_DIGEST],
}

impl Digest {
    /// A digest from its bytes; `None` when their number is not the algorithm's.
    #[must_use]
    pub fn new(algorithm: Algorithm, digest: &[u8]) -> Option<Self> {
        let mut bytes = [0; LONGEST_DIGEST];
        bytes.get_mut(..digest.len())?.copy_from_slice(digest);
        (digest.len() == algorithm.digest_len()).then_some(Self { algorithm, bytes })
    }

    /// A digest from hexadecimal digits of either case; `None` when they are not exactly that.
    #[must_use]
    pub fn from_hex(algorithm: Algorithm, hex: &[u8]) -> Option<Self> {
        if hex.len() != 2 * algorithm.digest_len() {
            return None;
        }
        let mut bytes = [0; LONGEST_DIGEST];
        for (byte, digits) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
            *byte = self::byte([digits[0], digits[1]])?;
        }
        Some(Self { algorithm, bytes })
    }

    /// The algorithm that made it.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Its bytes, [`Algorithm::digest_len`] of them.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.algorithm.digest_len()]
    }

    /// Appends the digest in lower-case hexadecimal.
    pub fn write_hex(&self, out: &mut Vec<u8>) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        out.extend(
            self.as_bytes()
                .iter()
                .flat_map(|&byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]),
        );
    }
}

/// The byte that two hexadecimal digits of either case spell.
fn byte([high, low]: [u8; 2]) -> Option<u8> {
    Some(nibble(high)? << 4 | nibble(low)?)
}

/// The value of a hexadecimal digit.
fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

impl PartialEq for Digest {
    fn eq(&self, other: &Self) -> bool {
        self.algorithm == other.algorithm && self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Digest {}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{self}", self.algorithm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_of_either_case_comes_back_in_lower() {
        let digest = Digest::from_hex(Algorithm::Crc32c, b"E3069283").unwrap();
        assert_eq!(digest.as_bytes(), [0xe3, 0x06, 0x92, 0x83]);
        let mut hex = Vec::new();
        digest.write_hex(&mut hex);
        assert_eq!(hex, b"e3069283");
        assert_eq!(digest.to_string(), "e3069283");
        assert_eq!(Digest::new(Algorithm::Crc32c, digest.as_bytes()), Some(digest));
    }

    #[test]
    fn what_is_no_digest_is_none() {
        for hex in ["", "e306928", "e30692833", "e306928g", "e30692\u{e9}"] {
            assert_eq!(Digest::from_hex(Algorithm::Crc32c, hex.as_bytes()), None, "{hex}");
        }
        assert_eq!(Digest::new(Algorithm::Md5, &[0; 15]), None);
        assert_eq!(Digest::new(Algorithm::Md5, &[0; 65]), None);
    }
}
