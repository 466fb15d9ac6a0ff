//! Digests of any algorithm.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::Algorithm;
use crate::algorithm::LONGEST_DIGEST;

/// The digest of an input under an algorithm. Digests are ordered by algorithm, then by bytes.
// The bytes after the digest are zeros.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest {
    algorithm: Algorithm,
    bytes: [u8; LONGEST_DIGEST],
}

impl Digest {
    /// Makes a digest from its bytes. Returns `None` if the length is not that of the algorithm.
    ///
    /// ```
    /// # use lanesum_list::{Algorithm, Digest};
    /// let digest = Digest::new(Algorithm::Crc32c, &[0xe3, 0x06, 0x92, 0x83]).unwrap();
    /// assert_eq!(digest.to_string(), "e3069283");
    /// assert_eq!(Digest::new(Algorithm::Md5, digest.as_bytes()), None);
    /// ```
    #[must_use]
    pub fn new(algorithm: Algorithm, digest: &[u8]) -> Option<Self> {
        let mut bytes = [0; LONGEST_DIGEST];
        bytes.get_mut(..digest.len())?.copy_from_slice(digest);
        (digest.len() == algorithm.digest_len()).then_some(Self { algorithm, bytes })
    }

    /// Parses a digest in hexadecimal digits of either case. Returns `None` for invalid digits or a
    /// wrong length.
    ///
    /// ```
    /// # use lanesum_list::{Algorithm, Digest};
    /// let digest = Digest::from_hex(Algorithm::Crc32c, b"E3069283").unwrap();
    /// assert_eq!(digest.as_bytes(), [0xe3, 0x06, 0x92, 0x83]);
    /// assert_eq!(Digest::from_hex(Algorithm::Crc32c, b"E306928"), None);
    /// ```
    #[must_use]
    pub fn from_hex(algorithm: Algorithm, hex: &[u8]) -> Option<Self> {
        if hex.len() != 2 * algorithm.digest_len() {
            return None;
        }
        let mut bytes = [0; LONGEST_DIGEST];
        let mut all = 0;
        for (byte, digits) in bytes.iter_mut().zip(hex.as_chunks::<2>().0) {
            let [high, low] = digits.map(|digit| VALUES[usize::from(digit)]);
            *byte = high << 4 | low;
            all |= high | low;
        }
        (all < 16).then_some(Self { algorithm, bytes })
    }

    /// Returns the algorithm of the digest.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Returns the [`Algorithm::digest_len`] bytes of the digest.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.algorithm.digest_len()]
    }

    /// Appends the digest in lower-case hexadecimal.
    ///
    /// ```
    /// # use lanesum_list::{Algorithm, Digest};
    /// let mut hex = Vec::new();
    /// Digest::new(Algorithm::Crc32c, &[1, 2, 3, 255]).unwrap().write_hex(&mut hex);
    /// assert_eq!(hex, b"010203ff");
    /// ```
    pub fn write_hex(&self, out: &mut Vec<u8>) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let bytes = self.as_bytes();
        let mut hex = [[0; 2]; LONGEST_DIGEST];
        for (digits, byte) in hex.iter_mut().zip(bytes) {
            *digits = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
        }
        out.extend_from_slice(hex[..bytes.len()].as_flattened());
    }

    /// Appends the digest in base64 with padding, as in `Content-MD5` and in CRC-32C values of
    /// Google Cloud Storage.
    ///
    /// ```
    /// # use lanesum_list::{Algorithm, Digest};
    /// let mut base64 = Vec::new();
    /// Digest::from_hex(Algorithm::Crc32c, b"e3069283").unwrap().write_base64(&mut base64);
    /// assert_eq!(base64, b"4waSgw==");
    /// ```
    pub fn write_base64(&self, out: &mut Vec<u8>) {
        let mut text = [0; LONGEST_DIGEST.div_ceil(3) * 4];
        let length = BASE64
            .encode_slice(self.as_bytes(), &mut text)
            .expect("there is room for the longest digest");
        out.extend_from_slice(&text[..length]);
    }
}

/// The value of each hexadecimal digit of either case, and 255 for all other bytes.
const VALUES: [u8; 256] = {
    let mut values = [u8::MAX; 256];
    let mut value = 0;
    while value < 16 {
        let digit = b"0123456789abcdef"[value];
        values[digit as usize] = value as u8;
        values[digit.to_ascii_uppercase() as usize] = value as u8;
        value += 1;
    }
    values
};

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
    fn hex_of_either_case_prints_in_lower_case() {
        let digest = Digest::from_hex(Algorithm::Crc32c, b"E3069283").unwrap();
        assert_eq!(digest.as_bytes(), [0xe3, 0x06, 0x92, 0x83]);
        let mut hex = Vec::new();
        digest.write_hex(&mut hex);
        assert_eq!(hex, b"e3069283");
        assert_eq!(digest.to_string(), "e3069283");
        assert_eq!(Digest::new(Algorithm::Crc32c, digest.as_bytes()), Some(digest));
    }

    #[test]
    fn digests_are_ordered_map_keys() {
        let crc = |bytes: [u8; 4]| Digest::new(Algorithm::Crc32c, &bytes).unwrap();
        let md5 = Digest::new(Algorithm::Md5, &[0; 16]).unwrap();
        let sorted = [md5, crc([0, 0, 0, 1]), crc([0, 1, 0, 0]), crc([9, 0, 0, 0])];
        assert!(sorted.is_sorted());
        let hex = Digest::from_hex(Algorithm::Crc32c, b"00010000").unwrap();
        let set = std::collections::HashSet::from(sorted);
        assert!(set.contains(&hex) && sorted.binary_search(&hex) == Ok(2));
    }

    #[test]
    fn invalid_hex_is_not_a_digest() {
        for hex in ["", "e306928", "e30692833", "e306928g", "e30692\u{e9}"] {
            assert_eq!(Digest::from_hex(Algorithm::Crc32c, hex.as_bytes()), None, "{hex}");
        }
        for byte in 0..=255 {
            for at in 0..8 {
                let mut hex = *b"e3069283";
                hex[at] = byte;
                let digest = Digest::from_hex(Algorithm::Crc32c, &hex);
                assert_eq!(digest.is_some(), byte.is_ascii_hexdigit(), "{byte}");
            }
        }
        assert_eq!(Digest::new(Algorithm::Md5, &[0; 15]), None);
        assert_eq!(Digest::new(Algorithm::Md5, &[0; 65]), None);
    }
}
