//! Hashes as numbers of 64 or 128 bits.

use lanesum_lanes::{MAX_LANES_64, ShortPieces, ShortSlices, Word64};

use super::Rounds;
use crate::one::join;
use crate::round::State;

/// A hash as a number: `u64`, or `u128` for hashes of 128 bits.
pub trait Output: Copy + Default + sealed::Output {}
impl Output for u64 {}
impl Output for u128 {}

mod sealed {
    use super::Hashes;

    pub trait Output: Sized {
        /// Whether hashes have 128 bits.
        const IS_WIDE: bool;

        /// Returns places for hashes.
        fn hashes(places: &mut [Self]) -> Hashes<'_>;
    }

    impl Output for u64 {
        const IS_WIDE: bool = false;

        #[inline]
        fn hashes(places: &mut [Self]) -> Hashes<'_> {
            Hashes::U64(places)
        }
    }

    impl Output for u128 {
        const IS_WIDE: bool = true;

        #[inline]
        fn hashes(places: &mut [Self]) -> Hashes<'_> {
            Hashes::U128(places)
        }
    }
}

/// Places for hashes of either width, so that kernels are compiled once for both.
#[derive(Debug)]
pub enum Hashes<'h> {
    U64(&'h mut [u64]),
    U128(&'h mut [u128]),
}

impl Hashes<'_> {
    #[inline(always)]
    pub(super) const fn len(&self) -> usize {
        match self {
            Self::U64(places) => places.len(),
            Self::U128(places) => places.len(),
        }
    }

    /// Returns whether the hashes have 128 bits.
    #[inline(always)]
    pub(super) const fn are_wide(&self) -> bool {
        matches!(self, Self::U128(_))
    }

    /// Returns `count` places from place `first` on.
    #[inline(always)]
    pub(super) fn range(&mut self, first: usize, count: usize) -> Hashes<'_> {
        match self {
            Self::U64(places) => Hashes::U64(&mut places[first..][..count]),
            Self::U128(places) => Hashes::U128(&mut places[first..][..count]),
        }
    }

    /// Stores the hash of a lane at a place.
    #[inline(always)]
    pub(super) fn put(&mut self, place: usize, found: &Found, lane: usize) {
        match self {
            Self::U64(places) => places[place] = found.low[lane],
            Self::U128(places) => places[place] = found.wide(lane),
        }
    }

    /// Stores the hashes of the first lanes at `count` places from place `first` on.
    #[inline(always)]
    pub(super) fn fill(&mut self, first: usize, count: usize, found: &Found) {
        match self {
            Self::U64(places) => {
                let places = &mut places[first..][..count];
                for lane in 0..count {
                    places[lane] = found.low[lane];
                }
            }
            Self::U128(places) => {
                let places = &mut places[first..][..count];
                for lane in 0..count {
                    places[lane] = found.wide(lane);
                }
            }
        }
    }
}

/// The hashes of all lanes: all bits, or the low halves and the high halves.
pub(super) struct Found {
    low: [u64; MAX_LANES_64],
    high: [u64; MAX_LANES_64],
}

impl Found {
    #[inline(always)]
    pub(super) const fn new() -> Self {
        Self { low: [0; MAX_LANES_64], high: [0; MAX_LANES_64] }
    }

    /// Computes the hashes after the last words.
    #[inline(always)]
    pub(super) fn finish<W: Word64>(&mut self, state: State<W>, rounds: Rounds, are_wide: bool) {
        if are_wide {
            let [low, high] = state.finish_wide(rounds.last);
            low.store(&mut self.low);
            high.store(&mut self.high);
        } else {
            state.finish(rounds.last).store(&mut self.low);
        }
    }

    #[inline(always)]
    fn wide(&self, lane: usize) -> u128 {
        join([self.low[lane], self.high[lane]])
    }

    #[inline(always)]
    fn all_wide(&self) -> [u128; MAX_LANES_64] {
        let mut all = [0; MAX_LANES_64];
        for lane in 0..MAX_LANES_64 {
            all[lane] = self.wide(lane);
        }
        all
    }
}

/// Sorted inputs whose hashes go to their places before sorting.
pub(super) trait Scatter {
    /// Stores the hashes of the first `lanes` lanes, which are those of the inputs from `first` on.
    fn scatter_hashes(&self, first: usize, lanes: usize, found: &Found, hashes: &mut Hashes<'_>);
}

macro_rules! scatter {
    ($($sorted:ty)*) => {
        $(impl Scatter for $sorted {
            #[inline(always)]
            fn scatter_hashes(
                &self,
                first: usize,
                lanes: usize,
                found: &Found,
                hashes: &mut Hashes<'_>,
            ) {
                match hashes {
                    Hashes::U64(places) => self.scatter(first, &found.low[..lanes], places),
                    Hashes::U128(places) => {
                        self.scatter(first, &found.all_wide()[..lanes], places);
                    }
                }
            }
        })*
    };
}
scatter! { ShortPieces<'_> ShortSlices<'_> }
