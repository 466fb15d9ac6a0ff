//! Short pieces of a buffer in the order of their numbers of words.
//!
//! ```text
//! for each piece of a chunk
//!   item <- its length (7 bits), its place in the chunk (9), its distance from the first piece (16)
//! for each number of words, from the shortest piece's to the longest's
//!   append the items of that length                          (`Word64::pick`)
//! ```
//!
//! Lanes then have pieces of the same number of words, except where one number ends and the next
//! begins. And since pieces lie in one buffer, what follows a piece may be read as well: all lanes
//! load whole words, without looking where each ends.
//!
//! Sorted pieces are read from here and there, which no CPU foresees. So while the pieces of a
//! chunk are hashed, hints go to the memory behind it, where the next chunk is: a column of a
//! million strings of 1 to 64 bytes takes less than half as long with them.

use crate::fetch::{LINE, fetch_line};
use crate::opaque::opaque;
use crate::{MAX_LANES_64, Offset, PICK_ROOM, Source, WORD_LEN, Word64};

/// The most pieces that are sorted together: whole registers, and three of them, of any width.
pub const CHUNK: usize = 480;

/// Pieces with fewer bytes are short.
const SHORT: usize = 128;

/// Where in an item the parts begin. Its highest bits are the number of whole words.
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
    /// How many bytes follow the beginning of each piece, those of the piece among them.
    readable: usize,
    /// What lies in `bytes` and beyond them: from where on there has been no hint yet, up to where
    /// there should be some, and how many bytes are added to that at a time.
    unfetched: usize,
    fetched: usize,
    step: usize,
    items: [u32; CHUNK],
    /// The items in their order. The pieces of the first `count` begin within `bytes`, and end
    /// there.
    sorted: [u32; CHUNK + PICK_ROOM],
    count: usize,
}

impl<'a> ShortPieces<'a> {
    /// None.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        let (items, sorted) = ([0; CHUNK], [0; CHUNK + PICK_ROOM]);
        let [unfetched, fetched, step] = [0; 3];
        Self { bytes: &[], readable: 0, unfetched, fetched, step, items, sorted, count: 0 }
    }

    /// Takes pieces in the place of those that are here: piece `i` lies from `offsets[i]` to
    /// `offsets[i + 1]`. Says whether that is so, and all are short, that is of fewer than 128
    /// bytes: if not, there are none afterwards.
    ///
    /// # Panics
    /// Panics if there is no piece, or more than [`CHUNK`].
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
        // Offsets that fall somewhere have a length that is not short. For the lengths, whose sum
        // modulo the width is `end - start`, are that sum itself if all are: they are few.
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

    /// Hints at bytes behind the pieces. It is called once for each group of lanes; after the last
    /// call it has hinted at as many bytes as the pieces have.
    #[inline(always)]
    pub fn fetch_behind(&mut self) {
        self.fetched += self.step;
        while self.unfetched < self.fetched {
            fetch_line::<1>(self.bytes.as_ptr().wrapping_add(self.unfetched));
            self.unfetched += LINE;
        }
    }

    /// Puts a value of each piece from `first` on into the piece's place before sorting.
    ///
    /// # Panics
    /// Panics if there are not so many pieces, or not as many places as pieces.
    #[inline(always)]
    pub fn scatter<T: Copy>(&self, first: usize, values: &[T], places: &mut [T]) {
        assert!(places.len() == self.count);
        let items = &self.sorted[..self.count][first..][..values.len()];
        for (item, value) in items.iter().zip(opaque(values)) {
            // In order, so that the places are not computed in a vector, from which each had to be
            // extracted.
            let place = (u64::from(item >> PLACE_SHIFT) % PLACES as u64).in_order() as usize;
            // SAFETY: `sort` numbered the pieces' places from 0 on, and there are as many.
            unsafe { *places.get_unchecked_mut(place) = *value };
        }
    }

    /// One piece for each of `width` lanes, from `first` on.
    ///
    /// # Panics
    /// Panics if there are not so many.
    #[inline(always)]
    #[must_use]
    pub fn lanes(&self, first: usize, width: usize) -> ShortLanes<'_> {
        let items = &self.sorted[..self.count][first..][..width];
        let [least, most] = [items[0], items[width - 1]].map(|item| (item >> WORDS_SHIFT) as usize);
        let mut readable = self.readable;
        if readable < WORD_LEN * (most + 2) {
            // Some of the pieces may be before those that are so near to the end.
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

/// Short pieces, one for each lane.
#[derive(Clone, Copy, Debug)]
pub struct ShortLanes<'s> {
    bytes: &'s [u8],
    /// Each piece begins at least `readable` bytes before the end of `bytes`.
    items: &'s [u32],
    /// The least and the greatest number of whole words.
    least: usize,
    most: usize,
    readable: usize,
}

impl ShortLanes<'_> {
    /// How many lanes there are.
    #[inline(always)]
    #[must_use]
    pub const fn width(&self) -> usize {
        self.items.len()
    }

    /// Whether two words beyond the whole ones of the longest piece may be read in every lane.
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

    /// What follows a piece may be read as well.
    #[inline(always)]
    fn at<const M: usize>(&self, lane: usize, index: usize) -> &[u8; M] {
        assert!(index < SHORT && WORD_LEN * index + M <= self.readable);
        // SAFETY: `readable` bytes from the piece's beginning on are in `bytes`, says `items`.
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
