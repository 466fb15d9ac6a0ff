//! Dialects: the lines that a list may contain, and the algorithm of untagged lines.

use crate::{Algorithm, Algorithms, Ending};

/// The lines that a list may contain, and the algorithm of its untagged lines.
///
/// ```
/// use lanesum_list::formats::{Format, Line, Mixed};
/// use lanesum_list::{Algorithm, Dialect};
///
/// let blake3 = format!("{}  name", "0".repeat(64));
/// for (dialect, algorithm) in [
///     (Dialect::any(), Algorithm::Sha256),
///     (Dialect::untagged_as(Algorithm::Blake3), Algorithm::Blake3),
///     (Dialect::keyed(Algorithm::Blake3.into()), Algorithm::Blake3),
/// ] {
///     let mut list = Mixed::new(dialect);
///     let Line::Record { record, .. } = list.next(blake3.as_bytes()) else { panic!() };
///     assert!(record.digest(algorithm).is_some());
/// }
/// let mut list = Mixed::new(Dialect::only(Algorithm::Md5));
/// assert_eq!(list.next(blake3.as_bytes()), Line::Malformed);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The algorithms of tagged lines that are read.
    pub(crate) tagged: Algorithms,
    /// The algorithms of untagged lines. The first one with the right number of digits applies.
    pub(crate) untagged: Algorithms,
    /// Whether to read digits in base64 and padded tags, which the GNU programs for one algorithm
    /// do not read.
    pub(crate) is_lenient: bool,
    /// Whether a NUL ends a name, as it ends a string in C. Otherwise a NUL makes a line invalid.
    pub(crate) nul_ends_names: bool,
    pub(crate) ending: Ending,
    /// Whether digests are written in base64.
    pub(crate) writes_base64: bool,
}

impl Dialect {
    /// Accepts hexadecimal lines of one algorithm only, as GNU md5sum, sha256sum and similar
    /// programs do. A NUL ends a name.
    #[must_use]
    pub fn only(algorithm: Algorithm) -> Self {
        Self {
            tagged: algorithm.into(),
            untagged: algorithm.into(),
            is_lenient: false,
            nul_ends_names: true,
            ending: Ending::Newline,
            writes_base64: false,
        }
    }

    /// Accepts lines of any algorithm, in hexadecimal or base64. The number of hexadecimal digits
    /// identifies the algorithm of an untagged line, if the dialect
    /// [`identifies`](Self::identifies) it.
    #[must_use]
    pub fn any() -> Self {
        Self {
            tagged: Algorithms::ALL,
            untagged: Algorithms::identified_without_key(),
            is_lenient: true,
            nul_ends_names: false,
            ending: Ending::Newline,
            writes_base64: false,
        }
    }

    /// Like [`any`](Self::any), but accepts untagged lines with the number of digits of any
    /// algorithm. Used to distinguish lists from other files.
    pub(crate) fn of_any_length() -> Self {
        Self { untagged: Algorithms::ALL, ..Self::any() }
    }

    /// Like [`any`](Self::any), but untagged lines have the given algorithm.
    #[must_use]
    pub fn untagged_as(algorithm: Algorithm) -> Self {
        Self::any().with_untagged(algorithm)
    }

    /// Accepts only lines of the given algorithms, which must take a key. Other lines would not
    /// prove that the author of the list had the key. The number of hexadecimal digits identifies
    /// the algorithm of an untagged line, if the dialect [`identifies`](Self::identifies) it.
    #[must_use]
    pub fn keyed(algorithms: Algorithms) -> Self {
        Self {
            tagged: algorithms,
            untagged: Algorithms::identified_with_key().intersection(algorithms),
            ..Self::any()
        }
    }

    /// Returns the dialect with the given algorithm for untagged lines.
    #[must_use]
    pub fn with_untagged(self, algorithm: Algorithm) -> Self {
        Self { untagged: algorithm.into(), ..self }
    }

    /// Returns the dialect in which untagged lines with as many digits as the algorithm have this
    /// algorithm, as the name of a list may say. A dialect with the algorithm of all untagged lines
    /// stays as it is.
    ///
    /// ```
    /// # use lanesum_list::{Algorithm, Dialect};
    /// let dialect = Dialect::any().preferring(Algorithm::Blake3);
    /// assert!(dialect.identifies(Algorithm::Blake3) && dialect.identifies(Algorithm::Md5));
    /// let told = Dialect::untagged_as(Algorithm::Sha256);
    /// assert_eq!(told.preferring(Algorithm::Blake3), told);
    /// ```
    #[must_use]
    pub fn preferring(self, algorithm: Algorithm) -> Self {
        if self.untagged.iter().count() < 2 || !self.tagged.contains(algorithm) {
            return self;
        }
        let has_other_length = |other: &Algorithm| other.digest_len() != algorithm.digest_len();
        let untagged: Algorithms = self.untagged.iter().filter(has_other_length).collect();
        Self { untagged: untagged.with(algorithm), ..self }
    }

    /// Returns the dialect with another line ending. The default is [`Ending::Newline`].
    ///
    /// ```
    /// # use lanesum_list::{Dialect, Ending};
    /// assert_eq!(Dialect::any().ending(), Ending::Newline);
    /// assert_eq!(Dialect::any().with_ending(Ending::Nul).ending(), Ending::Nul);
    /// ```
    #[must_use]
    pub const fn with_ending(self, ending: Ending) -> Self {
        Self { ending, ..self }
    }

    /// Returns the dialect with digests written in base64, as `cksum --base64` and the HTTP header
    /// `Content-MD5` have them. Formats read both.
    ///
    /// ```
    /// use lanesum_list::formats::{Format, Tag};
    /// use lanesum_list::{Algorithm, Dialect, Digest, Record};
    ///
    /// let digest = Digest::from_hex(Algorithm::Crc32c, b"e3069283").unwrap();
    /// let mut list = Vec::new();
    /// Tag::new(Dialect::any().in_base64()).record(&mut list, &Record::new("a").with(digest))?;
    /// assert_eq!(list, b"CRC32C (a) = 4waSgw==\n");
    /// # Ok::<(), lanesum_list::formats::CannotHold>(())
    /// ```
    #[must_use]
    pub const fn in_base64(self) -> Self {
        Self { writes_base64: true, ..self }
    }

    /// Returns the line ending.
    #[must_use]
    pub const fn ending(&self) -> Ending {
        self.ending
    }

    /// Returns whether an untagged line of this algorithm is read as this algorithm.
    ///
    /// ```
    /// # use lanesum_list::{Algorithm, Dialect};
    /// assert!(Dialect::any().identifies(Algorithm::Sha256));
    /// // BLAKE3 has as many digits as SHA-256 and is taken for it.
    /// assert!(!Dialect::any().identifies(Algorithm::Blake3));
    /// ```
    #[must_use]
    pub fn identifies(&self, algorithm: Algorithm) -> bool {
        let has_as_many = |other: &Algorithm| other.digest_len() == algorithm.digest_len();
        self.untagged.iter().find(has_as_many) == Some(algorithm)
    }

    /// Returns the other algorithms of the dialect with as many digits as this one. An untagged
    /// line that is read as this algorithm may have one of these instead.
    ///
    /// ```
    /// # use lanesum_list::{Algorithm, Dialect};
    /// let others: Vec<_> = Dialect::any().mistaken_for(Algorithm::Md5).collect();
    /// assert_eq!(others, [Algorithm::Xxh128, Algorithm::Siphash24Wide, Algorithm::Siphash13Wide]);
    /// ```
    pub fn mistaken_for(&self, algorithm: Algorithm) -> impl Iterator<Item = Algorithm> {
        self.tagged
            .without(algorithm)
            .iter()
            .filter(move |other| other.digest_len() == algorithm.digest_len())
    }
}
