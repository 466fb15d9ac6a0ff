//! Short slices, sorted by their numbers of words.
//!
//! Nothing may be read beyond the end of a slice. So the last bytes of each are loaded one by one.
//! This happens while the slices before are hashed, because a vector of values that were just
//! stored must wait for them. At the borders between two numbers of words all words are loaded by a
//! mask.

use core::marker::PhantomData;

use crate::fetch::fetch_line;
use crate::sorted::{CHUNK, SHORT, Sorted, item_of, length_of, place_of, words_of};
use crate::words::rest_of;
use crate::{MAX_LANES_64, Source, WORD_LEN, Word64};

/// Up to [`CHUNK`] short slices, sorted. Fast on backends that
/// [load by a mask](crate::Backend::loads_by_mask).
#[derive(Debug)]
pub struct ShortSlices<'a> {
    slices: [&'a [u8]; CHUNK],
    /// The slices. There are none while `slices` may differ from them.
    sorted: Sorted,
}

impl<'a> ShortSlices<'a> {
    /// Makes an empty value.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        Self { slices: [&[]; CHUNK], sorted: Sorted::new() }
    }

    /// Removes all slices, and returns `count` places for the next ones.
    ///
    /// # Panics
    /// Panics if `count` is more than [`CHUNK`].
    #[inline(always)]
    pub fn places(&mut self, count: usize) -> &mut [&'a [u8]] {
        self.sorted.clear();
        &mut self.slices[..count]
    }

    /// Sorts the slices in the first `count` places. Returns whether all of them are short, that
    /// is, have fewer than 128 bytes. If not, there are no slices afterwards.
    ///
    /// # Panics
    /// Panics if `count` is 0 or more than [`CHUNK`].
    #[inline(always)]
    #[must_use]
    pub fn sort<W: Word64>(&mut self, count: usize) -> bool {
        self.sorted.clear();
        let slices = &self.slices[..count];
        let items = &mut self.sorted.items[..count];
        let mut shortest = slices[0].len();
        let mut longest = shortest;
        for place in 0..count {
            let slice = slices[place];
            // The slices are read in a different order, and perhaps lie anywhere.
            fetch_line::<2>(slice.as_ptr());
            let length = slice.len();
            (shortest, longest) = (shortest.min(length), longest.max(length));
            items[place] = item_of(length as u32, place, 0);
        }
        if longest >= SHORT {
            return false;
        }
        self.sorted.sort::<W>(count, shortest as u32, longest as u32, true);
        true
    }

    /// Puts one slice into each of `W::LANES` lanes, starting with sorted slice `first`.
    ///
    /// # Panics
    /// Panics if there are fewer slices.
    #[inline(always)]
    pub fn put<W: Word64>(&self, first: usize, lanes: &mut SliceLanes<'a>) {
        let items = &self.sorted.all()[first..][..W::LANES];
        let (least, most) = (words_of(items[0]), words_of(items[W::LANES - 1]));
        // Nothing may be read until all starts are those of slices with so many words.
        lanes.width = 0;
        for lane in 0..W::LANES {
            let slice = self.slices[place_of(items[lane])];
            lanes.starts[lane] = slice.as_ptr();
            let rest = if least > 0 { rest_of(slice) } else { W::rest_of_any(slice) };
            lanes.lasts[lane] = rest | u64::from(length_of(items[lane])) << LENGTH_SHIFT;
        }
        (lanes.least, lanes.most, lanes.width) = (least, most, W::LANES);
    }

    /// Stores one value per slice, from sorted slice `first` on, at the place of the slice before
    /// sorting.
    ///
    /// # Panics
    /// Panics if there are fewer slices, or if `places` does not have one place per slice.
    #[inline(always)]
    pub fn scatter<T: Copy>(&self, first: usize, values: &[T], places: &mut [T]) {
        self.sorted.scatter(first, values, places);
    }
}

impl Default for ShortSlices<'_> {
    fn default() -> Self {
        Self::new()
    }
}

/// The position of the length of a slice, the highest byte of its last word.
const LENGTH_SHIFT: u32 = 56;

/// One short slice for each lane.
#[derive(Clone, Debug)]
pub struct SliceLanes<'a> {
    /// Each is valid for reads of its slice during `'a`, which has at least `least` whole words.
    starts: [*const u8; MAX_LANES_64],
    /// The last words: up to seven bytes, zeros, and the length as the highest byte.
    lasts: [u64; MAX_LANES_64],
    least: usize,
    most: usize,
    width: usize,
    slices: PhantomData<&'a [u8]>,
}

impl SliceLanes<'_> {
    /// Makes a value with empty slices.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        let starts = [[].as_ptr(); MAX_LANES_64];
        let lasts = [0; MAX_LANES_64];
        Self { starts, lasts, least: 0, most: 0, width: 0, slices: PhantomData }
    }

    /// Returns whether all slices have the same number of words.
    #[inline(always)]
    #[must_use]
    pub const fn are_even(&self) -> bool {
        self.least == self.most
    }

    /// Loads the last word of each slice: its bytes after the whole words, zeros, and its length as
    /// the highest byte.
    #[inline(always)]
    #[must_use]
    pub fn lasts<W: Word64>(&self) -> W {
        W::load(&self.lasts)
    }
}

impl Default for SliceLanes<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl Source for &SliceLanes<'_> {
    #[inline(always)]
    fn least(&self) -> usize {
        self.least
    }

    #[inline(always)]
    fn longest(&self) -> usize {
        WORD_LEN * self.most + (WORD_LEN - 1)
    }

    #[inline(always)]
    fn at<const M: usize>(&self, lane: usize, index: usize) -> &[u8; M] {
        const { assert!(M.is_multiple_of(WORD_LEN)) };
        assert!(index <= self.least && M / WORD_LEN <= self.least - index && lane < self.width);
        // SAFETY: every slice has `least` words, and these are among them.
        unsafe { &*self.starts[lane].add(WORD_LEN * index).cast() }
    }

    #[inline(always)]
    fn input(&self, lane: usize) -> &[u8] {
        let (start, length) = (self.starts[lane], self.lasts[lane] >> LENGTH_SHIFT);
        // SAFETY: the invariant of `starts`. The length is that of the slice.
        unsafe { core::slice::from_raw_parts(start, length as usize) }
    }

    #[inline(always)]
    fn lengths<W: Word64>(&self, first: usize) -> W {
        W::load(&self.lasts[first..]).shift_right(LENGTH_SHIFT)
    }
}
