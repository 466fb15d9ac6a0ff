//! Sorts short inputs by their numbers of words.
//!
//! ```text
//! for each input of a chunk
//!   item <- its length (7 bits), its place in the chunk (9), where it starts (16)
//! for each number of words, from the shortest input's to the longest's
//!   append the items of that length                          (`Word64::pick`)
//! ```
//!
//! Without masks more than a few picks take longer than to count the items of each number of words
//! first, and then to put each behind those with fewer words. Every fourth input has counts of its
//! own, because a count that was just stored is not loaded again before five cycles.
//!
//! Hot loops count places instead of using iterators. Without link-time optimisation the compiler
//! may leave functions of an iterator as calls.

use crate::opaque::opaque;
use crate::{PICK_ROOM, WORD_LEN, Word64};

/// The largest number of inputs that are sorted together, a multiple of three registers of any
/// width.
pub const CHUNK: usize = 480;

/// Inputs with fewer bytes are short.
pub(crate) const SHORT: usize = 128;

/// The bit positions of the parts of an item. The highest bits hold the number of whole words.
const LENGTH_SHIFT: u32 = 25;
const PLACE_SHIFT: u32 = 16;
const WORDS_SHIFT: u32 = LENGTH_SHIFT + WORD_LEN.ilog2();
const PLACES: usize = 1 << (LENGTH_SHIFT - PLACE_SHIFT);

const _: () = assert!(CHUNK <= PLACES && SHORT <= 1 << (u32::BITS - LENGTH_SHIFT));
const _: () = assert!(CHUNK * SHORT <= 1 << PLACE_SHIFT);

/// Returns the item of an input. The length is short, the place is below [`CHUNK`], and the start
/// below 2^16.
#[inline(always)]
pub(crate) const fn item_of(length: u32, place: usize, start: u32) -> u32 {
    length << LENGTH_SHIFT | (place as u32) << PLACE_SHIFT | start
}

#[inline(always)]
pub(crate) const fn length_of(item: u32) -> u32 {
    item >> LENGTH_SHIFT
}

/// Returns the number of whole words.
#[inline(always)]
pub(crate) const fn words_of(item: u32) -> usize {
    (item >> WORDS_SHIFT) as usize
}

#[inline(always)]
pub(crate) const fn place_of(item: u32) -> usize {
    (item >> PLACE_SHIFT) as usize % PLACES
}

#[inline(always)]
pub(crate) const fn start_of(item: u32) -> usize {
    item as u16 as usize
}

/// The largest number of picks without masks.
const PICKS: u32 = 4;

/// The numbers of counts for each number of words, and of all counts.
const STREAMS: usize = 4;
const COUNTS: usize = STREAMS * SHORT / WORD_LEN;

/// Returns the place of the count of an item.
#[inline(always)]
const fn count_of(item: u32) -> usize {
    words_of(item) * STREAMS + place_of(item) % STREAMS
}

/// The items of up to [`CHUNK`] short inputs, and the same ones sorted.
#[derive(Debug)]
pub(crate) struct Sorted {
    pub(crate) items: [u32; CHUNK],
    sorted: [u32; CHUNK + PICK_ROOM],
    count: usize,
}

impl Sorted {
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Self { items: [0; CHUNK], sorted: [0; CHUNK + PICK_ROOM], count: 0 }
    }

    /// Removes all inputs.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    /// Sorts the first `count` items by picks with a mask, or as is fastest without. The shortest
    /// and the longest input have so many bytes.
    #[inline(always)]
    pub(crate) fn sort<W: Word64>(
        &mut self,
        count: usize,
        shortest: u32,
        longest: u32,
        by_mask: bool,
    ) {
        let (least, most) = (shortest / WORD_LEN as u32, longest / WORD_LEN as u32);
        if !by_mask && most - least >= PICKS {
            return self.sort_by_counts(count);
        }
        self.count = 0;
        for words in least..=most {
            let range = words << WORDS_SHIFT..=(words << WORDS_SHIFT | ((1 << WORDS_SHIFT) - 1));
            self.count += W::pick(&self.items[..count], range, &mut self.sorted[self.count..]);
        }
    }

    #[inline(always)]
    fn sort_by_counts(&mut self, count: usize) {
        let items = &self.items[..count];
        let mut counts = [0_u32; COUNTS];
        for place in 0..count {
            counts[count_of(items[place])] += 1;
        }
        let mut ends = [0_u32; COUNTS];
        for number in 1..COUNTS {
            ends[number] = ends[number - 1] + counts[number - 1];
        }
        for place in 0..count {
            let end = &mut ends[count_of(items[place])];
            self.sorted[*end as usize] = items[place];
            *end += 1;
        }
        self.count = count;
    }

    /// Returns the sorted items.
    #[inline(always)]
    pub(crate) fn all(&self) -> &[u32] {
        &self.sorted[..self.count]
    }

    /// Stores one value per input, from sorted input `first` on, at its place before sorting.
    ///
    /// # Panics
    /// Panics if there are fewer inputs, or if `places` does not have one place per input.
    #[inline(always)]
    pub(crate) fn scatter<T: Copy>(&self, first: usize, values: &[T], places: &mut [T]) {
        assert!(places.len() == self.count);
        let items = &self.all()[first..][..values.len()];
        let values = opaque(values);
        for lane in 0..items.len() {
            // In order, so that the compiler does not compute the places in a vector and extract
            // them.
            let place = (place_of(items[lane]) as u64).in_order() as usize;
            // SAFETY: the places of the inputs are numbered from 0 on, and `places` has as many.
            unsafe { *places.get_unchecked_mut(place) = values[lane] };
        }
    }
}
