//! Random keys from the system.

use core::hash::BuildHasher;

use crate::one::KEY_LEN;
use crate::{SipHash, SipHash13, SipHasher};

impl<const C: usize, const D: usize> SipHash<C, D> {
    /// Makes the hash function of a new random key from the system.
    ///
    /// # Panics
    /// Panics if the system has no random numbers: on Linux before 3.17 without `/dev/urandom`.
    #[must_use]
    pub fn random() -> Self {
        let mut key = [0; KEY_LEN];
        getrandom::fill(&mut key).expect("the system gives random numbers for a key");
        Self::new(&key)
    }
}

/// A `BuildHasher` for tables that cannot be flooded: SipHash-1-3 with a random key for each table.
///
/// The type of the same name in the standard library does the same. For other numbers of rounds, or
/// for your own key, use [`SipHash`] as the [`BuildHasher`].
///
/// ```
/// use std::collections::HashMap;
///
/// let mut words: HashMap<&str, u32, lanesum_siphash::RandomState> = HashMap::default();
/// *words.entry("lane").or_default() += 1;
/// assert_eq!(words["lane"], 1);
/// ```
#[derive(Clone, Debug)]
pub struct RandomState(SipHash13);

impl RandomState {
    /// Makes a new random key; see [`SipHash::random`].
    #[must_use]
    pub fn new() -> Self {
        Self(SipHash::random())
    }
}

impl Default for RandomState {
    fn default() -> Self {
        Self::new()
    }
}

impl BuildHasher for RandomState {
    type Hasher = SipHasher<1, 3>;

    #[inline]
    fn build_hasher(&self) -> SipHasher<1, 3> {
        self.0.hasher()
    }
}
