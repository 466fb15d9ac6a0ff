//! Groups inputs of any lengths for the lanes.
//!
//! ```text
//! while the next inputs, one per lane, have about the same number of words:
//!   hash them in parallel
//! for each remaining input:
//!   put it into the bucket for its number of words
//!   if the bucket is full (one input per lane), hash and empty it
//! at the end, bucket by bucket:
//!   hash the remaining inputs in parallel, but none together with one that is twice as long
//! ```
//!
//! The longest input of a group decides how long the group takes. Up to a difference of [`SPREAD`]
//! words, the idle lanes cost less than a bucket would. Without loads by a mask, inputs with
//! different numbers of words must be loaded one by one, so no difference pays.

use lanesum_lanes::{Inputs, Kernel64, MAX_LANES_64, Source as _, WORD_LEN, Word64, Words, fetch};

use super::batch::Batch;
use super::hashes::{Found, Hashes};
use super::kernel::{absorb_even, absorb_ragged};
use super::{FEW, Function, MANY};
use crate::round::State;

/// The largest difference in words between inputs that are hashed together in their order.
const SPREAD: usize = 3;

/// The same for few inputs, which would not fill buckets.
const SPREAD_OF_FEW: usize = 12;

/// Each number of words below this has its own bucket.
const EXACT: usize = 16;

/// The number of powers of two from [`EXACT`] on that have four buckets each. They reach up to 8
/// MiB.
const POWERS: usize = 16;

/// The number of buckets. The last one is for all longer inputs, which are hashed alone.
const BUCKETS: usize = EXACT + 4 * POWERS + 1;

/// The number of bytes at the start of an input in a bucket that are prefetched. The CPU itself
/// prefetches the following bytes.
const FETCHED: usize = 1 << 10;

/// Fewer inputs of different lengths than there are lanes are faster when hashed one by one, if
/// none has as many bytes as this.
const SHORT: usize = 128;

/// Returns the bucket for inputs of `length` bytes.
#[inline(always)]
fn bucket_of(length: usize) -> usize {
    let words = length / WORD_LEN;
    if words < EXACT {
        return words;
    }
    // Selected by the leading bit and the two bits after it.
    let power = words.ilog2();
    let bucket = EXACT + 4 * (power - EXACT.ilog2()) as usize + (words >> (power - 2) & 3);
    bucket.min(BUCKETS - 1)
}

/// Hashes the inputs of all lanes of a width.
struct Hash<'a> {
    function: Function,
    words: Words<'a>,
    are_wide: bool,
    found: &'a mut Found,
}

impl Kernel64 for Hash<'_> {
    type Output = ();

    /// All numbers of lanes but one.
    const WIDTHS: [u128; 4] = [!(1 << 1); 4];

    #[inline(always)]
    fn run<W: Word64>(self) {
        let Self { function: Function { start, rounds, .. }, words, are_wide, found } = self;
        let start = State::<W>::splat(start);
        let state = if words.least() == words.longest() / WORD_LEN {
            absorb_even(start, rounds, &words)
        } else {
            absorb_ragged(start, rounds, &words)
        };
        found.finish(state, rounds, are_wide);
    }
}

/// Hashes a batch of inputs.
pub(super) struct Grouping<'b, 'a> {
    pub(super) function: Function,
    pub(super) batch: Batch<'b, 'a>,
    /// Whether short inputs of different lengths will be sorted.
    pub(super) sorts: bool,
}

impl Grouping<'_, '_> {
    /// Returns the largest number of lanes.
    fn width(&self) -> usize {
        let widths = self.function.backend.widths_64();
        widths[widths.len() - 1]
    }

    /// Returns the narrowest width of several lanes that holds `lanes` lanes.
    fn width_for(&self, lanes: usize) -> usize {
        let widths = &self.function.backend.widths_64()[1..];
        *widths.iter().find(|&&width| width >= lanes).unwrap_or(&widths[widths.len() - 1])
    }

    /// Stores the hash of each input at its place.
    pub(super) fn hash(&self, hashes: &mut Hashes<'_>) {
        let done = self.hash_in_order(hashes);
        self.hash_by_buckets(done, hashes);
    }

    /// Stores the hashes of the first inputs, as long as the inputs of all lanes have about the
    /// same number of words. Returns their number.
    pub(super) fn hash_in_order(&self, hashes: &mut Hashes<'_>) -> usize {
        let width = self.width();
        let spread = match self.function.backend.loads_by_mask() {
            true if hashes.len() < MANY => SPREAD_OF_FEW,
            true if !self.sorts => SPREAD,
            _ => 0,
        };
        let (mut inputs, mut found) = (Inputs::new(), Found::new());
        let mut place = 0;
        while place < hashes.len() {
            let lanes = width.min(hashes.len() - place);
            self.batch.fill(place, lanes, &mut inputs);
            let width = self.width_for(lanes);
            let words = inputs.words(lanes, width);
            if words.longest() / WORD_LEN - words.least() > spread {
                return place;
            }
            self.side_by_side(words, width, hashes.are_wide(), &mut found);
            hashes.fill(place, lanes, &found);
            place += lanes;
        }
        place
    }

    /// Computes the hash of the input of each lane.
    #[inline]
    fn side_by_side(&self, words: Words<'_>, width: usize, are_wide: bool, found: &mut Found) {
        let function = self.function;
        function.backend.run_64(width, Hash { function, words, are_wide, found });
    }

    /// Stores the hash of each input from a place on, with buckets.
    pub(super) fn hash_by_buckets(&self, from: usize, hashes: &mut Hashes<'_>) {
        let all = from..hashes.len();
        if all.len() < self.width() && all.clone().all(|place| self.is_short(place)) {
            return self.hash_one_by_one(all, hashes);
        }
        let width = self.width();
        let mut buckets = [const { Bucket::new() }; BUCKETS];
        let mut next = Inputs::new();
        for place in all {
            let lane = (place - from) % MAX_LANES_64;
            if lane == 0 {
                self.batch.fill(place, MAX_LANES_64.min(hashes.len() - place), &mut next);
            }
            let input = next.get(lane);
            // Other inputs are read before this one is hashed.
            fetch(&input[..input.len().min(FETCHED)]);
            let number = bucket_of(input.len());
            let bucket = &mut buckets[number];
            bucket.push(place);
            if bucket.count == width || number == BUCKETS - 1 {
                self.empty(bucket, hashes);
            }
        }
        // The remaining inputs, from short to long.
        let mut last = Bucket::new();
        let mut shortest = 0;
        for bucket in &buckets {
            for &place in &bucket.places[..bucket.count] {
                let words = self.batch.get(place).len() / WORD_LEN;
                if last.count == width || words > 2 * shortest + EXACT {
                    self.empty(&mut last, hashes);
                }
                if last.count == 0 {
                    shortest = words;
                }
                last.push(place);
            }
        }
        self.empty(&mut last, hashes);
    }

    /// Returns whether the input at a place is short.
    fn is_short(&self, place: usize) -> bool {
        self.batch.get(place).len() < SHORT
    }

    /// Hashes inputs one by one.
    fn hash_one_by_one(&self, places: impl Iterator<Item = usize>, hashes: &mut Hashes<'_>) {
        for place in places {
            self.function.hash_one(self.batch.get(place), place, hashes);
        }
    }

    /// Hashes the inputs in a bucket.
    fn empty(&self, bucket: &mut Bucket, hashes: &mut Hashes<'_>) {
        let places = &bucket.places[..bucket.count];
        bucket.count = 0;
        let (mut inputs, mut found) = (Inputs::new(), Found::new());
        let are_wide = hashes.are_wide();
        if places.len() < FEW {
            return self.hash_one_by_one(places.iter().copied(), hashes);
        }
        self.batch.gather(places, &mut inputs);
        let width = self.width_for(places.len());
        self.side_by_side(inputs.words(places.len(), width), width, are_wide, &mut found);
        for (lane, &place) in places.iter().enumerate() {
            hashes.put(place, &found, lane);
        }
    }
}

/// Inputs to be hashed together.
struct Bucket {
    /// The places of the inputs in the batch.
    places: [usize; MAX_LANES_64],
    count: usize,
}

impl Bucket {
    const fn new() -> Self {
        Self { places: [0; MAX_LANES_64], count: 0 }
    }

    #[inline(always)]
    fn push(&mut self, place: usize) {
        self.places[self.count] = place;
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_rise_with_the_number_of_words() {
        let mut first_of_bucket = 0;
        for words in 0..1_usize << 16 {
            let bucket = bucket_of(WORD_LEN * words);
            assert_eq!(bucket, bucket_of(WORD_LEN * words + 7));
            let before = bucket_of(WORD_LEN * words.saturating_sub(1));
            assert!(bucket == before || bucket == before + 1, "{words} words");
            if bucket != before {
                first_of_bucket = words;
            }
            assert!(words < EXACT || 4 * words < 5 * first_of_bucket, "{words} words");
            assert!(words >= EXACT || bucket == words, "{words} words");
        }
        assert_eq!(bucket_of((8 << 20) - 1), BUCKETS - 2);
        assert_eq!(bucket_of(8 << 20), BUCKETS - 1);
        assert_eq!(bucket_of(usize::MAX), BUCKETS - 1);
    }
}
