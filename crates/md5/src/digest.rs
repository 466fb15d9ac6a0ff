//! A digest as a value.

use core::fmt;
use core::str::FromStr;

use crate::DIGEST_LEN;

/// An MD5 digest: 16 bytes, shown in lower-case hexadecimal.
///
/// ```
/// let digest = lanesum_md5::md5(b"");
/// assert_eq!(digest.to_string(), "d41d8cd98f00b204e9800998ecf8427e");
/// assert_eq!(digest.as_ref()[0], 0xd4);
/// assert_eq!("D41D8CD98F00B204E9800998ECF8427E".parse(), Ok(digest));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Digest(pub [u8; DIGEST_LEN]);

impl AsRef<[u8]> for Digest {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Digest> for [u8; DIGEST_LEN] {
    fn from(digest: Digest) -> Self {
        digest.0
    }
}

impl fmt::LowerHex for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(self, f)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// Text that is not the 32 hexadecimal digits of an MD5 digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotADigest;

impl fmt::Display for NotADigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an MD5 digest is 32 hexadecimal digits")
    }
}

impl core::error::Error for NotADigest {}

impl FromStr for Digest {
    type Err = NotADigest;

    /// Reads 32 hexadecimal digits of either case.
    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let text: &[u8; 2 * DIGEST_LEN] = text.as_bytes().try_into().map_err(|_| NotADigest)?;
        let mut bytes = [0; DIGEST_LEN];
        for (byte, digits) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            let value = |digit: u8| char::from(digit).to_digit(16).ok_or(NotADigest);
            // Two digits are at most 255.
            *byte = (value(digits[0])? << 4 | value(digits[1])?) as u8;
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_no_digest_is_refused() {
        for text in ["", "d41d8cd98f00b204e9800998ecf8427", "g41d8cd98f00b204e9800998ecf8427e"] {
            assert_eq!(text.parse::<Digest>(), Err(NotADigest), "{text}");
        }
    }
}
