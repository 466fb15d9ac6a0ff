//! Digests in rows: a set of algorithms, and the digests one after the other.

use lanesum_list::{Algorithm, Algorithms, Digest, Digests};

use crate::CatalogError;

/// The bit of each algorithm, which is stored in catalogs and must never change. Digests are stored
/// in the order of the bits.
const BITS: &[(u8, Algorithm)] = &[
    (0, Algorithm::Md5),
    (1, Algorithm::Sha1),
    (2, Algorithm::Sha224),
    (3, Algorithm::Sha256),
    (4, Algorithm::Sha512),
    (5, Algorithm::Blake3),
    (6, Algorithm::Xxh128),
    (7, Algorithm::Xxh3_64),
    (8, Algorithm::Xxh64),
    (9, Algorithm::Xxh32),
    (10, Algorithm::Crc32c),
    (11, Algorithm::Crc32),
    (12, Algorithm::Crc64Nvme),
    (13, Algorithm::Sha384),
    (14, Algorithm::Sha512_256),
    (15, Algorithm::Blake2b),
    (16, Algorithm::Sha3_256),
    (17, Algorithm::Sha3_512),
    (18, Algorithm::Dropbox),
    (19, Algorithm::Glacier),
];

/// Returns the number of a set.
///
/// # Errors
/// An algorithm needs a key.
pub(crate) fn number_of(algorithms: Algorithms) -> Result<i64, CatalogError> {
    let bit = |algorithm| {
        let known = BITS.iter().find(|(_, known)| *known == algorithm);
        known.map(|(bit, _)| 1 << bit).ok_or(CatalogError::Keyed(algorithm))
    };
    algorithms.iter().try_fold(0, |number, algorithm| Ok(number | bit(algorithm)?))
}

/// Returns the set with a number, or `None` for an invalid number.
pub(crate) fn set_of(number: i64) -> Option<Algorithms> {
    const KNOWN: i64 = (1 << BITS.len()) - 1;
    let bits = BITS.iter().filter(|(bit, _)| number & 1 << bit != 0);
    let set: Algorithms = bits.map(|&(_, algorithm)| algorithm).collect();
    (number != 0 && number & !KNOWN == 0).then_some(set)
}

/// Returns digests in stored form.
///
/// # Errors
/// An algorithm needs a key.
pub(crate) fn encode(digests: &Digests) -> Result<(i64, Vec<u8>), CatalogError> {
    let number = number_of(digests.iter().map(Digest::algorithm).collect())?;
    let mut bytes = Vec::new();
    for &(_, algorithm) in BITS {
        let digest = digests.iter().find(|digest| digest.algorithm() == algorithm);
        bytes.extend_from_slice(digest.map_or(&[], Digest::as_bytes));
    }
    Ok((number, bytes))
}

/// The same, also for an empty list.
pub(crate) fn encode_any(digests: &Digests) -> Result<(i64, Vec<u8>), CatalogError> {
    if digests.is_empty() { Ok((0, Vec::new())) } else { encode(digests) }
}

/// Returns the digests that [`encode_any`] stored, or `None` for other bytes.
pub(crate) fn decode_any(number: i64, bytes: &[u8]) -> Option<Digests> {
    let is_empty = number == 0 && bytes.is_empty();
    if is_empty { Some(Digests::default()) } else { decode(number, bytes) }
}

/// Returns the digests that [`encode`] stored, or `None` for other bytes.
pub(crate) fn decode(number: i64, mut bytes: &[u8]) -> Option<Digests> {
    let set = set_of(number)?;
    let mut digests = Digests::default();
    for &(_, algorithm) in BITS.iter().filter(|(_, algorithm)| set.contains(*algorithm)) {
        let (digest, rest) = bytes.split_at_checked(algorithm.digest_len())?;
        digests.push(Digest::new(algorithm, digest)?);
        bytes = rest;
    }
    bytes.is_empty().then_some(digests)
}

/// Returns the algorithms of these digests.
pub(crate) fn algorithms(digests: &Digests) -> Algorithms {
    digests.iter().map(Digest::algorithm).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_without_a_key_has_a_bit_that_stays() {
        for algorithm in Algorithm::ALL {
            let number = number_of(algorithm.into());
            assert_eq!(number.is_ok(), !algorithm.needs_key(), "{algorithm}");
            assert!(number.is_err() || set_of(number.unwrap()) == Some(algorithm.into()));
        }
        assert_eq!(BITS[0], (0, Algorithm::Md5));
        assert_eq!(BITS[5], (5, Algorithm::Blake3));
        assert_eq!(set_of(0), None);
        assert_eq!(set_of(1 << BITS.len() | 1), None);
    }

    #[test]
    fn stored_digests_are_read_again() {
        let of = |algorithm: Algorithm| {
            Digest::new(algorithm, &vec![algorithm as u8; algorithm.digest_len()]).unwrap()
        };
        // Not in the order of their bits.
        let digests = Digests::from(vec![of(Algorithm::Blake3), of(Algorithm::Md5)]);
        let (number, bytes) = encode(&digests).unwrap();
        let back = decode(number, &bytes).unwrap();
        assert_eq!(crate::model::agree(&digests, &back), Some(true));
        assert_eq!(back.len(), 2);
        assert_eq!(decode(number, &bytes[1..]), None);
        assert_eq!(decode(1, &bytes), None);
    }
}
