//! The type of a digest.

use core::array::TryFromSliceError;
use core::fmt;
use core::ops::Deref;
use core::str::FromStr;

use crate::hash::{BlockHash, Bytes};

/// A digest. It prints in lower-case hexadecimal, or with `{:X}` in upper case.
///
/// With the feature `serde` it serializes to a string of hexadecimal digits in human-readable
/// formats such as JSON, and to its bytes in other formats.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest<H: BlockHash>(pub H::Digest);

impl<H: BlockHash> Digest<H> {
    /// Returns the digest that a state is after the last block.
    #[inline]
    #[must_use]
    pub fn of_state(state: &H::State) -> Self {
        let digest = state.as_ref()[..H::Digest::LEN].try_into();
        Self(digest.expect("a digest is at most as long as the state"))
    }

    /// Returns the bytes of the digest.
    #[must_use]
    pub const fn as_bytes(&self) -> &H::Digest {
        &self.0
    }

    /// Parses two hexadecimal digits of either case for each byte, like [`FromStr`].
    ///
    /// # Errors
    /// Fails if `hex` is anything else.
    pub fn from_hex(hex: impl AsRef<[u8]>) -> Result<Self, ParseDigestError> {
        let error = ParseDigestError { hash: H::NAME, digits: 2 * H::Digest::LEN };
        let (pairs, rest) = hex.as_ref().as_chunks::<2>();
        if !rest.is_empty() || pairs.len() != H::Digest::LEN {
            return Err(error);
        }
        let mut bytes = H::Digest::ZEROS;
        for (byte, digits) in bytes.as_mut().iter_mut().zip(pairs) {
            let value = |digit: u8| char::from(digit).to_digit(16).ok_or(error);
            // Two digits are at most 255.
            *byte = (value(digits[0])? << 4 | value(digits[1])?) as u8;
        }
        Ok(Self(bytes))
    }
}

impl<H: BlockHash> Default for Digest<H> {
    /// Returns a digest of zeros.
    fn default() -> Self {
        Self(H::Digest::ZEROS)
    }
}

impl<H: BlockHash> FromStr for Digest<H> {
    type Err = ParseDigestError;

    /// Parses as [`from_hex`](Self::from_hex) does.
    fn from_str(text: &str) -> Result<Self, ParseDigestError> {
        Self::from_hex(text)
    }
}

/// The error for text that is not the hexadecimal digits of a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseDigestError {
    hash: &'static str,
    digits: usize,
}

impl fmt::Display for ParseDigestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { hash, digits } = self;
        write!(f, "a digest of {hash} is {digits} hexadecimal digits")
    }
}

impl core::error::Error for ParseDigestError {}

/// A digest can be used as its array of bytes: `digest[0]`, `digest.iter()`.
impl<H: BlockHash> Deref for Digest<H> {
    type Target = H::Digest;

    fn deref(&self) -> &H::Digest {
        &self.0
    }
}

impl<H: BlockHash<Digest = [u8; N]>, const N: usize> PartialEq<[u8; N]> for Digest<H> {
    fn eq(&self, bytes: &[u8; N]) -> bool {
        self.0 == *bytes
    }
}

impl<H: BlockHash> AsRef<[u8]> for Digest<H> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_ref()
    }
}

impl<H: BlockHash<Digest = [u8; N]>, const N: usize> From<[u8; N]> for Digest<H> {
    fn from(bytes: [u8; N]) -> Self {
        Self(bytes)
    }
}

impl<H: BlockHash<Digest = [u8; N]>, const N: usize> From<Digest<H>> for [u8; N] {
    fn from(digest: Digest<H>) -> Self {
        digest.0
    }
}

/// Converts the bytes of a digest, not their hexadecimal digits.
impl<H: BlockHash> TryFrom<&[u8]> for Digest<H> {
    type Error = TryFromSliceError;

    fn try_from(bytes: &[u8]) -> Result<Self, TryFromSliceError> {
        bytes.try_into().map(Self)
    }
}

impl<H: BlockHash> fmt::LowerHex for Digest<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl<H: BlockHash> fmt::UpperHex for Digest<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().iter().try_for_each(|byte| write!(f, "{byte:02X}"))
    }
}

impl<H: BlockHash> fmt::Display for Digest<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(self, f)
    }
}

impl<H: BlockHash> fmt::Debug for Digest<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({self})", H::NAME)
    }
}
