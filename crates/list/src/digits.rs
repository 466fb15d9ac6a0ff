//! The digest in a line, in hexadecimal or, if allowed, in base64.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD as BASE64, URL_SAFE};

use crate::algorithm::LONGEST_DIGEST;
use crate::{Algorithm, Digest};

/// Room for the longest digest and for two additional bytes that the base64 decoder may need.
const ROOM: usize = LONGEST_DIGEST + 2;

/// Parses the digits of a digest. Returns `None` if they are invalid.
///
/// The two encodings cannot be confused. No digest length is a multiple of three, so base64 ends in
/// the required `=`, which is not a hexadecimal digit. rclone writes the URL-safe alphabet. Both
/// alphabets are read, because no character has different values in them.
pub(crate) fn read(algorithm: Algorithm, digits: &[u8], base64: bool) -> Option<Digest> {
    let length = algorithm.digest_len();
    if digits.len() == 2 * length
        && let Some(digest) = Digest::from_hex(algorithm, digits)
    {
        return Some(digest);
    }
    if !base64 || digits.len() != length.div_ceil(3) * 4 {
        return None;
    }
    let mut bytes = [0; ROOM];
    let decoded = BASE64.decode_slice(digits, &mut bytes);
    let decoded = decoded.or_else(|_| URL_SAFE.decode_slice(digits, &mut bytes)).ok()?;
    Digest::new(algorithm, &bytes[..decoded])
}

/// Appends the digits of a digest.
pub(crate) fn write(out: &mut Vec<u8>, digest: &Digest, base64: bool) {
    if base64 { digest.write_base64(out) } else { digest.write_hex(out) }
}

/// Returns whether these may be the digits of some digest.
pub(crate) fn may_be(digits: &[u8]) -> bool {
    /// The digits of a 32-bit digest.
    const FEWEST: usize = 8;
    let is_base64 = |&byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_=".contains(&byte);
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
    digits.len() >= FEWEST
        && (is_hex || (digits.len().is_multiple_of(4) && digits.iter().all(is_base64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY_HEX: &[u8] = b"d41d8cd98f00b204e9800998ecf8427e";
    const EMPTY_BASE64: &[u8] = b"1B2M2Y8AsgTpgAmY7PhCfg==";

    #[test]
    fn base64_needs_padding_and_permission() {
        let digest = Digest::from_hex(Algorithm::Md5, EMPTY_HEX);
        assert!(digest.is_some());
        assert_eq!(read(Algorithm::Md5, EMPTY_HEX, false), digest);
        assert_eq!(read(Algorithm::Md5, EMPTY_BASE64, true), digest);
        assert_eq!(read(Algorithm::Md5, EMPTY_BASE64, false), None);
        for short in 0..EMPTY_BASE64.len() {
            assert_eq!(read(Algorithm::Md5, &EMPTY_BASE64[..short], true), None, "{short}");
        }
    }

    #[test]
    fn base64_padding_is_right_for_every_algorithm() {
        for algorithm in Algorithm::ALL {
            let bytes: Vec<u8> = (0..algorithm.digest_len()).map(|i| 251 - i as u8).collect();
            let mut base64 = [0; 88];
            let length = BASE64.encode_slice(&bytes, &mut base64).unwrap();
            let base64 = &base64[..length];
            assert!(base64.ends_with(b"="), "{algorithm} could be taken for hexadecimal");
            assert_eq!(read(algorithm, base64, true), Digest::new(algorithm, &bytes));
            let of_urls = URL_SAFE.encode(&bytes);
            assert_eq!(read(algorithm, of_urls.as_bytes(), true), Digest::new(algorithm, &bytes));
        }
    }
}
