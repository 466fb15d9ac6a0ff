//! The digest in a line, in hexadecimal or, if allowed, in base64.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD as BASE64, URL_SAFE};

use crate::algorithm::LONGEST_DIGEST;
use crate::{Algorithm, Digest};

/// The text before the digits of [`Algorithm::Xxh3_64`] in untagged lines.
pub(crate) const XXH3: &[u8] = b"XXH3_";

/// Room for the longest digest and for two additional bytes that the base64 decoder may need.
const ROOM: usize = LONGEST_DIGEST + 2;

/// Parses the digits of a digest. Returns `None` if they are invalid.
///
/// The two encodings cannot be confused. Base64 ends in the required `=`, which is not a
/// hexadecimal digit, if the length of the digest is not a multiple of three. SHA-384 has such a
/// length, so hexadecimal digits alone are not read as its base64. rclone writes the URL-safe
/// alphabet. Both alphabets are read, because no character has different values in them.
pub(crate) fn read(algorithm: Algorithm, digits: &[u8], base64: bool) -> Option<Digest> {
    let length = algorithm.digest_len();
    if digits.len() == 2 * length
        && let Some(digest) = Digest::from_hex(algorithm, digits)
    {
        return Some(digest);
    }
    if !base64 || digits.len() != length.div_ceil(3) * 4 || digits.iter().all(u8::is_ascii_hexdigit)
    {
        return None;
    }
    let mut bytes = [0; ROOM];
    let decoded = BASE64.decode_slice(digits, &mut bytes);
    let decoded = decoded.or_else(|_| URL_SAFE.decode_slice(digits, &mut bytes)).ok()?;
    Digest::new(algorithm, &bytes[..decoded])
}

/// Reads a digest behind the name of its algorithm: `md5:` of many services, `sha256-` of SRI,
/// `sha256=` of wheels, `sha2:` of iRODS. Base64 may lack its padding.
///
/// Returns `None` if the text does not begin with the name of an algorithm.
///
/// # Errors
///
/// Fails with the algorithm if its digits are invalid.
pub(crate) fn named(text: &[u8]) -> Option<Result<Digest, Algorithm>> {
    // As xxhsum writes it, which takes 16 digits alone for XXH64.
    if let Some(digits) = text.strip_prefix(XXH3) {
        let algorithm = Algorithm::Xxh3_64;
        return Some(read_unpadded(algorithm, digits).ok_or(algorithm));
    }
    // Names of algorithms may have a dash, and base64 ends with equals signs.
    let (algorithm, end) = b":=-".iter().find_map(|&separator| {
        let end = memchr::memchr(separator, text)?;
        let algorithm = match str::from_utf8(&text[..end]).ok()? {
            "sha2" => Algorithm::Sha256,
            name => Algorithm::called(name)?,
        };
        Some((algorithm, end))
    })?;
    Some(read_unpadded(algorithm, &text[end + 1..]).ok_or(algorithm))
}

/// Like [`read`], with base64 that may lack its padding.
pub(crate) fn read_unpadded(algorithm: Algorithm, digits: &[u8]) -> Option<Digest> {
    read(algorithm, digits, true).or_else(|| {
        let padding = (4 - digits.len() % 4) % 4;
        let is_short = digits.len() < 4 * algorithm.digest_len().div_ceil(3);
        read(algorithm, &[digits, &b"==="[..padding]].concat(), true).filter(|_| is_short)
    })
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
    fn a_digest_may_follow_the_name_of_its_algorithm() {
        let md5 = Digest::from_hex(Algorithm::Md5, EMPTY_HEX).unwrap();
        for text in [
            "md5:d41d8cd98f00b204e9800998ecf8427e",
            "MD5:D41D8CD98F00B204E9800998ECF8427E",
            "md5=1B2M2Y8AsgTpgAmY7PhCfg",
            "md5-1B2M2Y8AsgTpgAmY7PhCfg==",
        ] {
            assert_eq!(named(text.as_bytes()), Some(Ok(md5)), "{text}");
        }
        let sha256 = "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU";
        for text in [format!("sha2:{sha256}="), format!("SHA-256={sha256}")] {
            let found = named(text.as_bytes()).unwrap().unwrap();
            assert_eq!(found.algorithm(), Algorithm::Sha256, "{text}");
        }
        for (text, wrong) in [("md5:d41d8cd98f00", Algorithm::Md5), ("sha256-", Algorithm::Sha256)]
        {
            assert_eq!(named(text.as_bytes()), Some(Err(wrong)), "{text}");
        }
        for text in ["", ":", "md5", "md6:d41d8cd98f00b204e9800998ecf8427e", "a b-c"] {
            assert_eq!(named(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn base64_padding_is_right_for_every_algorithm() {
        for algorithm in Algorithm::ALL {
            let bytes: Vec<u8> = (0..algorithm.digest_len()).map(|i| 251 - i as u8).collect();
            let mut base64 = [0; 88];
            let length = BASE64.encode_slice(&bytes, &mut base64).unwrap();
            let base64 = &base64[..length];
            let may_be_hex = base64.iter().all(u8::is_ascii_hexdigit);
            assert!(!may_be_hex, "{algorithm} could be taken for hexadecimal");
            assert_eq!(read(algorithm, base64, true), Digest::new(algorithm, &bytes));
            let of_urls = URL_SAFE.encode(&bytes);
            assert_eq!(read(algorithm, of_urls.as_bytes(), true), Digest::new(algorithm, &bytes));
            // As many digits as a SHA-256 are no SHA-384.
            let hex = vec![b'0'; length];
            assert!(read(algorithm, &hex, true).is_none_or(|it| it.to_string().len() == length));
        }
    }
}
