//! Sets of algorithms.

use crate::Algorithm;

/// A set of algorithms, for example those that are computed in one read. Iterates in the order of
/// [`Algorithm::ALL`].
///
/// ```
/// use lanesum_list::{Algorithm, Algorithms};
///
/// let set: Algorithms = [Algorithm::Sha256, Algorithm::Md5].into_iter().collect();
/// assert!(set.iter().eq([Algorithm::Md5, Algorithm::Sha256]));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Algorithms(u32);

const _: () = assert!(Algorithm::ALL.len() <= u32::BITS as usize, "each algorithm has a bit");

impl Algorithms {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// The set of all algorithms.
    pub const ALL: Self = Self(u32::MAX >> (u32::BITS as usize - Algorithm::ALL.len()));

    /// Returns the algorithms that the length of an untagged line identifies, in a list without a
    /// key.
    pub(crate) fn identified_without_key() -> Self {
        Self::ALL.iter().filter(|it| it.is_identified_without_key()).collect()
    }

    /// Returns the algorithms that the length of an untagged line identifies, in a list made with a
    /// key.
    pub(crate) fn identified_with_key() -> Self {
        Self::ALL.iter().filter(|it| it.is_identified_with_key()).collect()
    }

    /// Returns the set with one more algorithm.
    #[must_use]
    pub const fn with(self, algorithm: Algorithm) -> Self {
        Self(self.0 | 1 << algorithm as u8)
    }

    /// Returns the set without one algorithm.
    #[must_use]
    pub const fn without(self, algorithm: Algorithm) -> Self {
        Self(self.0 & !(1 << algorithm as u8))
    }

    /// Returns the algorithms that are in one or both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the algorithms that are in both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the algorithms of this set that are not in the other one.
    #[must_use]
    pub const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns whether the set contains the algorithm.
    #[must_use]
    pub const fn contains(self, algorithm: Algorithm) -> bool {
        self.0 & (1 << algorithm as u8) != 0
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the algorithms of the set, in the order of [`Algorithm::ALL`].
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
    fn a_set_contains_the_inserted_algorithms() {
        let set: Algorithms = [Algorithm::Sha256, Algorithm::Md5].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [Algorithm::Md5, Algorithm::Sha256]);
        assert!(!set.contains(Algorithm::Crc32c));
        assert_eq!(set.without(Algorithm::Md5), Algorithm::Sha256.into());
        let other = Algorithms::NONE.with(Algorithm::Md5).with(Algorithm::Xxh128);
        assert_eq!(set.union(other), set.with(Algorithm::Xxh128));
        assert_eq!(set.intersection(other), Algorithm::Md5.into());
        assert_eq!(set.difference(other), Algorithm::Sha256.into());
        assert!(Algorithms::NONE.is_empty() && !set.is_empty());
        assert_eq!(Algorithm::ALL.into_iter().collect::<Algorithms>(), Algorithms::ALL);
    }
}
