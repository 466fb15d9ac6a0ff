//! The inputs of a kernel: as many blocks of 64 bytes from each lane.

/// Bytes in a block of MD5 and its relatives.
pub const BLOCK_LEN: usize = 64;

/// The most lanes that any word has: four registers of sixteen.
pub const MAX_LANES: usize = 64;

/// The same number of blocks from the beginning of each input.
///
/// Lengths are checked once, when the value is made, so that kernels load without checks for each
/// lane. A kernel reads as many inputs as its words have lanes: lanes without a message of their
/// own get some other one, and what they compute is of no use.
#[derive(Clone, Copy, Debug)]
pub struct Blocks<'a> {
    /// Each has at least `count * BLOCK_LEN` bytes.
    inputs: &'a [&'a [u8]],
    count: usize,
}

impl<'a> Blocks<'a> {
    /// The first `count` blocks of each input.
    ///
    /// # Panics
    /// When an input is shorter than `count * BLOCK_LEN` bytes.
    #[inline(always)]
    #[must_use]
    pub fn new(inputs: &'a [&'a [u8]], count: usize) -> Self {
        let has_all = |input: &&[u8]| input.len() / BLOCK_LEN >= count;
        assert!(inputs.iter().all(has_all), "an input has less than {count} blocks");
        Self { inputs, count }
    }

    /// How many blocks each lane has.
    #[inline(always)]
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Block `index` of the inputs `first .. first + lanes`.
    #[inline(always)]
    pub(crate) fn row(&self, first: usize, lanes: usize, index: usize) -> BlockRow<'a> {
        assert!(index < self.count);
        BlockRow { inputs: &self.inputs[first..][..lanes], offset: index * BLOCK_LEN }
    }
}

/// A block of each of some lanes.
#[derive(Clone, Copy)]
pub struct BlockRow<'a> {
    /// Each has a whole block from `offset` on.
    inputs: &'a [&'a [u8]],
    offset: usize,
}

impl<'a> BlockRow<'a> {
    /// Where the block of a lane lies.
    #[inline(always)]
    pub(crate) fn address(&self, lane: usize) -> *const u8 {
        self.inputs[lane].as_ptr().wrapping_add(self.offset)
    }

    /// `N` bytes of the block of a lane, from `at` on.
    #[inline(always)]
    pub(crate) fn bytes<const N: usize>(&self, lane: usize, at: usize) -> &'a [u8; N] {
        assert!(at <= BLOCK_LEN && N <= BLOCK_LEN - at);
        // SAFETY: these are bytes of the block, which the lane's input has, says `inputs`.
        unsafe { &*self.inputs[lane].as_ptr().add(self.offset + at).cast() }
    }

    /// Words `4 * quarter` to `4 * quarter + 3` of a lane.
    #[inline(always)]
    pub(crate) fn quarter(&self, lane: usize, quarter: usize) -> [u32; 4] {
        let bytes = self.bytes::<16>(lane, 16 * quarter);
        core::array::from_fn(|word| {
            u32::from_le_bytes(bytes[4 * word..][..4].try_into().expect("four bytes"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_a_block_of_each_input() {
        let inputs: [&[u8]; 2] = [&[1; 130], &[2; 128]];
        let blocks = Blocks::new(&inputs, 2);
        assert_eq!(blocks.count(), 2);
        let row = blocks.row(0, 2, 1);
        assert_eq!([0, 1].map(|lane| row.bytes::<1>(lane, 63)), [&[1], &[2]]);
        assert_eq!(blocks.row(1, 1, 0).quarter(0, 3), [0x0202_0202; 4]);
    }

    #[test]
    #[should_panic(expected = "an input has less than 2 blocks")]
    fn a_short_input_is_refused() {
        let _ = Blocks::new(&[&[0; 128], &[0; 127]], 2);
    }

    #[test]
    #[should_panic(expected = "index < self.count")]
    fn a_block_past_the_end_is_refused() {
        let _ = Blocks::new(&[&[0; 128]], 1).row(0, 1, 1);
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn more_lanes_than_inputs_are_refused() {
        let _ = Blocks::new(&[&[0; 128]], 1).row(0, 2, 0);
    }
}
