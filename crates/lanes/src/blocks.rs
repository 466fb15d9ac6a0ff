//! The inputs of a kernel: the same number of 64-byte blocks for each lane.

/// Bytes in a block of MD5, SHA-1 and SHA-256. A block of SHA-512 counts as two.
pub const BLOCK_LEN: usize = 64;

/// The largest number of lanes of any word: four registers of sixteen.
pub const MAX_LANES: usize = 64;

/// The same number of blocks from the beginning of each input.
///
/// The constructor checks the lengths once, so kernels load without a check per lane. A kernel
/// reads as many inputs as its words have lanes. The caller gives any input to unused lanes and
/// ignores their results.
#[derive(Clone, Copy, Debug)]
pub struct Blocks<'a> {
    /// Each has at least `count * BLOCK_LEN` bytes.
    inputs: &'a [&'a [u8]],
    count: usize,
}

impl<'a> Blocks<'a> {
    /// No blocks of no inputs.
    pub const NONE: Self = Self { inputs: &[], count: 0 };

    /// Takes the first `count` blocks of each input.
    ///
    /// # Panics
    /// Panics if an input is shorter than `count * BLOCK_LEN` bytes.
    #[inline(always)]
    #[must_use]
    pub fn new(inputs: &'a [&'a [u8]], count: usize) -> Self {
        let has_all = |input: &&[u8]| input.len() / BLOCK_LEN >= count;
        assert!(inputs.iter().all(has_all), "an input has less than {count} blocks");
        Self { inputs, count }
    }

    /// Returns the number of blocks of each lane.
    #[inline(always)]
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Takes as many whole blocks as the shortest input has, and of these a multiple of `unit`.
    /// Also returns the lengths in bytes of the shortest and the longest input.
    ///
    /// # Panics
    /// Panics if `unit` is 0.
    #[inline(always)]
    #[must_use]
    pub fn whole(inputs: &'a [&'a [u8]], unit: usize) -> (Self, [usize; 2]) {
        let lengths = inputs.iter().fold([usize::MAX, 0], |[shortest, longest], input| {
            [shortest.min(input.len()), longest.max(input.len())]
        });
        (Self { inputs, count: lengths[0] / (BLOCK_LEN * unit) * unit }, lengths)
    }

    /// Returns the same blocks of the inputs `first .. first + lanes` only.
    ///
    /// # Panics
    /// Panics if there are fewer inputs.
    #[inline(always)]
    #[must_use]
    pub fn lanes(&self, first: usize, lanes: usize) -> Self {
        Self { inputs: &self.inputs[first..][..lanes], count: self.count }
    }

    /// Returns the whole inputs.
    #[inline(always)]
    #[must_use]
    pub const fn inputs(&self) -> &'a [&'a [u8]] {
        self.inputs
    }

    /// Returns block `index` of the first `lanes` inputs.
    #[inline(always)]
    pub(crate) fn row(&self, index: usize, lanes: usize) -> BlockRow<'a> {
        assert!(index < self.count && lanes <= self.inputs.len(), "no such block of all lanes");
        BlockRow { inputs: self.inputs, offset: index * BLOCK_LEN }
    }
}

/// One block for each lane of a word. Words rely on the number of lanes without another check.
#[derive(Clone, Copy)]
pub struct BlockRow<'a> {
    /// Each input has a whole block at `offset`.
    inputs: &'a [&'a [u8]],
    offset: usize,
}

impl<'a> BlockRow<'a> {
    #[inline(always)]
    fn input(&self, lane: usize) -> &'a [u8] {
        // SAFETY: words ask only for their own lanes, and `row` checked that these exist.
        unsafe { self.inputs.get_unchecked(lane) }
    }

    /// Returns `N` bytes of the block of a lane, starting at `at`.
    #[inline(always)]
    pub(crate) fn bytes<const N: usize>(&self, lane: usize, at: usize) -> &'a [u8; N] {
        assert!(at <= BLOCK_LEN && N <= BLOCK_LEN - at);
        // SAFETY: the bytes are within the block, which the input of the lane contains.
        unsafe { &*self.input(lane).as_ptr().add(self.offset + at).cast() }
    }

    /// Returns `count` bytes of a lane from the start of the block on.
    ///
    /// # Panics
    /// Panics if there are fewer.
    #[inline(always)]
    pub(crate) fn rest(&self, lane: usize, count: usize) -> &'a [u8] {
        &self.input(lane)[self.offset..][..count]
    }

    /// Returns word `number` of the block of a lane.
    #[inline(always)]
    pub(crate) fn word(&self, lane: usize, number: usize) -> u32 {
        u32::from_le_bytes(*self.bytes(lane, 4 * number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_holds_one_block_of_each_input() {
        let inputs: [&[u8]; 2] = [&[1; 130], &[2; 128]];
        let blocks = Blocks::new(&inputs, 2);
        assert_eq!(blocks.count(), 2);
        let row = blocks.row(1, 2);
        assert_eq!([0, 1].map(|lane| row.bytes::<1>(lane, 63)), [&[1], &[2]]);
    }

    #[test]
    fn whole_blocks_are_counted_by_the_shortest_input() {
        let inputs: [&[u8]; 3] = [&[1; 200], &[2; 191], &[3; 130]];
        let (blocks, lengths) = Blocks::whole(&inputs, 1);
        assert_eq!((blocks.count(), lengths), (2, [130, 200]));
        assert_eq!(blocks.lanes(1, 2).row(1, 2).bytes::<1>(0, 0), &[2]);
        assert_eq!(Blocks::whole(&[&[], &[0; 64]], 1).0.count(), 0);
        assert_eq!(Blocks::whole(&[&[0; 383], &[0; 384]], 2).0.count(), 4);
    }

    #[test]
    #[should_panic(expected = "an input has less than 2 blocks")]
    fn a_short_input_is_refused() {
        let _ = Blocks::new(&[&[0; 128], &[0; 127]], 2);
    }

    #[test]
    #[should_panic(expected = "no such block")]
    fn a_block_past_the_end_is_refused() {
        let _ = Blocks::new(&[&[0; 128]], 1).row(1, 1);
    }

    #[test]
    #[should_panic(expected = "no such block")]
    fn more_lanes_than_inputs_are_refused() {
        let _ = Blocks::new(&[&[0; 128]], 1).row(0, 2);
    }
}
