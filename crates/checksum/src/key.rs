//! The secret key of a keyed checksum, read from a key file.

use std::fmt;

use crate::{Algorithm, Algorithms};

/// A secret key.
///
/// A key file contains as many bytes as the algorithm needs, or twice as many hexadecimal digits of
/// either case, optionally with a newline. A file of 32 digits without a newline is a key of 16
/// bytes and also one of 32 bytes, depending on the algorithm.
///
/// ```
/// use lanesum_checksum::{Algorithm, Key};
///
/// let raw = Key::from_bytes(b"\x00\x01\x02\x03 28 bytes of randomness, ...").unwrap();
/// assert!(raw.fits(Algorithm::Blake3));
/// assert!(Key::from_bytes(b"a pass phrase is no key").is_none());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    of_16: Option<[u8; 16]>,
    of_32: Option<[u8; 32]>,
}

impl Key {
    /// The size of the largest key file in bytes: 64 digits and a newline.
    pub const MAX_FILE_LEN: usize = 65;

    /// Makes a key from the bytes of a key file. Returns `None` if they are not a key of any
    /// algorithm.
    #[must_use]
    pub fn from_bytes(content: &[u8]) -> Option<Self> {
        let key = Self { of_16: read(content), of_32: read(content) };
        (key.of_16.is_some() || key.of_32.is_some()).then_some(key)
    }

    /// Returns the algorithms that accept this key.
    #[must_use]
    pub fn algorithms(&self) -> Algorithms {
        Algorithm::ALL.into_iter().filter(|&algorithm| self.fits(algorithm)).collect()
    }

    /// Returns whether the algorithm accepts a key of this length.
    #[must_use]
    pub fn fits(&self, algorithm: Algorithm) -> bool {
        match algorithm.key_len() {
            Some(16) => self.of_16.is_some(),
            Some(32) => self.of_32.is_some(),
            _ => false,
        }
    }

    /// Returns the key of 16 bytes, if it has that length.
    pub(crate) fn of_16(&self) -> Option<&[u8; 16]> {
        self.of_16.as_ref()
    }

    /// Returns the key of 32 bytes, if it has that length.
    pub(crate) fn of_32(&self) -> Option<&[u8; 32]> {
        self.of_32.as_ref()
    }
}

/// Does not show the key, to keep it out of messages and logs.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").finish_non_exhaustive()
    }
}

/// Returns the key of `N` bytes in a key file.
fn read<const N: usize>(content: &[u8]) -> Option<[u8; N]> {
    if let Ok(raw) = content.try_into() {
        return Some(raw);
    }
    let digits = content.strip_suffix(b"\n").unwrap_or(content);
    let (pairs, []) = digits.as_chunks::<2>() else { return None };
    let pairs: &[[u8; 2]; N] = pairs.try_into().ok()?;
    let mut key = [0; N];
    for (byte, pair) in key.iter_mut().zip(pairs) {
        *byte = self::byte(*pair)?;
    }
    Some(key)
}

/// Returns the byte of two hexadecimal digits of either case.
fn byte(digits: [u8; 2]) -> Option<u8> {
    let [high, low] = digits.map(|digit| char::from(digit).to_digit(16));
    Some((high? << 4 | low?) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGITS: &str = "000102030405060708090a0b0c0d0e0fF0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF";

    fn lengths(content: &[u8]) -> [bool; 2] {
        Key::from_bytes(content).map_or([false; 2], |key| {
            let lengths = [key.of_16.is_some(), key.of_32.is_some()];
            assert_eq!(key.fits(Algorithm::Blake3), lengths[1]);
            assert!(!key.fits(Algorithm::Md5));
            lengths
        })
    }

    #[test]
    fn a_key_is_raw_or_in_digits() {
        let raw: Vec<u8> = (0..16).chain(0xf0..=0xff).collect();
        assert_eq!(lengths(&raw), [false, true]);
        assert_eq!(lengths(&raw[..16]), [true, false]);
        for (content, bytes) in [(DIGITS, &raw[..]), (&DIGITS[..32], &raw[..16])] {
            for content in [content.to_owned(), format!("{content}\n")] {
                let key = Key::from_bytes(content.as_bytes()).unwrap();
                match bytes.len() {
                    16 => assert_eq!(key.of_16.unwrap(), bytes),
                    _ => assert_eq!(key.of_32.unwrap(), bytes),
                }
            }
        }
    }

    #[test]
    fn thirty_two_digits_can_be_raw_or_hex() {
        let digits = &DIGITS.as_bytes()[..32];
        let key = Key::from_bytes(digits).unwrap();
        assert_eq!(key.of_32().unwrap(), digits);
        assert_eq!(key.of_16.unwrap(), std::array::from_fn(|i| i as u8));
        // A newline after the digits makes it unambiguous.
        assert_eq!(lengths(&[digits, b"\n"].concat()), [true, false]);
    }

    #[test]
    fn other_lengths_are_not_keys() {
        for length in 0..=Key::MAX_FILE_LEN + 2 {
            let is_key = [length == 16, length == 32];
            assert_eq!(lengths(&vec![b'x'; length]), is_key, "{length}");
        }
        for wrong in [
            DIGITS.replace('a', "g"),
            format!("{DIGITS}\n\n"),
            format!("{DIGITS}\r\n"),
            format!(" {}\n", &DIGITS[..32]),
            format!("{}x", &DIGITS[..32]),
            format!("0x{}", &DIGITS[..32]),
        ] {
            assert_eq!(lengths(wrong.as_bytes()), [false; 2], "{wrong:?}");
        }
    }

    #[test]
    fn debug_output_hides_the_key() {
        let key = Key::from_bytes(DIGITS.as_bytes()).unwrap();
        assert_eq!(format!("{key:?}"), "Key { .. }");
    }
}
