//! The table of algorithms.
//!
//! An algorithm has three places: one entry of `algorithms!` below, one line of the engine that
//! computes it, and one bit of the catalog if it works without a key. All else is derived from the
//! entry: names on the command line, in help and in messages, tags and digest lengths, and the
//! algorithm of lines without a tag.

use std::fmt;
use std::str::FromStr;

/// The description of an algorithm.
struct Description {
    /// The name on the command line, in lower case.
    name: &'static str,
    /// Other names on the command line.
    aliases: &'static [&'static str],
    /// The tag in written lines.
    tag: &'static str,
    /// The tags in lines of other programs.
    other_tags: &'static [&'static str],
    /// The length of a digest in bytes.
    digest_len: usize,
    key: TakesKey,
    untagged_in: UntaggedIn,
}

/// Whether an algorithm takes a key, and the length of the key in bytes.
enum TakesKey {
    No,
    /// The algorithm also works without a key.
    Optional(usize),
    Required(usize),
}

/// In which lists the number of digits of an untagged line identifies the algorithm. In each kind
/// of list every number of digits belongs to at most one algorithm.
#[derive(PartialEq, Eq)]
enum UntaggedIn {
    /// In no list, because another, more common algorithm has the same number of digits.
    Nowhere,
    WithoutKey,
    WithKey,
}

/// The defaults of an entry.
const DEFAULT: Description = Description {
    name: "",
    aliases: &[],
    tag: "",
    other_tags: &[],
    digest_len: 0,
    key: TakesKey::No,
    untagged_in: UntaggedIn::Nowhere,
};

/// Makes [`Algorithm`] and its table of descriptions, in the order of the entries.
macro_rules! algorithms {
    ($($(#[$doc:meta])+ $variant:ident { $($field:ident: $value:expr),+ $(,)? })+) => {
        /// A checksum or hash algorithm.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum Algorithm { $($(#[$doc])+ $variant,)+ }

        impl Algorithm {
            /// Every algorithm, in the order in which help lists them.
            pub const ALL: [Self; TABLE.len()] = [$(Self::$variant),+];
        }

        const TABLE: &[Description] = &[$(Description { $($field: $value,)+ ..DEFAULT }),+];
    };
}

algorithms! {
    /// MD5, RFC 1321: 16 bytes. Detects accidental changes, not attacks.
    Md5 { name: "md5", tag: "MD5", digest_len: 16, untagged_in: UntaggedIn::WithoutKey }
    /// SHA-1, FIPS 180-4: 20 bytes. Not secure against attacks.
    Sha1 { name: "sha1", tag: "SHA1", digest_len: 20, untagged_in: UntaggedIn::WithoutKey }
    /// SHA-224, FIPS 180-4: 28 bytes. OpenSSL 3 calls it `SHA2-224`.
    Sha224 {
        name: "sha224",
        tag: "SHA224",
        other_tags: &["SHA2-224"],
        digest_len: 28,
        untagged_in: UntaggedIn::WithoutKey,
    }
    /// SHA-256, FIPS 180-4: 32 bytes. OpenSSL 3 calls it `SHA2-256`.
    Sha256 {
        name: "sha256",
        tag: "SHA256",
        other_tags: &["SHA2-256"],
        digest_len: 32,
        untagged_in: UntaggedIn::WithoutKey,
    }
    /// SHA-384, FIPS 180-4: 48 bytes. OpenSSL 3 calls it `SHA2-384`.
    Sha384 {
        name: "sha384",
        tag: "SHA384",
        other_tags: &["SHA2-384"],
        digest_len: 48,
        untagged_in: UntaggedIn::WithoutKey,
    }
    /// SHA-512, FIPS 180-4: 64 bytes. OpenSSL 3 calls it `SHA2-512`.
    Sha512 {
        name: "sha512",
        tag: "SHA512",
        other_tags: &["SHA2-512"],
        digest_len: 64,
        untagged_in: UntaggedIn::WithoutKey,
    }
    /// BLAKE3 with its default output of 32 bytes. With a key it uses the keyed mode.
    Blake3 {
        name: "blake3",
        aliases: &["b3"],
        tag: "BLAKE3",
        digest_len: 32,
        key: TakesKey::Optional(32),
        untagged_in: UntaggedIn::WithKey,
    }
    /// BLAKE2b with its longest output, RFC 7693: 64 bytes. `b2sum` writes its tag, and OpenSSL and
    /// RHash the others.
    Blake2b {
        name: "blake2b",
        aliases: &["b2"],
        tag: "BLAKE2b",
        other_tags: &["BLAKE2B-512", "BLAKE2b512", "BLAKE2B"],
        digest_len: 64,
    }
    /// SHA-512/256, FIPS 180-4: 32 bytes. The tags are those of OpenBSD, FreeBSD and OpenSSL.
    Sha512_256 {
        name: "sha512-256",
        tag: "SHA512/256",
        other_tags: &["SHA512t256", "SHA2-512/256", "SHA512-256"],
        digest_len: 32,
    }
    /// SHA3-256, FIPS 202: 32 bytes.
    Sha3_256 { name: "sha3-256", tag: "SHA3-256", digest_len: 32 }
    /// SHA3-512, FIPS 202: 64 bytes.
    Sha3_512 { name: "sha3-512", tag: "SHA3-512", digest_len: 64 }
    /// The content hash of Dropbox: the SHA-256 of the joined SHA-256s of blocks of 4 MiB.
    Dropbox { name: "dropbox", tag: "DROPBOX", digest_len: 32 }
    /// The tree hash of Amazon Glacier: SHA-256 of pairs, from blocks of 1 MiB on.
    Glacier { name: "glacier", tag: "GLACIER", digest_len: 32 }
    /// XXH3 of 128 bits, in the canonical (big-endian) form that `xxhsum -H2` prints: 16 bytes.
    Xxh128 { name: "xxh128", aliases: &["xxh3"], tag: "XXH128", digest_len: 16 }
    /// XXH3 of 64 bits, as `xxhsum -H3` prints it: 8 bytes.
    Xxh3_64 { name: "xxh3-64", aliases: &["xxh3_64"], tag: "XXH3", digest_len: 8 }
    /// XXH64, as `xxhsum` prints it by default: 8 bytes.
    Xxh64 { name: "xxh64", tag: "XXH64", digest_len: 8, untagged_in: UntaggedIn::WithoutKey }
    /// XXH32, as `xxhsum -H0` prints it: 4 bytes.
    Xxh32 { name: "xxh32", tag: "XXH32", digest_len: 4 }
    /// CRC-32C (Castagnoli), big-endian: 4 bytes.
    Crc32c { name: "crc32c", tag: "CRC32C", digest_len: 4, untagged_in: UntaggedIn::WithoutKey }
    /// CRC-32 of zip, gzip and SFV lists, big-endian: 4 bytes. RHash writes its tag.
    Crc32 { name: "crc32", tag: "CRC32", digest_len: 4 }
    /// CRC-64/NVME, big-endian: 8 bytes. S3 stores it of every object without another checksum.
    Crc64Nvme {
        name: "crc64nvme",
        aliases: &["crc64-nvme"],
        tag: "CRC64NVME",
        digest_len: 8,
    }
    /// SipHash-2-4 under a key: 8 bytes, in the order of the reference implementation.
    Siphash24 {
        name: "siphash24",
        tag: "SIPHASH24",
        digest_len: 8,
        key: TakesKey::Required(16),
        untagged_in: UntaggedIn::WithKey,
    }
    /// SipHash-1-3 under a key: 8 bytes.
    Siphash13 {
        name: "siphash13",
        tag: "SIPHASH13",
        digest_len: 8,
        key: TakesKey::Required(16),
    }
    /// SipHash-2-4 of 128 bits under a key: 16 bytes.
    Siphash24Wide {
        name: "siphash24-128",
        tag: "SIPHASH24-128",
        digest_len: 16,
        key: TakesKey::Required(16),
        untagged_in: UntaggedIn::WithKey,
    }
    /// SipHash-1-3 of 128 bits under a key: 16 bytes.
    Siphash13Wide {
        name: "siphash13-128",
        tag: "SIPHASH13-128",
        digest_len: 16,
        key: TakesKey::Required(16),
    }
}

/// The length of the longest digest in bytes.
pub(crate) const LONGEST_DIGEST: usize = {
    let (mut longest, mut index) = (0, 0);
    while index < TABLE.len() {
        if TABLE[index].digest_len > longest {
            longest = TABLE[index].digest_len;
        }
        index += 1;
    }
    longest
};

/// Returns the letters and digits of a name in lower case as a number, which is fast to compare.
/// Returns `None` for more than 16, which no algorithm has, and for text with a NUL.
const fn packed(name: &str) -> Option<u128> {
    let (name, mut packed, mut at) = (name.as_bytes(), 0, 0);
    while at < name.len() {
        if !matches!(name[at], b'-' | b'_' | b'/' | b' ') {
            if packed >> 120 != 0 || name[at] == 0 {
                return None;
            }
            packed = packed << 8 | name[at].to_ascii_lowercase() as u128;
        }
        at += 1;
    }
    Some(packed)
}

/// The number of names, aliases and tags.
const NAMES: usize = {
    let (mut names, mut index) = (0, 0);
    while index < TABLE.len() {
        names += 2 + TABLE[index].aliases.len() + TABLE[index].other_tags.len();
        index += 1;
    }
    names
};

/// All names, aliases and tags, packed, in the order of [`Algorithm::ALL`].
const PACKED: [(u128, Algorithm); NAMES] = {
    let mut all = [(0, Algorithm::Md5); NAMES];
    let (mut count, mut index) = (0, 0);
    while index < TABLE.len() {
        let Description { name, tag, aliases, other_tags, .. } = TABLE[index];
        let mut of_one = 0;
        while of_one < 2 + aliases.len() + other_tags.len() {
            let name = match of_one {
                0 => name,
                1 => tag,
                _ if of_one - 2 < aliases.len() => aliases[of_one - 2],
                _ => other_tags[of_one - 2 - aliases.len()],
            };
            let packed = packed(name).expect("no name has more than 16 letters");
            all[count] = (packed, Algorithm::ALL[index]);
            (count, of_one) = (count + 1, of_one + 1);
        }
        index += 1;
    }
    all
};

impl Algorithm {
    const fn description(self) -> &'static Description {
        &TABLE[self as usize]
    }

    /// Returns the name on the command line: `md5`, `sha256`, `xxh128`.
    ///
    /// ```
    /// # use lanesum_list::Algorithm;
    /// assert_eq!(Algorithm::Sha256.name(), "sha256");
    /// assert_eq!("SHA256".parse(), Ok(Algorithm::Sha256));
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.description().name
    }

    /// Returns the other names on the command line.
    ///
    /// ```
    /// # use lanesum_list::Algorithm;
    /// for algorithm in Algorithm::ALL {
    ///     assert!(algorithm.aliases().iter().all(|alias| alias.parse() == Ok(algorithm)));
    /// }
    /// ```
    #[must_use]
    pub const fn aliases(self) -> &'static [&'static str] {
        self.description().aliases
    }

    /// Returns the tag in a BSD line, `MD5 (name) = ...`, as GNU cksum, b3sum and xxhsum write it.
    ///
    /// ```
    /// # use lanesum_list::Algorithm;
    /// assert_eq!(Algorithm::Xxh128.tag(), "XXH128");
    /// ```
    #[must_use]
    pub const fn tag(self) -> &'static str {
        self.description().tag
    }

    /// Returns whether a program writes tagged lines of the algorithm with this tag.
    ///
    /// ```
    /// # use lanesum_list::Algorithm;
    /// assert!(Algorithm::Sha256.has_tag(b"SHA256"));
    /// assert!(Algorithm::Sha256.has_tag(b"SHA2-256"));
    /// assert!(!Algorithm::Sha256.has_tag(b"sha256"));
    /// ```
    #[must_use]
    pub fn has_tag(self, tag: &[u8]) -> bool {
        self.tags().any(|known| known.as_bytes() == tag)
    }

    /// Returns all tags of the algorithm, its own first.
    pub(crate) fn tags(self) -> impl Iterator<Item = &'static str> {
        let Description { tag, other_tags, .. } = self.description();
        [*tag].into_iter().chain(other_tags.iter().copied())
    }

    /// Returns the length of a digest in bytes.
    ///
    /// ```
    /// # use lanesum_list::Algorithm;
    /// assert_eq!(Algorithm::Md5.digest_len(), 16);
    /// ```
    #[must_use]
    pub const fn digest_len(self) -> usize {
        self.description().digest_len
    }

    /// Returns the length of the key in bytes, or `None` if the algorithm takes no key. BLAKE3 also
    /// works without a key.
    ///
    /// ```
    /// # use lanesum_list::Algorithm;
    /// assert_eq!(Algorithm::Siphash24.key_len(), Some(16));
    /// assert_eq!(Algorithm::Md5.key_len(), None);
    /// ```
    #[must_use]
    pub const fn key_len(self) -> Option<usize> {
        match self.description().key {
            TakesKey::No => None,
            TakesKey::Optional(len) | TakesKey::Required(len) => Some(len),
        }
    }

    /// Returns the algorithm that other programs call so: a name, alias or tag in any case, with or
    /// without dashes.
    ///
    /// ```
    /// # use lanesum_list::Algorithm;
    /// assert_eq!(Algorithm::called("SHA-256"), Some(Algorithm::Sha256));
    /// assert_eq!(Algorithm::called("sha3_256"), Some(Algorithm::Sha3_256));
    /// ```
    #[must_use]
    pub fn called(name: &str) -> Option<Self> {
        let packed = packed(name)?;
        PACKED.iter().find(|(known, _)| *known == packed).map(|&(_, algorithm)| algorithm)
    }

    pub(crate) fn is_identified_without_key(&self) -> bool {
        self.description().untagged_in == UntaggedIn::WithoutKey
    }

    pub(crate) fn is_identified_with_key(&self) -> bool {
        self.description().untagged_in == UntaggedIn::WithKey
    }

    /// Returns whether the algorithm requires a key.
    ///
    /// ```
    /// # use lanesum_list::Algorithm;
    /// assert!(Algorithm::Siphash24.needs_key() && !Algorithm::Blake3.needs_key());
    /// ```
    #[must_use]
    pub const fn needs_key(self) -> bool {
        matches!(self.description().key, TakesKey::Required(_))
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for a name that is not an algorithm.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("unknown algorithm '{0}'; known are {known}", known = known())]
pub struct UnknownAlgorithm(String);

/// Writes the names of all algorithms as a sentence lists them.
fn known() -> String {
    let [names @ .., last] = &Algorithm::ALL.map(Algorithm::name);
    format!("{} and {last}", names.join(", "))
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    /// Parses a name or an alias, in upper or lower case.
    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        let is_called = |known: &&str| known.eq_ignore_ascii_case(name);
        Self::called(name)
            .filter(|it| is_called(&it.name()) || it.aliases().iter().any(is_called))
            .ok_or_else(|| UnknownAlgorithm(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Algorithms;

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
    fn every_algorithm_is_complete_and_unique() {
        let mut names: Vec<_> = Vec::new();
        let mut tags: Vec<_> = Vec::new();
        for algorithm in Algorithm::ALL {
            let called = [algorithm.name()].into_iter().chain(algorithm.aliases().iter().copied());
            names.extend(called.map(str::to_ascii_lowercase));
            tags.extend(algorithm.tags());
            assert!((1..=LONGEST_DIGEST).contains(&algorithm.digest_len()), "{algorithm}");
            // A tag must not contain a blank, which ends it, or a parenthesis, which starts the
            // file name.
            let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"-/_".contains(&byte);
            let mut words = names.iter().map(|name| &**name).chain(tags.iter().copied());
            assert!(words.all(|name| name.bytes().all(is_word)), "{algorithm}");
        }
        for mut all in [names, tags.into_iter().map(str::to_owned).collect()] {
            assert!(all.iter().all(|name| !name.is_empty()), "{all:?}");
            all.sort_unstable();
            assert!(all.is_sorted_by(|a, b| a < b), "{all:?}");
        }
    }

    #[test]
    fn a_digest_length_names_at_most_one_algorithm() {
        for algorithms in [Algorithms::identified_without_key(), Algorithms::identified_with_key()]
        {
            let mut lengths: Vec<_> = algorithms.iter().map(Algorithm::digest_len).collect();
            lengths.sort_unstable();
            assert!(lengths.is_sorted_by(|a, b| a < b), "{algorithms:?}");
        }
        assert!(
            Algorithms::identified_without_key().iter().all(|algorithm| !algorithm.needs_key())
        );
        assert!(
            Algorithms::identified_with_key().iter().all(|algorithm| algorithm.key_len().is_some())
        );
    }
}
