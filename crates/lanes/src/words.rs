//! The inputs of kernels of 64-bit words, one for each lane.

use core::hint::select_unpredictable;
use core::marker::PhantomData;

use crate::Word64;

/// Bytes in a word.
pub const WORD_LEN: usize = 8;

/// The largest number of lanes of any word of 64 bits: three registers of eight.
pub const MAX_LANES_64: usize = 24;

/// One input for each of up to [`MAX_LANES_64`] lanes.
///
/// Unused lanes have an empty input, and their results are ignored.
#[derive(Clone, Debug)]
pub struct Inputs<'a> {
    /// Each is valid for reads of `lengths` bytes during `'a`.
    starts: [*const u8; MAX_LANES_64],
    lengths: [u64; MAX_LANES_64],
    inputs: PhantomData<&'a [u8]>,
}

impl<'a> Inputs<'a> {
    /// Makes a value with empty inputs.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        let empty: *const u8 = [].as_ptr();
        Self { starts: [empty; MAX_LANES_64], lengths: [0; MAX_LANES_64], inputs: PhantomData }
    }

    /// Returns the input of a lane.
    ///
    /// # Panics
    /// Panics if there is no such lane.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, lane: usize) -> &'a [u8] {
        let (start, length) = (self.starts[lane], self.lengths[lane]);
        // SAFETY: the invariant of `starts`. The length is that of a slice.
        unsafe { core::slice::from_raw_parts(start, length as usize) }
    }

    /// Sets the input of a lane.
    ///
    /// # Panics
    /// Panics if there is no such lane.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, input: &'a [u8]) {
        self.starts[lane] = input.as_ptr();
        self.lengths[lane] = input.len() as u64;
    }

    /// Returns the inputs of the first `width` lanes as words. The lanes from `lanes` on read the
    /// input of lane 0.
    ///
    /// # Panics
    /// Panics if there are fewer lanes.
    #[inline(always)]
    pub fn words(&mut self, lanes: usize, width: usize) -> Words<'_> {
        let (start, length) = (self.starts[0], self.lengths[0]);
        self.starts[lanes..width].fill(start);
        self.lengths[lanes..width].fill(length);
        // Numbers of whole words differ if lengths differ above the lowest three bits.
        let lengths = &self.lengths[..width];
        let differences = lengths.iter().fold(0, |all, other| all | (other ^ length));
        let (shortest, longest) = if differences < WORD_LEN as u64 {
            (length, length)
        } else {
            lengths.iter().fold((length, length), |(shortest, longest), &length| {
                (shortest.min(length), longest.max(length))
            })
        };
        Words {
            inputs: self,
            width,
            least: shortest as usize / WORD_LEN,
            longest: longest as usize,
        }
    }
}

impl Default for Inputs<'_> {
    fn default() -> Self {
        Self::new()
    }
}

/// The words of the inputs of all lanes: whole little-endian words, and rests of 0 to 7 bytes.
///
/// The constructor computes once how many words all inputs have, so kernels load these without a
/// check per lane.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// The inputs of the first `width` lanes have at least `least` whole words.
    inputs: &'a Inputs<'a>,
    width: usize,
    least: usize,
    longest: usize,
}

/// The inputs of all lanes, from which kernels load words.
///
/// The trait is sealed, because the words of the instruction sets rely on its promises.
pub trait Source: Copy + sealed::Source {
    /// Returns the smallest number of whole words of any input.
    fn least(&self) -> usize;

    /// Returns the length in bytes of the longest input, or of another one with as many whole
    /// words.
    fn longest(&self) -> usize;

    /// Returns `M` bytes, a multiple of the word length, from word `index` on of the input of a
    /// lane.
    ///
    /// # Panics
    /// Panics if the bytes are not within the words that all inputs have, or if there is no such
    /// lane.
    fn at<const M: usize>(&self, lane: usize, index: usize) -> &[u8; M];

    /// Returns the last eight bytes of the input of a lane.
    ///
    /// # Panics
    /// Panics if some input has no whole word, or if there is no such lane.
    #[inline(always)]
    fn last(&self, lane: usize) -> &[u8; WORD_LEN] {
        self.input(lane).last_chunk().expect("a whole word")
    }

    /// Returns the whole input of a lane.
    ///
    /// # Panics
    /// Panics if there is no such lane.
    fn input(&self, lane: usize) -> &[u8];

    /// Returns the lengths in bytes of the inputs of the lanes `first .. first + W::LANES`.
    ///
    /// # Panics
    /// Panics if there are no such lanes.
    fn lengths<W: Word64>(&self, first: usize) -> W;
}

mod sealed {
    pub trait Source {}
    impl Source for super::Words<'_> {}
    impl Source for super::Records<'_> {}
    impl Source for crate::ShortLanes<'_> {}
    impl Source for &crate::SliceLanes<'_> {}
    impl Source for crate::LongBlock<'_> {}
}

impl Source for Words<'_> {
    #[inline(always)]
    fn least(&self) -> usize {
        self.least
    }

    #[inline(always)]
    fn longest(&self) -> usize {
        self.longest
    }

    #[inline(always)]
    fn at<const M: usize>(&self, lane: usize, index: usize) -> &[u8; M] {
        const { assert!(M.is_multiple_of(WORD_LEN)) };
        assert!(index <= self.least && M / WORD_LEN <= self.least - index && lane < self.width);
        // SAFETY: every input has `least` words, and these are among them.
        unsafe { &*self.inputs.starts[lane].add(WORD_LEN * index).cast() }
    }

    #[inline(always)]
    fn last(&self, lane: usize) -> &[u8; WORD_LEN] {
        assert!(self.least > 0 && lane < self.width);
        let end = self.inputs.lengths[lane] as usize;
        // SAFETY: the input has a whole word, so it is at least that long.
        unsafe { &*self.inputs.starts[lane].add(end - WORD_LEN).cast() }
    }

    #[inline(always)]
    fn input(&self, lane: usize) -> &[u8] {
        self.inputs.get(lane)
    }

    #[inline(always)]
    fn lengths<W: Word64>(&self, first: usize) -> W {
        W::load(&self.inputs.lengths[first..])
    }
}

/// Adjacent records of one length, one for each lane from the first one on.
#[derive(Clone, Copy, Debug)]
pub struct Records<'a> {
    bytes: &'a [u8],
    len: usize,
    /// The number of lanes.
    width: usize,
}

impl<'a> Records<'a> {
    /// Makes records of `len` bytes for `width` lanes. Bytes after the last one may follow.
    ///
    /// # Panics
    /// Panics if there are fewer bytes.
    #[inline(always)]
    #[must_use]
    pub fn new(bytes: &'a [u8], len: usize, width: usize) -> Self {
        assert!(len.checked_mul(width).is_some_and(|all| all <= bytes.len()));
        Self { bytes, len, width }
    }

    /// Returns whether every lane may read a word beyond the whole words of its record.
    #[inline(always)]
    #[must_use]
    pub const fn word_follows(&self) -> bool {
        self.bytes.len() - self.len * self.width + self.len % WORD_LEN >= WORD_LEN
    }
}

/// Bytes after a record may be read as well.
impl Source for Records<'_> {
    #[inline(always)]
    fn least(&self) -> usize {
        self.len / WORD_LEN
    }

    #[inline(always)]
    fn longest(&self) -> usize {
        self.len
    }

    #[inline(always)]
    fn at<const M: usize>(&self, lane: usize, index: usize) -> &[u8; M] {
        let most = self.bytes.len() - self.len * (self.width - 1);
        assert!(lane < self.width && index <= most / WORD_LEN && WORD_LEN * index + M <= most);
        // SAFETY: `most` bytes from the start of the last record are in `bytes`, and as many from
        // that of any record before.
        unsafe { &*self.bytes.as_ptr().add(self.len * lane + WORD_LEN * index).cast() }
    }

    #[inline(always)]
    fn input(&self, lane: usize) -> &[u8] {
        &self.bytes[self.len * lane..][..self.len]
    }

    #[inline(always)]
    fn lengths<W: Word64>(&self, _first: usize) -> W {
        W::splat(self.len as u64)
    }
}

/// Returns word `index` of an input as a little-endian number, with zeros for the bytes beyond its
/// end.
#[inline(always)]
pub(crate) fn word_or_zeros(input: &[u8], index: usize) -> u64 {
    let from = index * WORD_LEN;
    match input.get(from..) {
        Some(bytes) if bytes.len() >= WORD_LEN => {
            u64::from_le_bytes(bytes[..WORD_LEN].try_into().expect("eight bytes"))
        }
        Some(_) => rest_of(input),
        None => 0,
    }
}

/// Returns the last `length % 8` bytes of an input, 0 to 7, as a little-endian number. Reads only
/// within the input.
#[inline(always)]
#[must_use]
pub fn rest_of(input: &[u8]) -> u64 {
    match input.last_chunk() {
        // In two shifts, because a shift by 64 would have no effect.
        Some(&end) => u64::from_le_bytes(end) >> 8 >> (56 - 8 * (input.len() % WORD_LEN)),
        None => short(input),
    }
}

/// Returns the same as [`rest_of`], without a branch that depends on fewer than eight bytes. Faster
/// where the lengths of short inputs cannot be predicted.
#[inline(always)]
pub(crate) fn rest_of_any(input: &[u8]) -> u64 {
    if input.len() >= WORD_LEN {
        return rest_of(input);
    }
    let (start, length) = (input.as_ptr(), input.len());
    let nothing = [0_u8; 4];
    // Four, two and one bytes, each only if the length has them.
    let place = |size: usize, before: usize| {
        let there = start.wrapping_add(before);
        select_unpredictable(length & size != 0, there, nothing.as_ptr())
    };
    let (two, one) = (length & 4, length & 6);
    // SAFETY: if the length has such a part, it lies in the input behind the larger parts.
    // Otherwise the zeros are as long.
    let [four_bytes, two_bytes, one_byte] = unsafe {
        [
            u32::from_le(place(4, 0).cast::<u32>().read_unaligned()).into(),
            u16::from_le(place(2, two).cast::<u16>().read_unaligned()).into(),
            u64::from(place(1, one).read()),
        ]
    };
    four_bytes | two_bytes << (8 * two) | one_byte << (8 * one)
}

/// Returns fewer than eight bytes as a number, read in overlapping pieces.
#[inline(always)]
fn short(bytes: &[u8]) -> u64 {
    if let (Some(&start), Some(&end)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let end = u64::from(u32::from_le_bytes(end)) << (8 * (bytes.len() - 4));
        u64::from(u32::from_le_bytes(start)) | end
    } else if let [first, .., last] = *bytes {
        let middle = bytes[bytes.len() / 2];
        u64::from(first)
            | u64::from(middle) << (8 * (bytes.len() / 2))
            | u64::from(last) << (8 * (bytes.len() - 1))
    } else {
        bytes.first().copied().map_or(0, u64::from)
    }
}
