//! What a kernel of 64-bit words reads: one input for each lane.

use core::marker::PhantomData;

/// Bytes in a word.
pub const WORD_LEN: usize = 8;

/// The most lanes that any word of 64 bits has: three registers of eight.
pub const MAX_LANES_64: usize = 24;

/// One input for each of up to [`MAX_LANES_64`] lanes.
///
/// Lanes without an input have an empty one: their results are nobody's.
#[derive(Clone, Debug)]
pub struct Inputs<'a> {
    /// Each is valid for reads of as many bytes as `lengths` says, during `'a`.
    starts: [*const u8; MAX_LANES_64],
    lengths: [u64; MAX_LANES_64],
    inputs: PhantomData<&'a [u8]>,
}

impl<'a> Inputs<'a> {
    /// Empty inputs.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        let empty: *const u8 = [].as_ptr();
        Self { starts: [empty; MAX_LANES_64], lengths: [0; MAX_LANES_64], inputs: PhantomData }
    }

    /// The input of a lane.
    ///
    /// # Panics
    /// When there is no such lane.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, lane: usize) -> &'a [u8] {
        let (start, length) = (self.starts[lane], self.lengths[lane]);
        // SAFETY: the invariant of `starts`. The length came from a slice.
        unsafe { core::slice::from_raw_parts(start, length as usize) }
    }

    /// Puts an input into a lane.
    ///
    /// # Panics
    /// When there is no such lane.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, input: &'a [u8]) {
        self.starts[lane] = input.as_ptr();
        self.lengths[lane] = input.len() as u64;
    }

    /// The lengths of all inputs, in bytes.
    #[inline(always)]
    #[must_use]
    pub const fn lengths(&self) -> &[u64; MAX_LANES_64] {
        &self.lengths
    }

    /// The inputs as words, if the first `lanes` of them have the same number of whole words. Lanes
    /// from there on read the first one's.
    ///
    /// # Panics
    /// When there are not so many lanes.
    #[inline(always)]
    pub fn words(&mut self, lanes: usize) -> Option<Words<'_>> {
        let (start, length) = (self.starts[0], self.lengths[0]);
        self.starts[lanes..].fill(start);
        self.lengths[lanes..].fill(length);
        // Numbers of whole words differ where lengths differ above the lowest three bits.
        let differences = self.lengths.iter().fold(0, |all, other| all | other ^ length);
        let count = length as usize / WORD_LEN;
        (differences < WORD_LEN as u64).then_some(Words { inputs: self, count })
    }
}

impl Default for Inputs<'_> {
    fn default() -> Self {
        Self::new()
    }
}

/// The same number of whole words from each lane's input, and the rests of zero to seven bytes that
/// follow them.
///
/// That is checked once, when the value is made, so that kernels load without checks for each
/// lane.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// Each has `count` whole words and a rest.
    inputs: &'a Inputs<'a>,
    count: usize,
}

impl Words<'_> {
    /// How many whole words each lane has.
    #[inline(always)]
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Whole words from `index` of a lane's input, as many as `M` bytes are.
    #[inline(always)]
    pub(crate) fn at<const M: usize>(&self, lane: usize, index: usize) -> &[u8; M] {
        const { assert!(M.is_multiple_of(WORD_LEN)) };
        assert!(index <= self.count && M / WORD_LEN <= self.count - index);
        // SAFETY: every input has `count` words, of which these are some.
        unsafe { &*self.inputs.starts[lane].add(WORD_LEN * index).cast() }
    }

    /// The last eight bytes of a lane's input.
    #[inline(always)]
    pub(crate) fn last(&self, lane: usize) -> &[u8; WORD_LEN] {
        assert!(self.count > 0);
        let end = self.inputs.lengths[lane] as usize;
        // SAFETY: there is a whole word, so the length is at least its.
        unsafe { &*self.inputs.starts[lane].add(end - WORD_LEN).cast() }
    }

    /// A lane's whole input.
    #[inline(always)]
    pub(crate) fn input(&self, lane: usize) -> &[u8] {
        self.inputs.get(lane)
    }

    /// The lengths of the inputs `first .. first + N`, in bytes.
    #[inline(always)]
    pub(crate) fn lengths<const N: usize>(&self, first: usize) -> &[u64; N] {
        self.inputs.lengths[first..][..N].try_into().expect("N of them")
    }
}

/// The last `length % 8` bytes of an input as a little-endian number: 0 to 7 of them. Reads within
/// the input alone.
#[inline(always)]
#[must_use]
pub fn rest_of(input: &[u8]) -> u64 {
    match input.last_chunk() {
        // In two shifts, since one of 64 is none.
        Some(&end) => u64::from_le_bytes(end) >> 8 >> (56 - 8 * (input.len() % WORD_LEN)),
        None => short(input),
    }
}

/// Fewer than eight bytes as a number, in overlapping pieces.
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
