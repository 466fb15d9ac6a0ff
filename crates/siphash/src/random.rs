//! Random keys.
//!
//! The system takes some 300 ns for a key, as long as 20 hashes of short strings.
//! So each thread gets one, and derives the others from it: the key of number `i` is the 128-bit
//! SipHash-1-3 of `i` under the key of the thread. SipHash is a pseudorandom function, so an
//! attacker who knows some of these keys learns nothing about the others.
//!
//! A forked child has a copy of its parent's memory. It gets a new key of the system, or it would
//! derive the same keys as its parent.

use core::cell::Cell;
use core::hash::BuildHasher;

use lanesum_lanes::forks;

use crate::one::KEY_LEN;
use crate::{SipHash, SipHash13, SipHasher};

std::thread_local! {
    static KEYS: Cell<Option<Keys>> = const { Cell::new(None) };
}

/// The keys of a thread.
#[derive(Clone, Copy)]
struct Keys {
    /// SipHash under the key that the system gave.
    deriving: SipHash13,
    /// The number of keys so far.
    derived: u64,
    /// The number of forks when the system was asked.
    forks: usize,
}

impl Keys {
    #[cold]
    fn of_system(forks: usize) -> Self {
        let mut key = [0; KEY_LEN];
        getrandom::fill(&mut key).expect("the system gives random numbers for a key");
        Self { deriving: SipHash::new(&key), derived: 0, forks }
    }
}

impl<const C: usize, const D: usize> SipHash<C, D> {
    /// Makes the hash function of a new random key.
    ///
    /// The key is derived from one that the system gave the calling thread. Only the first call of
    /// a thread asks the system, and the first one after the process was forked. A child made
    /// without the C library's `fork`, by a bare `clone` system call, makes the same keys as its
    /// parent.
    ///
    /// ```
    /// use lanesum_siphash::SipHash24;
    ///
    /// let [one, other] = [SipHash24::random(), SipHash24::random()];
    /// assert_ne!(one.hash(b"lane"), other.hash(b"lane"));
    /// ```
    ///
    /// # Panics
    /// Panics if the system has no random numbers: on Linux before 3.17 without `/dev/urandom`.
    #[must_use]
    pub fn random() -> Self {
        let forks = forks();
        let known = KEYS.get().filter(|keys| keys.forks == forks);
        let keys = known.unwrap_or_else(|| Keys::of_system(forks));
        KEYS.set(Some(Keys { derived: keys.derived + 1, ..keys }));
        let key = keys.deriving.hash128(&keys.derived.to_le_bytes());
        Self::from_words(key as u64, (key >> 64) as u64)
    }
}

/// Makes the hash function of a new [random](SipHash::random) key.
impl<const C: usize, const D: usize> Default for SipHash<C, D> {
    fn default() -> Self {
        Self::random()
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
