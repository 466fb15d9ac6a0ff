//! The algorithm in the name of a list.

use crate::{Algorithm, Algorithms};

/// Returns the algorithms that the name of a list says: `B3SUMS`, `photos.md5`, `list.xxh128.txt`.
/// `xxh3` and `xxh` stand for several, with different numbers of digits.
///
/// ```
/// use lanesum_list::{Algorithm, algorithms_called};
///
/// assert_eq!(algorithms_called(b"d/B3SUMS"), Algorithm::Blake3.into());
/// assert_eq!(algorithms_called(b"photos.crc32"), Algorithm::Crc32.into());
/// assert!(algorithms_called(b"photos").is_empty());
/// ```
#[must_use]
pub fn algorithms_called(list: &[u8]) -> Algorithms {
    let name = list.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(b".txt").unwrap_or(&name);
    let word = name.rsplit(|byte| b"._-".contains(byte)).next().unwrap_or_default();
    let word = word.strip_suffix(b"s").filter(|word| word.ends_with(b"sum")).unwrap_or(word);
    let word = word.strip_suffix(b"sum").unwrap_or(word);
    match word {
        b"b3" => Algorithm::Blake3.into(),
        b"xxh3" => [Algorithm::Xxh128, Algorithm::Xxh3_64].into_iter().collect(),
        b"xxh" | b"xxhash" => {
            [Algorithm::Xxh128, Algorithm::Xxh64, Algorithm::Xxh32].into_iter().collect()
        }
        word => {
            let found = str::from_utf8(word).ok().and_then(Algorithm::called);
            found.map_or(Algorithms::NONE, Algorithms::from)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_algorithm_at_their_end() {
        use Algorithm::{Blake3, Crc32, Md5, Sha256, Xxh3_64, Xxh32, Xxh64, Xxh128};
        for (name, expected) in [
            ("MD5SUMS", &[Md5][..]),
            ("d/SHA256SUMS.txt", &[Sha256]),
            ("B3SUM", &[Blake3]),
            ("B3SUMS", &[Blake3]),
            ("l.b3", &[Blake3]),
            ("l.blake3", &[Blake3]),
            ("checksums-blake3.txt", &[Blake3]),
            ("b3.md5", &[Md5]),
            ("l.xxh128", &[Xxh128]),
            ("l.xxh32", &[Xxh32]),
            ("l.xxh3", &[Xxh128, Xxh3_64]),
            ("XXHSUMS", &[Xxh128, Xxh64, Xxh32]),
            ("l.crc32", &[Crc32]),
            ("list", &[]),
            ("sums", &[]),
            ("B2SUMS", &[]),
            ("", &[]),
        ] {
            let expected = expected.iter().copied().collect();
            assert_eq!(algorithms_called(name.as_bytes()), expected, "{name}");
        }
    }
}
