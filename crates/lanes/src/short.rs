//! Short pieces of a buffer, sorted by their numbers of words.
//!
//! All lanes have pieces of the same number of words, except at the borders between two numbers.
//! Since the pieces lie in one buffer, the bytes after a piece may be read as well. So all lanes
//! load whole words and ignore where each piece ends.
//!
//! Sorted pieces are read in an order that the CPU cannot predict. So while the pieces of a chunk
//! are hashed, the next chunk is prefetched. With these hints a column of a million strings of 1 to
//! 64 bytes takes less than half of the time.
//!
//! Hot loops count places instead of using iterators. Without link-time optimisation the compiler
//! may leave functions of an iterator as calls.

use crate::fetch::{LINE, fetch_line};
use crate::opaque::opaque;
use crate::pieces::{Column, Offsets};
use crate::sorted::{CHUNK, SHORT, Sorted, item_of, length_of, start_of, words_of};
use crate::{MAX_LANES_64, Source, WORD_LEN, Word64};

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
    /// The pieces, which lie within `bytes`. A start is the distance from the first piece.
    sorted: Sorted,
}

impl<'a> ShortPieces<'a> {
    /// Makes an empty value.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        let [unfetched, fetched, step] = [0; 3];
        Self { bytes: &[], readable: 0, unfetched, fetched, step, sorted: Sorted::new() }
    }

    /// Replaces the pieces by those of a column. Returns whether the offsets are valid and all
    /// pieces are short, that is, have fewer than 128 bytes. If not, there are no pieces
    /// afterwards. `by_mask` is [`Backend::loads_by_mask`](crate::Backend::loads_by_mask).
    ///
    /// # Panics
    /// Panics if there are no pieces, or more than [`CHUNK`].
    #[inline(always)]
    #[must_use]
    pub fn sort<W: Word64>(&mut self, column: Column<'a>, by_mask: bool) -> bool {
        match column.offsets {
            Offsets::U32(offsets) => self.sort_by::<W, u32>(column.buffer, offsets, by_mask),
            Offsets::U64(offsets) => self.sort_by::<W, u64>(column.buffer, offsets, by_mask),
        }
    }

    #[inline(always)]
    fn sort_by<W: Word64, N: Number>(
        &mut self,
        buffer: &'a [u8],
        offsets: &[N],
        by_mask: bool,
    ) -> bool {
        self.sorted.clear();
        let count = offsets.len() - 1;
        let items = &mut self.sorted.items[..count];
        let first = offsets[0];
        let (start, end) = (first.into(), offsets[count].into());
        if start > end || end > buffer.len() as u64 || end - start > (CHUNK * SHORT) as u64 {
            return false;
        }
        let mut shortest = first.distance_to(offsets[1]);
        let mut longest = shortest;
        for place in 0..count {
            let start = offsets[place];
            let length = start.distance_to(offsets[place + 1]);
            (shortest, longest) = (shortest.min(length), longest.max(length));
            items[place] = item_of(length.low(), place, first.distance_to(start).low());
        }
        // A falling offset gives a length that is not short. The lengths add up to `end - start`
        // modulo the width. If all are short, there are too few of them to wrap around.
        if longest.into() >= SHORT as u64 {
            return false;
        }
        self.bytes = &buffer[start as usize..];
        self.readable = buffer.len() - offsets[count - 1].into() as usize;
        self.unfetched = (end - start) as usize;
        self.fetched = self.unfetched;
        self.step = self.unfetched / count.div_ceil(W::LANES);
        self.sorted.sort::<W>(count, shortest.low(), longest.low(), by_mask);
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
        self.sorted.scatter(first, values, places);
    }

    /// Returns one piece for each of `width` lanes, starting with sorted piece `first`.
    ///
    /// # Panics
    /// Panics if there are fewer pieces.
    #[inline(always)]
    #[must_use]
    pub fn lanes(&self, first: usize, width: usize) -> ShortLanes<'_> {
        let items = &self.sorted.all()[first..][..width];
        let (least, most) = (words_of(items[0]), words_of(items[width - 1]));
        let mut readable = self.readable;
        if readable < WORD_LEN * (most + 2) {
            // Some of these pieces may lie before the ones near the end of the buffer.
            let furthest = items.iter().fold(0, |furthest, item| start_of(*item).max(furthest));
            readable = self.bytes.len() - furthest;
        }
        ShortLanes { bytes: self.bytes, items, least, most, readable }
    }
}

impl Default for ShortPieces<'_> {
    fn default() -> Self {
        Self::new()
    }
}

/// Unsigned numbers of one width.
trait Number: Copy + Ord + Into<u64> {
    /// Returns the distance to `other`, modulo the width.
    fn distance_to(self, other: Self) -> Self;

    /// Returns the lowest 32 bits.
    fn low(self) -> u32;
}

macro_rules! number {
    ($($number:ty)*) => {
        $(impl Number for $number {
            #[inline(always)]
            fn distance_to(self, other: Self) -> Self {
                other.wrapping_sub(self)
            }

            #[inline(always)]
            fn low(self) -> u32 {
                self as u32
            }
        })*
    };
}
number! { u32 u64 }

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
        start_of(self.items[lane])
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
    fn input(&self, lane: usize) -> &[u8] {
        &self.bytes[self.start(lane)..][..length_of(self.items[lane]) as usize]
    }

    #[inline(always)]
    fn lengths<W: Word64>(&self, first: usize) -> W {
        let items = &opaque(self.items)[first..][..W::LANES];
        let mut lengths = [0; MAX_LANES_64];
        for lane in 0..W::LANES {
            lengths[lane] = length_of(items[lane]).into();
        }
        W::load(&lengths)
    }
}
