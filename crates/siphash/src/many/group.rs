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

use lanesum_lanes::{
    Backend, Inputs, Kernel64, MAX_LANES_64, Source as _, WORD_LEN, Word64, Words, fetch,
};

use super::Output;
use super::batch::Batch;
use super::kernel::{absorb_ragged, hash_even};
use crate::round::State;

/// The largest difference in words between inputs that are hashed together in their order.
const SPREAD: usize = 3;

/// The same for few inputs, which would not fill buckets.
const SPREAD_OF_FEW: usize = 12;

/// Fewer inputs than this count as few.
const MANY: usize = 16 * MAX_LANES_64;

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

/// Fewer inputs than this are faster when hashed one by one.
const FEW: usize = 4;

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
struct Hash<'a, H, const C: usize, const D: usize> {
    start: State<u64>,
    words: Words<'a>,
    hashes: &'a mut [H],
}

impl<H: Output, const C: usize, const D: usize> Kernel64 for Hash<'_, H, C, D> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word64>(self) {
        let Self { start, words, hashes } = self;
        let start = State::<W>::splat(start);
        if words.least() == words.longest() / WORD_LEN {
            hash_even::<_, W, H, C, D>(start, &words, hashes);
        } else {
            let state = absorb_ragged::<_, W, C>(start, &words);
            H::finish::<W, D>(state, hashes);
        }
    }
}

/// Hashes batches of inputs.
pub(super) struct Grouping<const C: usize, const D: usize> {
    pub(super) start: State<u64>,
    pub(super) backend: Backend,
}

impl<const C: usize, const D: usize> Grouping<C, D> {
    /// Returns the largest number of lanes.
    fn width(&self) -> usize {
        let widths = self.backend.widths_64();
        widths[widths.len() - 1]
    }

    /// Returns the narrowest width that holds `lanes` lanes.
    fn width_for(&self, lanes: usize) -> usize {
        let widths = self.backend.widths_64();
        *widths.iter().find(|&&width| width >= lanes).unwrap_or(&widths[widths.len() - 1])
    }

    /// Stores the hash of each input of a batch at its place.
    pub(super) fn hash<'a, H: Output>(&self, batch: &impl Batch<'a>, hashes: &mut [H]) {
        let width = self.width();
        let spread = match self.backend.loads_by_mask() {
            true if hashes.len() < MANY => SPREAD_OF_FEW,
            true => SPREAD,
            false => 0,
        };
        let mut inputs = Inputs::new();
        let mut place = 0;
        while place < hashes.len() {
            let lanes = width.min(hashes.len() - place);
            for lane in 0..lanes {
                inputs.set(lane, batch.get(place + lane));
            }
            let width = self.width_for(lanes);
            let words = inputs.words(lanes, width);
            if words.longest() / WORD_LEN - words.least() > spread {
                return self.by_buckets(batch, hashes, place);
            }
            self.side_by_side(words, width, &mut hashes[place..][..lanes]);
            place += lanes;
        }
    }

    /// Stores the hash of the input of each lane at its place.
    #[inline]
    fn side_by_side<H: Output>(&self, words: Words<'_>, width: usize, hashes: &mut [H]) {
        let start = self.start;
        if hashes.len() == width {
            self.backend.run_64(width, Hash::<H, C, D> { start, words, hashes });
        } else {
            let mut all = [H::default(); MAX_LANES_64];
            self.backend.run_64(width, Hash::<H, C, D> { start, words, hashes: &mut all });
            hashes.copy_from_slice(&all[..hashes.len()]);
        }
    }

    /// Hashes the inputs from a place on with buckets.
    #[inline(never)]
    fn by_buckets<'a, H: Output>(&self, batch: &impl Batch<'a>, hashes: &mut [H], from: usize) {
        let width = self.width();
        let mut buckets = [const { Bucket::new() }; BUCKETS];
        for place in from..hashes.len() {
            let input = batch.get(place);
            // Other inputs are read before this one is hashed.
            fetch(&input[..input.len().min(FETCHED)]);
            let number = bucket_of(input.len());
            let bucket = &mut buckets[number];
            bucket.push(place);
            if bucket.count == width || number == BUCKETS - 1 {
                self.empty(bucket, batch, hashes);
            }
        }
        // The remaining inputs, from short to long.
        let mut last = Bucket::new();
        let mut shortest = 0;
        for bucket in &buckets {
            for &place in &bucket.places[..bucket.count] {
                let words = batch.get(place).len() / WORD_LEN;
                if last.count == width || words > 2 * shortest + EXACT {
                    self.empty(&mut last, batch, hashes);
                }
                if last.count == 0 {
                    shortest = words;
                }
                last.push(place);
            }
        }
        self.empty(&mut last, batch, hashes);
    }

    /// Hashes the inputs in a bucket.
    fn empty<'a, H: Output>(&self, bucket: &mut Bucket, batch: &impl Batch<'a>, hashes: &mut [H]) {
        let places = &bucket.places[..bucket.count];
        bucket.count = 0;
        let mut inputs = Inputs::new();
        if places.len() < FEW {
            for &place in places {
                inputs.set(0, batch.get(place));
                self.side_by_side(inputs.words(1, 1), 1, &mut hashes[place..=place]);
            }
            return;
        }
        for (lane, &place) in places.iter().enumerate() {
            inputs.set(lane, batch.get(place));
        }
        let width = self.width_for(places.len());
        let mut own = [H::default(); MAX_LANES_64];
        let own = &mut own[..places.len()];
        self.side_by_side(inputs.words(places.len(), width), width, own);
        for (&place, hash) in places.iter().zip(own) {
            hashes[place] = *hash;
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
