//! The algorithms, their names and their lengths: one table.

use std::fmt;
use std::str::FromStr;

/// A checksum or hash algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Algorithm {
    /// MD5, RFC 1321: 16 bytes. Finds accidents, not attackers.
    Md5,
    /// SHA-1, FIPS 180-4: 20 bytes. Broken against attackers.
    Sha1,
    /// SHA-256, FIPS 180-4: 32 bytes.
    Sha256,
    /// SHA-512, FIPS 180-4: 64 bytes.
    Sha512,
    /// BLAKE3 with its default output of 32 bytes; in its keyed mode where there is a key.
    Blake3,
    /// XXH3 of 128 bits, in the canonical (big-endian) form that `xxhsum -H2` prints: 16 bytes.
    Xxh3,
    /// CRC-32C (Castagnoli), big-endian: 4 bytes.
    Crc32c,
    /// SipHash-2-4 under a key: 8 bytes, in the order of the reference implementation.
    Siphash24,
    /// SipHash-1-3 under a key: 8 bytes.
    Siphash13,
    /// SipHash-2-4 of 128 bits under a key: 16 bytes.
    Siphash24Wide,
    /// SipHash-1-3 of 128 bits under a key: 16 bytes.
    Siphash13Wide,
}

impl Algorithm {
    /// Every algorithm, in the order in which help lists them.
    pub const ALL: [Self; 11] = [
        Self::Md5,
        Self::Sha1,
        Self::Sha256,
        Self::Sha512,
        Self::Blake3,
        Self::Xxh3,
        Self::Crc32c,
        Self::Siphash24,
        Self::Siphash13,
        Self::Siphash24Wide,
        Self::Siphash13Wide,
    ];

    /// The name on the command line: `md5`, `sha256`, `xxh3`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Md5 => "md5",
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
            Self::Sha512 => "sha512",
            Self::Blake3 => "blake3",
            Self::Xxh3 => "xxh3",
            Self::Crc32c => "crc32c",
            Self::Siphash24 => "siphash24",
            Self::Siphash13 => "siphash13",
            Self::Siphash24Wide => "siphash24-128",
            Self::Siphash13Wide => "siphash13-128",
        }
    }

    /// The tag in a BSD line, `MD5 (name) = ...`: as GNU cksum, b3sum and xxhsum write it.
    #[must_use]
    pub const fn tag(self) -> &'static str {
        match self {
            Self::Md5 => "MD5",
            Self::Sha1 => "SHA1",
            Self::Sha256 => "SHA256",
            Self::Sha512 => "SHA512",
            Self::Blake3 => "BLAKE3",
            Self::Xxh3 => "XXH128",
            Self::Crc32c => "CRC32C",
            Self::Siphash24 => "SIPHASH24",
            Self::Siphash13 => "SIPHASH13",
            Self::Siphash24Wide => "SIPHASH24-128",
            Self::Siphash13Wide => "SIPHASH13-128",
        }
    }

    /// Length of a digest in bytes.
    #[must_use]
    pub const fn digest_len(self) -> usize {
        match self {
            Self::Crc32c => 4,
            Self::Siphash24 | Self::Siphash13 => 8,
            Self::Md5 | Self::Xxh3 | Self::Siphash24Wide | Self::Siphash13Wide => 16,
            Self::Sha1 => 20,
            Self::Sha256 | Self::Blake3 => 32,
            Self::Sha512 => 64,
        }
    }

    /// Length in bytes of the key that it takes, if it takes any. BLAKE3 does without one as well.
    #[must_use]
    pub const fn key_len(self) -> Option<usize> {
        match self {
            Self::Blake3 => Some(32),
            Self::Siphash24 | Self::Siphash13 | Self::Siphash24Wide | Self::Siphash13Wide => {
                Some(16)
            }
            Self::Md5 | Self::Sha1 | Self::Sha256 | Self::Sha512 | Self::Xxh3 | Self::Crc32c => {
                None
            }
        }
    }

    /// Whether it cannot do without a key.
    #[must_use]
    pub const fn needs_key(self) -> bool {
        self.key_len().is_some() && !matches!(self, Self::Blake3)
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no algorithm's.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "unknown algorithm '{0}'; known are md5, sha1, sha256, sha512, blake3, xxh3, crc32c, siphash24, \
     siphash13, siphash24-128 and siphash13-128"
)]
pub struct UnknownAlgorithm(String);

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        Self::ALL
            .into_iter()
            .find(|algorithm| algorithm.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| UnknownAlgorithm(name.to_owned()))
    }
}

/// A set of algorithms that are computed in one read. Iterates in the order of [`Algorithm::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Algorithms(u16);

impl Algorithms {
    /// No algorithm.
    pub const NONE: Self = Self(0);

    /// This set and one more.
    #[must_use]
    pub const fn with(self, algorithm: Algorithm) -> Self {
        Self(self.0 | 1 << algorithm as u8)
    }

    /// This set but for one.
    #[must_use]
    pub const fn without(self, algorithm: Algorithm) -> Self {
        Self(self.0 & !(1 << algorithm as u8))
    }

    /// The algorithms of either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The algorithms of this set that are not in the other.
    #[must_use]
    pub const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether the set holds the algorithm.
    #[must_use]
    pub const fn contains(self, algorithm: Algorithm) -> bool {
        self.0 & (1 << algorithm as u8) != 0
    }

    /// Whether the set holds none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The algorithms of the set.
    pub fn iter(self) -> impl Iterator<Item = Algorithm> {
        Algorithm::ALL.into_iter().filter(move |&algorithm| self.contains(algorithm))
    }
}

impl From<Algorithm> for Algorithms {
    fn from(algorithm: Algorithm) -> Self {
        Self::NONE.with(algorithm)
    }
}

impl FromIterator<Algorithm> for Algorithms {
    fn from_iter<I: IntoIterator<Item = Algorithm>>(algorithms: I) -> Self {
        algorithms.into_iter().fold(Self::NONE, Self::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for algorithm in Algorithm::ALL {
            assert_eq!(algorithm.name().parse(), Ok(algorithm));
            assert_eq!(algorithm.name().to_uppercase().parse(), Ok(algorithm));
        }
        let error = "md6".parse::<Algorithm>().unwrap_err();
        for algorithm in Algorithm::ALL {
            assert!(error.to_string().contains(algorithm.name()), "{error}");
        }
    }

    #[test]
    fn a_set_holds_what_was_put_in() {
        let set: Algorithms = [Algorithm::Sha256, Algorithm::Md5].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [Algorithm::Md5, Algorithm::Sha256]);
        assert!(!set.contains(Algorithm::Crc32c));
        assert_eq!(set.without(Algorithm::Md5), Algorithm::Sha256.into());
        let other = Algorithms::NONE.with(Algorithm::Md5).with(Algorithm::Xxh3);
        assert_eq!(set.union(other), set.with(Algorithm::Xxh3));
        assert_eq!(set.difference(other), Algorithm::Sha256.into());
        assert!(Algorithms::NONE.is_empty() && !set.is_empty());
    }
}
