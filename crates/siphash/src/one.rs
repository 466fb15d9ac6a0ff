//! Hashes one input at a time.

use core::fmt;

use crate::round::State;
use crate::words::{EIGHT_BYTES, words};
use crate::{SipHasher, SipHasher128};

/// The number of bytes in a key.
pub const KEY_LEN: usize = 16;

/// SipHash with `C` rounds per word and `D` final rounds, under one key.
///
/// The constructor does the work that depends only on the key. The type is `Copy` and takes 32
/// bytes. It is a [`BuildHasher`](core::hash::BuildHasher) for hash tables with this key.
///
/// ```
/// use lanesum_siphash::SipHash24;
///
/// let key: [u8; 16] = std::array::from_fn(|i| i as u8);
/// let sip = SipHash24::new(&key);
/// let input: [u8; 15] = std::array::from_fn(|i| i as u8);
/// assert_eq!(sip.hash(&input), 0xa129_ca61_49be_45e5); // appendix A of the paper
/// ```
#[derive(Clone, Copy)]
pub struct SipHash<const C: usize, const D: usize>(pub(crate) State<u64>);

/// SipHash-1-3, for hash tables. Rust and Python use it for theirs.
pub type SipHash13 = SipHash<1, 3>;
/// SipHash-2-4, which the paper proposes for hash tables and for authentication.
pub type SipHash24 = SipHash<2, 4>;
/// SipHash-4-8, the conservative choice of the paper.
pub type SipHash48 = SipHash<4, 8>;

impl<const C: usize, const D: usize> SipHash<C, D> {
    /// Makes the hash function of a key of 16 bytes, read as two little-endian words.
    #[must_use]
    pub const fn new(key: &[u8; KEY_LEN]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = *key;
        Self::from_words(
            u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            u64::from_le_bytes([i, j, k, l, m, n, o, p]),
        )
    }

    /// Makes the hash function of a key given as its two words k0 and k1.
    #[must_use]
    pub const fn from_words(k0: u64, k1: u64) -> Self {
        const { assert!(C > 0, "SipHash needs a round for each word") };
        const { assert!(D > 0, "SipHash needs a round in the end") };
        Self(State::new(k0, k1))
    }

    /// Returns the 64-bit hash of an input. `to_le_bytes` gives its bytes in the order of the
    /// reference implementation.
    #[inline(always)]
    #[must_use]
    pub fn hash(&self, input: &[u8]) -> u64 {
        absorb_all(C, self.0, input).finish(D)
    }

    /// Returns the 128-bit hash of an input. It is a different function of the same key, not an
    /// extension of [`hash`](Self::hash). `to_le_bytes` gives its bytes in the order of the
    /// reference implementation.
    #[inline]
    #[must_use]
    pub fn hash128(&self, input: &[u8]) -> u128 {
        join(absorb_all(C, self.0.wide(), input).finish_wide(D))
    }

    /// Returns the hash of the eight little-endian bytes of a number,
    /// `hash(&number.to_le_bytes())`.
    #[inline]
    #[must_use]
    pub fn hash_u64(&self, number: u64) -> u64 {
        self.0.absorb(C, number).absorb(C, EIGHT_BYTES).finish(D)
    }

    /// Makes a hasher for an input that arrives in pieces.
    #[inline]
    #[must_use]
    pub const fn hasher(&self) -> SipHasher<C, D> {
        SipHasher::of(self.0)
    }

    /// Makes a hasher for a 128-bit hash of an input that arrives in pieces.
    #[inline]
    #[must_use]
    pub const fn hasher128(&self) -> SipHasher128<C, D> {
        SipHasher128::of(self.0.wide())
    }
}

/// Returns the state after all words of an input.
#[inline(always)]
fn absorb_all(rounds: usize, state: State<u64>, input: &[u8]) -> State<u64> {
    let (words, last) = words(input);
    state.absorb_all(rounds, words, last)
}

/// Makes a hash of 128 bits from its two words.
#[inline(always)]
pub(crate) fn join([low, high]: [u64; 2]) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

/// Does not show the key.
impl<const C: usize, const D: usize> fmt::Debug for SipHash<C, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SipHash<{C}, {D}>")
    }
}
