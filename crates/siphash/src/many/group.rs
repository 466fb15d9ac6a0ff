//! Inputs of any lengths: which of them go side by side.
//!
//! ```text
//! for each as many inputs as there are lanes, in their order:
//!   if they have about the same number of words: hash them side by side
//!   else put each into the bucket for its number of words;
//!        a bucket that is full (as many as there are lanes) is hashed and emptied
//! in the end, bucket by bucket:
//!   hash what is left side by side, as many as there are lanes
//! ```
//!
//! Side by side, the longest decides how long it takes. What lanes with shorter inputs lose is less,
//! up to [`SPREAD`] words, than the way through a bucket costs. (Where words cannot be loaded by a
//! mask, inputs of another number of words have to be loaded one by one, and no spread pays.)

use lanesum_lanes::{
    Backend, Inputs, Kernel64, MAX_LANES_64, Source as _, WORD_LEN, Word64, Words,
};

use super::Output;
use super::batch::Batch;
use super::kernel::{hash_even, hash_ragged};
use crate::round::State;

/// The number of words by which inputs that are taken side by side in their order may differ.
const SPREAD: usize = 3;

/// The same where there are few inputs, so that buckets would not be filled.
const SPREAD_OF_FEW: usize = 12;

/// Fewer inputs than this are few.
const MANY: usize = 16 * MAX_LANES_64;

/// Numbers of words below this have a bucket each.
const EXACT: usize = 16;

/// Buckets: one for each number below [`EXACT`], four for each power of two above.
const BUCKETS: usize = EXACT + 4 * 16;

/// The bucket for inputs of so many bytes.
#[inline(always)]
fn bucket_of(length: usize) -> usize {
    let words = length / WORD_LEN;
    if words < EXACT {
        return words;
    }
    // By the leading bit and the two after it.
    let power = words.ilog2();
    (EXACT + 4 * (power - EXACT.ilog2()) as usize + (words >> (power - 2) & 3)).min(BUCKETS - 1)
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
            hash_ragged::<_, W, H, C, D>(start, &words, hashes);
        }
    }
}

/// Hashes batches of inputs.
pub(super) struct Grouping<const C: usize, const D: usize> {
    pub(super) start: State<u64>,
    pub(super) backend: Backend,
}

impl<const C: usize, const D: usize> Grouping<C, D> {
    /// The most lanes there are.
    fn width(&self) -> usize {
        let widths = self.backend.widths_64();
        widths[widths.len() - 1]
    }

    /// Puts the hash of each input of a batch into its place.
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
            let words = inputs.words(lanes, width);
            if words.longest() / WORD_LEN - words.least() > spread {
                return self.by_buckets(batch, hashes, place);
            }
            self.side_by_side(words, &mut hashes[place..][..lanes]);
            place += lanes;
        }
    }

    /// Puts the hash of each lane's input into its place.
    #[inline]
    fn side_by_side<H: Output>(&self, words: Words<'_>, hashes: &mut [H]) {
        let (start, width) = (self.start, self.width());
        if hashes.len() == width {
            self.backend.run_64(width, Hash::<H, C, D> { start, words, hashes });
        } else {
            let mut all = [H::default(); MAX_LANES_64];
            self.backend.run_64(width, Hash::<H, C, D> { start, words, hashes: &mut all });
            hashes.copy_from_slice(&all[..hashes.len()]);
        }
    }

    /// The same from a place on, by way of buckets.
    #[inline(never)]
    fn by_buckets<'a, H: Output>(&self, batch: &impl Batch<'a>, hashes: &mut [H], from: usize) {
        let width = self.width();
        let mut buckets = [const { Bucket::new() }; BUCKETS];
        for place in from..hashes.len() {
            let bucket = &mut buckets[bucket_of(batch.get(place).len())];
            bucket.push(place);
            if bucket.count == width {
                self.empty(bucket, batch, hashes);
            }
        }
        // What is left, from short to long.
        let mut last = Bucket::new();
        for bucket in &buckets {
            for &place in &bucket.places[..bucket.count] {
                last.push(place);
                if last.count == width {
                    self.empty(&mut last, batch, hashes);
                }
            }
        }
        if last.count > 0 {
            self.empty(&mut last, batch, hashes);
        }
    }

    /// Hashes the inputs in a bucket.
    fn empty<'a, H: Output>(&self, bucket: &mut Bucket, batch: &impl Batch<'a>, hashes: &mut [H]) {
        let places = &bucket.places[..bucket.count];
        let mut inputs = Inputs::new();
        for (lane, &place) in places.iter().enumerate() {
            inputs.set(lane, batch.get(place));
        }
        let mut own = [H::default(); MAX_LANES_64];
        let own = &mut own[..places.len()];
        self.side_by_side(inputs.words(places.len(), self.width()), own);
        for (&place, hash) in places.iter().zip(own) {
            hashes[place] = *hash;
        }
        bucket.count = 0;
    }
}

/// Inputs that are to be hashed side by side.
struct Bucket {
    /// Their places in the batch.
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
