//! Inputs of any lengths in the order of their numbers of words.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::slice;

use crate::{MAX_LANES_64, Offset, PICK_ROOM, Pieces, Source, WORD_LEN, Word64};

/// The most inputs that are sorted together.
pub const CHUNK: usize = 384;

/// An item is an input's length and, in the lowest bits, its place.
const PLACE_BITS: u32 = 9;
const PLACES: usize = 1 << PLACE_BITS;

/// In an item the length of inputs that have so many bytes or more.
const LONG: usize = u32::MAX as usize >> PLACE_BITS;

/// Below this, each number of words is picked by itself.
const EXACT: usize = 16;

pub struct Sorted<'a> {
    starts: [MaybeUninit<*const u8>; CHUNK],
    lengths: [MaybeUninit<u32>; CHUNK],
    places: [MaybeUninit<u32>; CHUNK],
    count: usize,
    in_order: bool,
    end: *const u8,
    furthest: *const u8,
    inputs: PhantomData<&'a [u8]>,
}

impl<'a> Sorted<'a> {
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        Self {
            starts: [const { MaybeUninit::uninit() }; CHUNK],
            lengths: [const { MaybeUninit::uninit() }; CHUNK],
            places: [const { MaybeUninit::uninit() }; CHUNK],
            count: 0,
            in_order: true,
            end: core::ptr::null(),
            furthest: core::ptr::null(),
            inputs: PhantomData,
        }
    }

    #[inline(always)]
    pub fn sort<W: Word64>(&mut self, inputs: impl Iterator<Item = &'a [u8]>, spread: usize) {
        self.end = core::ptr::null();
        self.fill::<W>(inputs.map(|input| (input.as_ptr(), input.len())), spread);
    }

    #[inline(always)]
    pub fn sort_pieces<W: Word64>(&mut self, pieces: &Pieces<'a, impl Offset>, first: usize, count: usize, spread: usize) {
        let buffer = pieces.buffer();
        self.end = buffer.as_ptr_range().end;
        let places = pieces.places(first, count);
        self.fill::<W>(places.map(|(start, length)| (buffer.as_ptr().wrapping_add(start), length)), spread);
        self.furthest = buffer.as_ptr().wrapping_add(pieces.start(first + count - 1));
    }

    #[inline(always)]
    fn fill<W: Word64>(&mut self, inputs: impl Iterator<Item = (*const u8, usize)>, spread: usize) {
        let (mut count, mut shortest, mut longest) = (0, u32::MAX, 0);
        for ((start, out), (input, length)) in self.starts.iter_mut().zip(&mut self.lengths).zip(inputs)
        {
            let length = length.min(LONG) as u32;
            start.write(input);
            out.write(length);
            shortest = shortest.min(length);
            longest = longest.max(length);
            count += 1;
        }
        self.count = count;
        let (least, most) = (shortest as usize / WORD_LEN, longest as usize / WORD_LEN);
        self.in_order = most - least <= spread;
        if !self.in_order {
            self.reorder::<W>(least, most);
        }
    }

    #[inline(always)]
    fn reorder<W: Word64>(&mut self, least: usize, most: usize) {
        let starts = self.starts;
        let mut items = [const { MaybeUninit::uninit() }; CHUNK];
        let lengths = unsafe { slice::from_raw_parts(self.lengths.as_ptr().cast::<u32>(), self.count) };
        for (place, (item, length)) in items.iter_mut().zip(lengths).enumerate() {
            item.write(length << PLACE_BITS | place as u32);
        }
        let items = unsafe { slice::from_raw_parts(items.as_ptr().cast::<u32>(), self.count) };
        let mut sorted = [const { MaybeUninit::<u32>::uninit() }; CHUNK + PICK_ROOM];
        let sorted = unsafe { &mut *(&raw mut sorted).cast::<[u32; CHUNK + PICK_ROOM]>() };
        let mut done = 0;
        let bit = PLACE_BITS + WORD_LEN.ilog2();
        for words in least..(most + 1).min(EXACT) {
            let first = (words as u32) << bit;
            done += W::pick(items, first..=first + ((1 << bit) - 1), &mut sorted[done..]);
        }
        if most >= EXACT {
            let count = W::pick(items, (EXACT as u32) << bit..=u32::MAX, &mut sorted[done..]);
            sorted[done..][..count].sort_unstable();
            done += count;
        }
        assert!(done == self.count);
        for (((start, length), place), item) in self.starts.iter_mut().zip(&mut self.lengths).zip(&mut self.places).zip(&sorted[..done]) {
            *start = starts[place_of(*item)];
            length.write(item >> PLACE_BITS);
            place.write(item % PLACES as u32);
        }
    }

    #[inline(always)]
    fn starts(&self) -> &[*const u8] {
        // SAFETY: so many have been written.
        unsafe { slice::from_raw_parts(self.starts.as_ptr().cast(), self.count) }
    }

    #[inline(always)]
    fn lengths(&self) -> &[u32] {
        // SAFETY: so many have been written.
        unsafe { slice::from_raw_parts(self.lengths.as_ptr().cast(), self.count) }
    }

    #[inline(always)]
    pub fn places(&self) -> Option<&[u32]> {
        if self.in_order { return None; }
        // SAFETY: so many have been written.
        Some(unsafe { slice::from_raw_parts(self.places.as_ptr().cast(), self.count) })
    }

    /// How many go well side by side.
    #[inline(always)]
    pub fn alike(&self, first: usize, most: usize) -> usize {
        let lengths = &self.lengths()[first..];
        let limit = |length: u32| (2 * words_of(length) + EXACT).min(LONG / WORD_LEN - 1);
        if self.in_order {
            let most = most.min(lengths.len());
            return if lengths[..most].iter().all(|length| *length < LONG as u32) { most } else { 1 };
        }
        let limit = limit(lengths[0]);
        if lengths.len() >= most && words_of(lengths[most - 1]) <= limit {
            return most;
        }
        lengths.iter().take(most).take_while(|item| words_of(**item) <= limit).count().max(1)
    }

    #[inline(always)]
    pub fn lanes<'s>(&'s self, first: usize, count: usize, width: usize, room: &'s mut ([*const u8; MAX_LANES_64], [u32; MAX_LANES_64])) -> Lanes64<'s> {
        let mut starts = &self.starts()[first..][..count];
        let mut lengths = &self.lengths()[first..][..count];
        if count < width {
            room.0[..count].copy_from_slice(starts);
            room.0[count..width].fill(starts[count - 1]);
            room.1[..count].copy_from_slice(lengths);
            room.1[count..width].fill(lengths[count - 1]);
            (starts, lengths) = (&room.0[..width], &room.1[..width]);
        }
        let (least, longest) = if self.in_order {
            lengths.iter().fold((u32::MAX, 0), |(least, most), length| (least.min(*length), most.max(*length)))
        } else {
            (lengths[0], lengths[width - 1])
        };
        let (least, longest) = (words_of(least), longest as usize);
        assert!(longest < LONG);
        let mut readable = (self.end as usize).saturating_sub(self.furthest as usize);
        if readable < WORD_LEN * (longest / WORD_LEN + 2) {
            let furthest = starts.iter().map(|start| *start as usize).max().unwrap_or(0);
            readable = (self.end as usize).saturating_sub(furthest).max(WORD_LEN * least);
        }
        Lanes64 { starts, lengths, least, longest: longest | 7, readable }
    }
}

#[inline(always)]
fn place_of(item: u32) -> usize {
    item as usize % PLACES
}

#[inline(always)]
fn words_of(length: u32) -> usize {
    length as usize / WORD_LEN
}

#[derive(Clone, Copy, Debug)]
pub struct Lanes64<'a> {
    starts: &'a [*const u8],
    lengths: &'a [u32],
    least: usize,
    longest: usize,
    readable: usize,
}

impl Lanes64<'_> {
    #[inline(always)]
    #[must_use]
    pub fn lanes(&self) -> usize {
        self.starts.len()
    }
}

impl Source for Lanes64<'_> {
    #[inline(always)]
    fn least(&self) -> usize {
        self.least
    }

    #[inline(always)]
    fn longest(&self) -> usize {
        self.longest
    }

    #[inline(always)]
    fn readable(&self) -> usize {
        self.readable
    }

    #[inline(always)]
    fn settled(&self) -> Self {
        let mut p = self.starts.as_ptr();
        let n = self.starts.len();
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) p, options(pure, nomem, nostack, preserves_flags));
            Self { starts: slice::from_raw_parts(p, n), ..*self }
        }
    }

    #[inline(always)]
    fn at<const M: usize>(&self, lane: usize, index: usize) -> &[u8; M] {
        assert!(index <= self.readable / WORD_LEN && WORD_LEN * index + M <= self.readable);
        // SAFETY: the last lane's piece begins so far from the buffer's end, the others before.
        unsafe { &*self.starts[lane].add(WORD_LEN * index).cast() }
    }

    #[inline(always)]
    fn last(&self, lane: usize) -> &[u8; WORD_LEN] {
        self.input(lane).last_chunk().expect("a whole word")
    }

    #[inline(always)]
    fn input(&self, lane: usize) -> &[u8] {
        // SAFETY: see `Pieces::get`.
        unsafe { core::slice::from_raw_parts(self.starts[lane], self.lengths[lane] as usize) }
    }

    #[inline(always)]
    fn lengths<W: Word64>(&self, first: usize) -> W {
        let mut lengths = [0; MAX_LANES_64];
        for (length, item) in lengths[..W::LANES].iter_mut().zip(&self.lengths[first..][..W::LANES]) {
            *length = (*item).into();
        }
        W::load(&lengths)
    }
}
