//! Which lines a list may hold, and how those without a tag are understood.

use crate::{Algorithm, Algorithms, Ending};

/// Which lines a list may hold.
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
    /// The algorithms whose tagged lines are read.
    pub(crate) tagged: Algorithms,
    /// The algorithms that an untagged line may be of: the first that has as many digits.
    pub(crate) untagged: Algorithms,
    /// Also what GNU's programs for one algorithm do not read: digits in base64, a padded tag.
    pub(crate) is_lenient: bool,
    /// A NUL ends a name, as it ends a string in C; otherwise it makes a line malformed.
    pub(crate) nul_ends_names: bool,
    pub(crate) ending: Ending,
    /// Whether digests are written in base64.
    pub(crate) writes_base64: bool,
}

impl Dialect {
    /// Lines of one algorithm only, in hexadecimal, as GNU md5sum, sha256sum and their like read
    /// them: what follows a NUL in a name is not looked at.
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

    /// Lines of any algorithm, in hexadecimal or base64. An untagged line's algorithm is told by
    /// its number of hexadecimal digits, if it is one that this [`tells`](Self::tells).
    #[must_use]
    pub fn any() -> Self {
        Self {
            tagged: Algorithms::ALL,
            untagged: Algorithms::told_without_key(),
            is_lenient: true,
            nul_ends_names: false,
            ending: Ending::Newline,
            writes_base64: false,
        }
    }

    /// As [`any`](Self::any), but an untagged line may have as many digits as any algorithm's: for
    /// telling lists from other files.
    pub(crate) fn of_any_length() -> Self {
        Self { untagged: Algorithms::ALL, ..Self::any() }
    }

    /// As [`any`](Self::any), but untagged lines are of this algorithm.
    #[must_use]
    pub fn untagged_as(algorithm: Algorithm) -> Self {
        Self::any().with_untagged(algorithm)
    }

    /// Lines of these algorithms, those that take a key, and no others: they would pass for proof
    /// that whoever wrote the list had the key. An untagged line's algorithm is told by its number
    /// of hexadecimal digits, if it is one that this [`tells`](Self::tells).
    #[must_use]
    pub fn keyed(algorithms: Algorithms) -> Self {
        Self {
            tagged: algorithms,
            untagged: Algorithms::told_with_key().intersection(algorithms),
            ..Self::any()
        }
    }

    /// The same, but untagged lines are of this algorithm.
    #[must_use]
    pub fn with_untagged(self, algorithm: Algorithm) -> Self {
        Self { untagged: algorithm.into(), ..self }
    }

    /// The same with lines that end otherwise. It is [`Ending::Newline`] unless set.
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

    /// The same with digests that are written in base64, as `cksum --base64` and the `Content-MD5`
    /// of HTTP have them. Formats read both.
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

    /// What ends a line.
    #[must_use]
    pub const fn ending(&self) -> Ending {
        self.ending
    }

    /// Whether an untagged line of this algorithm is read as one.
    ///
    /// ```
    /// # use lanesum_list::{Algorithm, Dialect};
    /// assert!(Dialect::any().tells(Algorithm::Sha256));
    /// // As many digits as SHA-256, which it is taken for.
    /// assert!(!Dialect::any().tells(Algorithm::Blake3));
    /// ```
    #[must_use]
    pub fn tells(&self, algorithm: Algorithm) -> bool {
        let has_as_many = |other: &Algorithm| other.digest_len() == algorithm.digest_len();
        self.untagged.iter().find(has_as_many) == Some(algorithm)
    }

    /// The other algorithms of its lines that have as many digits as this one: what an untagged
    /// line may be of that is read as this.
    ///
    /// ```
    /// # use lanesum_list::{Algorithm, Dialect};
    /// let others: Vec<_> = Dialect::any().mistaken_for(Algorithm::Sha256).collect();
    /// assert_eq!(others, [Algorithm::Blake3]);
    /// ```
    pub fn mistaken_for(&self, algorithm: Algorithm) -> impl Iterator<Item = Algorithm> {
        self.tagged
            .without(algorithm)
            .iter()
            .filter(move |other| other.digest_len() == algorithm.digest_len())
    }
}
