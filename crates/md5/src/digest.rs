//! The type of a digest.

use core::array::TryFromSliceError;
use core::fmt;
use core::str::FromStr;

use crate::DIGEST_LEN;

/// An MD5 digest of 16 bytes. It prints in lower-case hexadecimal, or with `{:X}` in upper case.
///
/// With the feature `serde` it serializes to a string of hexadecimal digits in human-readable
/// formats such as JSON, and to 16 bytes in other formats.
///
/// ```
/// use lanesum_md5::{Md5Digest, md5};
///
/// let digest = md5(b"");
/// assert_eq!(digest.to_string(), "d41d8cd98f00b204e9800998ecf8427e");
/// assert_eq!(digest.as_bytes()[0], 0xd4);
/// assert_eq!("D41D8CD98F00B204E9800998ECF8427E".parse(), Ok(digest));
/// assert_eq!(Md5Digest::from([7; 16]), Md5Digest::try_from(&[7; 16][..])?);
/// # Ok::<(), std::array::TryFromSliceError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Md5Digest(pub [u8; DIGEST_LEN]);

impl Md5Digest {
    /// Returns the bytes of the digest.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; DIGEST_LEN] {
        &self.0
    }

    /// Parses 32 hexadecimal digits of either case, like [`FromStr`].
    ///
    /// ```
    /// use lanesum_md5::{Md5Digest, md5};
    ///
    /// assert_eq!(Md5Digest::from_hex(b"d41d8cd98f00b204e9800998ecf8427e"), Ok(md5(b"")));
    /// assert!(Md5Digest::from_hex("d41d8cd9").is_err());
    /// ```
    ///
    /// # Errors
    /// Fails if `hex` is not 32 hexadecimal digits.
    pub fn from_hex(hex: impl AsRef<[u8]>) -> Result<Self, ParseDigestError> {
        let hex: &[u8; 2 * DIGEST_LEN] = hex.as_ref().try_into().map_err(|_| ParseDigestError)?;
        let mut bytes = [0; DIGEST_LEN];
        for (byte, digits) in bytes.iter_mut().zip(hex.as_chunks::<2>().0) {
            let value = |digit: u8| char::from(digit).to_digit(16).ok_or(ParseDigestError);
            // Two digits are at most 255.
            *byte = (value(digits[0])? << 4 | value(digits[1])?) as u8;
        }
        Ok(Self(bytes))
    }
}

impl FromStr for Md5Digest {
    type Err = ParseDigestError;

    /// Parses as [`from_hex`](Self::from_hex) does.
    fn from_str(text: &str) -> Result<Self, ParseDigestError> {
        Self::from_hex(text)
    }
}

/// The error for text that is not 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseDigestError;

impl fmt::Display for ParseDigestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an MD5 digest is 32 hexadecimal digits")
    }
}

impl core::error::Error for ParseDigestError {}

impl AsRef<[u8]> for Md5Digest {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<[u8; DIGEST_LEN]> for Md5Digest {
    fn from(bytes: [u8; DIGEST_LEN]) -> Self {
        Self(bytes)
    }
}

impl From<Md5Digest> for [u8; DIGEST_LEN] {
    fn from(digest: Md5Digest) -> Self {
        digest.0
    }
}

/// Converts 16 bytes, not their hexadecimal digits.
impl TryFrom<&[u8]> for Md5Digest {
    type Error = TryFromSliceError;

    fn try_from(bytes: &[u8]) -> Result<Self, TryFromSliceError> {
        bytes.try_into().map(Self)
    }
}

impl fmt::LowerHex for Md5Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::UpperHex for Md5Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02X}"))
    }
}

impl fmt::Display for Md5Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(self, f)
    }
}

impl fmt::Debug for Md5Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Md5Digest({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_text_is_not_a_digest() {
        for text in ["", "d41d8cd98f00b204e9800998ecf8427", "g41d8cd98f00b204e9800998ecf8427e"] {
            assert_eq!(text.parse::<Md5Digest>(), Err(ParseDigestError), "{text}");
        }
    }

    #[test]
    fn upper_and_lower_case_digits_round_trip() {
        let digest = Md5Digest(core::array::from_fn(|index| 17 * index as u8));
        let lower = "00112233445566778899aabbccddeeff";
        assert_eq!(std::format!("{digest} {digest:x} {digest:X}"), {
            std::format!("{lower} {lower} {}", lower.to_uppercase())
        });
        for text in [lower, &lower.to_uppercase()] {
            assert_eq!(text.parse(), Ok(digest));
            assert_eq!(Md5Digest::from_hex(text.as_bytes()), Ok(digest));
        }
        assert!(Md5Digest::try_from(&[0; 15][..]).is_err());
        assert_eq!(<[u8; 16]>::from(digest), *digest.as_bytes());
    }
}
