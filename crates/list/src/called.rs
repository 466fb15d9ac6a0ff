//! The algorithm in the name of a list.

use crate::{Algorithm, Algorithms};

/// Returns the algorithms that the name of a list says: `B3SUMS`, `photos.md5`, `list.xxh128.txt`.
/// `xxh3`, `xxh` and `sha3` stand for several, with different numbers of digits.
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
    let name = str::from_utf8(name).unwrap_or_default();
    // The longest end first, because the name of an algorithm may have a dash.
    let behind = name.match_indices(['.', '_', '-']).map(|(at, _)| &name[at + 1..]);
    let ends = [name].into_iter().chain(behind);
    ends.map(algorithms_of).find(|found| !found.is_empty()).unwrap_or_default()
}

/// Returns the algorithms that a word of a name stands for: `sha256`, `b3sums`, `xxh`.
fn algorithms_of(word: &str) -> Algorithms {
    let word = word.strip_suffix('s').filter(|word| word.ends_with("sum")).unwrap_or(word);
    match word.strip_suffix("sum").unwrap_or(word) {
        "xxh3" => [Algorithm::Xxh128, Algorithm::Xxh3_64].into_iter().collect(),
        "xxh" | "xxhash" => {
            [Algorithm::Xxh128, Algorithm::Xxh64, Algorithm::Xxh32].into_iter().collect()
        }
        "sha3" => [Algorithm::Sha3_256, Algorithm::Sha3_512].into_iter().collect(),
        word => Algorithm::called(word).map_or(Algorithms::NONE, Algorithms::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_algorithm_at_their_end() {
        use Algorithm::{
            Blake2b, Blake3, Crc32, Md5, Sha3_256, Sha3_512, Sha256, Sha384, Sha512_256, Xxh3_64,
            Xxh32, Xxh64, Xxh128,
        };
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
            ("B2SUMS", &[Blake2b]),
            ("l.sha-256", &[Sha256]),
            ("SHA384SUMS", &[Sha384]),
            ("d.md5/SHA3-256SUMS.txt", &[Sha3_256]),
            ("l.sha3", &[Sha3_256, Sha3_512]),
            ("md5-sha512_256", &[Sha512_256]),
            ("l.sha512t256", &[Sha512_256]),
            ("list", &[]),
            ("sums", &[]),
            ("256", &[]),
            ("", &[]),
        ] {
            let expected = expected.iter().copied().collect();
            assert_eq!(algorithms_called(name.as_bytes()), expected, "{name}");
        }
    }
}
