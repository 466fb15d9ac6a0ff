//! Sorts short pieces of a buffer by their numbers of words.
//!
//! ```text
//! for each piece of a chunk
//!   item <- its length (7 bits), its place in the chunk (9), its distance from the first piece (16)
//! for each number of words, from the shortest piece's to the longest's
//!   append the items of that length                          (`Word64::pick`)
//! ```
//!
//! All lanes then have pieces of the same number of words, except at the borders between two
//! numbers. Since the pieces lie in one buffer, the bytes after a piece may be read as well. So all
//! lanes load whole words and ignore where each piece ends.
//!
//! Sorted pieces are read in an order that the CPU cannot predict. So while the pieces of a chunk
//! are hashed, the next chunk is prefetched. With these hints a column of a million strings of 1 to
//! 64 bytes takes less than half of the time.

use crate::fetch::{LINE, fetch_line};
use crate::opaque::opaque;
use crate::{MAX_LANES_64, Offset, PICK_ROOM, Source, WORD_LEN, Word64};

/// The largest number of pieces that are sorted together, a multiple of three registers of any
/// width.
pub const CHUNK: usize = 480;

/// Pieces with fewer bytes are short.
const SHORT: usize = 128;

/// The bit positions of the parts of an item. The highest bits hold the number of whole words.
const LENGTH_SHIFT: u32 = 25;
const PLACE_SHIFT: u32 = 16;
const WORDS_SHIFT: u32 = LENGTH_SHIFT + WORD_LEN.ilog2();
const PLACES: usize = 1 << (LENGTH_SHIFT - PLACE_SHIFT);

const _: () = assert!(CHUNK <= PLACES && SHORT <= 1 << (u32::BITS - LENGTH_SHIFT));
const _: () = assert!(CHUNK * SHORT <= 1 << PLACE_SHIFT);

/// Up to [`CHUNK`] short pieces, sorted.
#[derive(Debug)]
pub struct ShortPieces<'a> {
    /// The buffer from the first piece on.
    bytes: &'a [u8],
    /// The number of bytes from the start of each piece to the end of the buffer.
    readable: usize,
    /// Positions for prefetching, in and beyond `bytes`: the first one without a hint, the end of
    /// the hints, and the number of bytes to add to the end at a time.
    unfetched: usize,
    fetched: usize,
    step: usize,
    items: [u32; CHUNK],
    /// The sorted items. The pieces of the first `count` items lie within `bytes`.
    sorted: [u32; CHUNK + PICK_ROOM],
    count: usize,
}

impl<'a> ShortPieces<'a> {
    /// Makes an empty value.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        let (items, sorted) = ([0; CHUNK], [0; CHUNK + PICK_ROOM]);
        let [unfetched, fetched, step] = [0; 3];
        Self { bytes: &[], readable: 0, unfetched, fetched, step, items, sorted, count: 0 }
    }

    /// Replaces the pieces by those from `offsets[i]` to `offsets[i + 1]`. Returns whether the
    /// offsets are valid and all pieces are short, that is, have fewer than 128 bytes. If not,
    /// there are no pieces afterwards.
    ///
    /// # Panics
    /// Panics if there are no pieces, or more than [`CHUNK`].
    #[inline(always)]
    #[must_use]
    pub fn sort<W: Word64, O: Offset>(&mut self, buffer: &'a [u8], offsets: &[O]) -> bool {
        self.count = 0;
        let items = &mut self.items[..offsets.len() - 1];
        let [first, last] = [offsets[0], offsets[items.len()]];
        let (start, end) = (first.to_u64(), last.to_u64());
        if start > end || end > buffer.len() as u64 || end - start > (CHUNK * SHORT) as u64 {
            return false;
        }
        let mut shortest = first.distance_to(offsets[1]);
        let mut longest = shortest;
        let ends = offsets.iter().zip(&offsets[1..]);
        for (place, (item, (&start, &end))) in items.iter_mut().zip(ends).enumerate() {
            let length = start.distance_to(end);
            (shortest, longest) = (shortest.min(length), longest.max(length));
            let [length, from] = [length, first.distance_to(start)].map(|d| d.into() as u32);
            *item = length << LENGTH_SHIFT | (place as u32) << PLACE_SHIFT | from;
        }
        let (shortest, longest) = (shortest.into(), longest.into());
        // A falling offset gives a length that is not short. The lengths add up to `end - start`
        // modulo the width. If all are short, there are too few of them to wrap around.
        if longest >= SHORT as u64 {
            return false;
        }
        self.bytes = &buffer[start as usize..];
        self.readable = buffer.len() - offsets[items.len() - 1].to_u64() as usize;
        self.unfetched = (end - start) as usize;
        self.fetched = self.unfetched;
        self.step = self.unfetched / items.len().div_ceil(W::LANES);
        for words in shortest as u32 / WORD_LEN as u32..=longest as u32 / WORD_LEN as u32 {
            let range = words << WORDS_SHIFT..=(words << WORDS_SHIFT | ((1 << WORDS_SHIFT) - 1));
            self.count += W::pick(items, range, &mut self.sorted[self.count..]);
        }
        true
    }

    /// Prefetches bytes after the pieces. Called once per group of lanes, it has prefetched as many
    /// bytes as the pieces have after the last call.
    #[inline(always)]
    pub fn fetch_behind(&mut self) {
        self.fetched += self.step;
        while self.unfetched < self.fetched {
            fetch_line::<1>(self.bytes.as_ptr().wrapping_add(self.unfetched));
            self.unfetched += LINE;
        }
    }

    /// Stores one value per piece, from sorted piece `first` on, at the place of the piece before
    /// sorting.
    ///
    /// # Panics
    /// Panics if there are fewer pieces, or if `places` does not have one place per piece.
    #[inline(always)]
    pub fn scatter<T: Copy>(&self, first: usize, values: &[T], places: &mut [T]) {
        assert!(places.len() == self.count);
        let items = &self.sorted[..self.count][first..][..values.len()];
        for (item, value) in items.iter().zip(opaque(values)) {
            // In order, so that the compiler does not compute the places in a vector and extract
            // them.
            let place = (u64::from(item >> PLACE_SHIFT) % PLACES as u64).in_order() as usize;
            // SAFETY: `sort` numbered the places of the pieces from 0 on, and `places` has as many.
            unsafe { *places.get_unchecked_mut(place) = *value };
        }
    }

    /// Returns one piece for each of `width` lanes, starting with sorted piece `first`.
    ///
    /// # Panics
    /// Panics if there are fewer pieces.
    #[inline(always)]
    #[must_use]
    pub fn lanes(&self, first: usize, width: usize) -> ShortLanes<'_> {
        let items = &self.sorted[..self.count][first..][..width];
        let [least, most] = [items[0], items[width - 1]].map(|item| (item >> WORDS_SHIFT) as usize);
        let mut readable = self.readable;
        if readable < WORD_LEN * (most + 2) {
            // Some of these pieces may lie before the ones near the end of the buffer.
            let furthest = items.iter().fold(0, |furthest, item| (*item as u16).max(furthest));
            readable = self.bytes.len() - usize::from(furthest);
        }
        ShortLanes { bytes: self.bytes, items, least, most, readable }
    }
}

impl Default for ShortPieces<'_> {
    fn default() -> Self {
        Self::new()
    }
}

/// One short piece for each lane.
#[derive(Clone, Copy, Debug)]
pub struct ShortLanes<'s> {
    bytes: &'s [u8],
    /// Each piece starts at least `readable` bytes before the end of `bytes`.
    items: &'s [u32],
    /// The smallest and the largest number of whole words.
    least: usize,
    most: usize,
    readable: usize,
}

impl ShortLanes<'_> {
    /// Returns the number of lanes.
    #[inline(always)]
    #[must_use]
    pub const fn width(&self) -> usize {
        self.items.len()
    }

    /// Returns whether every lane may read two words beyond the whole words of the longest piece.
    #[inline(always)]
    #[must_use]
    pub const fn words_follow(&self) -> bool {
        self.readable >= WORD_LEN * (self.most + 2)
    }

    #[inline(always)]
    fn start(&self, lane: usize) -> usize {
        usize::from(self.items[lane] as u16)
    }
}

impl Source for ShortLanes<'_> {
    #[inline(always)]
    fn least(&self) -> usize {
        self.least
    }

    #[inline(always)]
    fn longest(&self) -> usize {
        WORD_LEN * self.most + (WORD_LEN - 1)
    }

    /// Bytes after a piece may be read as well.
    #[inline(always)]
    fn at<const M: usize>(&self, lane: usize, index: usize) -> &[u8; M] {
        assert!(index < SHORT && WORD_LEN * index + M <= self.readable);
        // SAFETY: by the invariant of `items`, `readable` bytes from the start of the piece are in
        // `bytes`.
        unsafe { &*self.bytes.as_ptr().add(self.start(lane) + WORD_LEN * index).cast() }
    }

    #[inline(always)]
    fn last(&self, lane: usize) -> &[u8; WORD_LEN] {
        self.input(lane).last_chunk().expect("a whole word")
    }

    #[inline(always)]
    fn input(&self, lane: usize) -> &[u8] {
        &self.bytes[self.start(lane)..][..(self.items[lane] >> LENGTH_SHIFT) as usize]
    }

    #[inline(always)]
    fn lengths<W: Word64>(&self, first: usize) -> W {
        let items = &opaque(self.items)[first..][..W::LANES];
        let mut lengths = [0; MAX_LANES_64];
        for (length, item) in lengths.iter_mut().zip(items) {
            *length = u64::from(item >> LENGTH_SHIFT);
        }
        W::load(&lengths)
    }
}
