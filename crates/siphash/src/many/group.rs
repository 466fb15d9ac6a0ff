//! Which inputs go side by side.

use lanesum_lanes::{Backend, Inputs, MAX_LANES_64, WORD_LEN};

use super::Output;
use super::kernel::Hash;
use crate::SipHash;
use crate::round::State;

/// Numbers of words below this have a bucket each.
const EXACT: usize = 16;

/// Buckets: one for each number below [`EXACT`], four for each power of two above.
const BUCKETS: usize = EXACT + 1;

/// The bucket for an input of so many bytes.
#[inline(always)]
fn bucket_of(length: u64) -> usize {
    let words = length as usize / WORD_LEN;
    words.min(EXACT)
}

pub(super) struct Hashing<'s, H, const C: usize, const D: usize> {
    pub(super) sip: SipHash<C, D>,
    pub(super) start: State<u64>,
    pub(super) backend: Backend,
    pub(super) hashes: &'s mut [H],
}

impl<H: Output, const C: usize, const D: usize> Hashing<'_, H, C, D> {
    /// The hashes of inputs, which are given by their place.
    #[inline(always)]
    pub(super) fn all<'a>(&mut self, input: impl Fn(usize) -> &'a [u8]) {
        let width = self.widest();
        let mut inputs = Inputs::new();
        let mut place = 0;
        while place < self.hashes.len() {
            let lanes = width.min(self.hashes.len() - place);
            for lane in 0..lanes {
                inputs.set(lane, input(place + lane));
            }
            let Some(words) = inputs.words(lanes) else { return self.mixed(input, place) };
            let hashes = &mut self.hashes[place..][..lanes];
            if lanes == width {
                let kernel = Hash::<H, C, D> { start: self.start, words, hashes };
                self.backend.run_64(width, kernel);
            } else {
                let mut all = [H::default(); MAX_LANES_64];
                let kernel = Hash::<H, C, D> { start: self.start, words, hashes: &mut all };
                self.backend.run_64(width, kernel);
                hashes.copy_from_slice(&all[..lanes]);
            }
            place += lanes;
        }
    }

    fn widest(&self) -> usize {
        let widths = self.backend.widths_64();
        widths[widths.len() - 1]
    }

    #[inline(never)]
    fn mixed<'a>(&mut self, input: impl Fn(usize) -> &'a [u8], mut place: usize) {
        let width = self.widest();
        let mut buckets = [const { Inputs::new() }; BUCKETS];
        let mut places = [[0; MAX_LANES_64]; BUCKETS];
        let mut filled = [0; BUCKETS];
        while place < self.hashes.len() {
            let input = input(place);
            let bucket = bucket_of(input.len() as u64);
            let lane = filled[bucket];
            buckets[bucket].set(lane, input);
            places[bucket][lane] = place;
            filled[bucket] = lane + 1;
            if lane + 1 == width {
                filled[bucket] = 0;
                self.scatter(&mut buckets[bucket], &places[bucket][..width]);
            }
            place += 1;
        }
        for ((inputs, places), filled) in buckets.iter_mut().zip(&places).zip(filled) {
            if filled > 0 {
                self.scatter(inputs, &places[..filled]);
            }
        }
    }

    #[inline(never)]
    fn scatter(&mut self, inputs: &mut Inputs<'_>, places: &[usize]) {
        let lanes = places.len();
        let mut hashes = [H::default(); MAX_LANES_64];
        if let Some(words) = inputs.words(lanes) {
            let kernel = Hash::<H, C, D> { start: self.start, words, hashes: &mut hashes };
            self.backend.run_64(self.widest(), kernel);
            for (&place, hash) in places.iter().zip(hashes) {
                self.hashes[place] = hash;
            }
        } else {
            for (lane, &place) in places.iter().enumerate() {
                self.hashes[place] = H::one(&self.sip, inputs.get(lane));
            }
        }
    }
}
