//! The inputs of a kernel: as many blocks of 64 bytes from each lane.

use core::marker::PhantomData;

/// Bytes in a block of MD5 and its relatives.
pub const BLOCK_LEN: usize = 64;

/// The most lanes that any word has: four registers of sixteen.
pub const MAX_LANES: usize = 64;

/// The same number of blocks from each of up to `N` inputs.
///
/// Lengths are checked once, when the value is made, so that kernels load without checks for each
/// lane. Lanes that got no input read the first one's: their results are nobody's.
#[derive(Clone, Copy, Debug)]
pub struct Blocks<'a, const N: usize = MAX_LANES> {
    /// Each is valid for reads of `count * BLOCK_LEN` bytes during `'a`.
    starts: [*const u8; N],
    lanes: usize,
    count: usize,
    inputs: PhantomData<&'a [u8]>,
}

impl<'a, const N: usize> Blocks<'a, N> {
    /// The first `count` blocks of each input.
    ///
    /// # Panics
    /// When there is no input, there are more than `N`, or one is shorter than
    /// `count * BLOCK_LEN` bytes.
    #[inline]
    pub fn new<I: IntoIterator<Item = &'a [u8]>>(inputs: I, count: usize) -> Self {
        let whole = Self::whole(inputs);
        assert!(count <= whole.count, "an input has {} blocks, not {count}", whole.count);
        whole.first(count)
    }

    /// As many blocks of each input as all of them have whole.
    ///
    /// # Panics
    /// When there is no input, or there are more than `N`.
    #[inline]
    pub fn whole<I: IntoIterator<Item = &'a [u8]>>(inputs: I) -> Self {
        let mut starts = [core::ptr::null(); N];
        let (mut lanes, mut shortest) = (0, usize::MAX);
        // An inner iteration: short messages would notice the looks of an outer one.
        inputs.into_iter().for_each(|input| {
            assert!(lanes < N, "more than {N} inputs");
            starts[lanes] = input.as_ptr();
            shortest = shortest.min(input.len());
            lanes += 1;
        });
        assert!(lanes > 0, "no input");
        let first = starts[0];
        starts[lanes..].fill(first);
        Self { starts, lanes, count: shortest / BLOCK_LEN, inputs: PhantomData }
    }

    /// The first `count` of these blocks of each lane, or all if there are no more.
    #[inline]
    #[must_use]
    pub fn first(self, count: usize) -> Self {
        Self { count: self.count.min(count), ..self }
    }

    /// How many inputs there are.
    #[inline]
    #[must_use]
    pub const fn lanes(&self) -> usize {
        self.lanes
    }

    /// How many blocks each lane has.
    #[inline]
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Whether the lanes' blocks begin at few places of their pages. Lines of the same place share the few ways (8
    /// to 12) of one set of the first-level cache, so that each pushes out another before it is used up.
    #[inline(always)]
    #[must_use]
    pub fn are_crowded(&self) -> bool {
        const LINES_A_PAGE: usize = 64;
        const WAYS: u32 = 8;
        let places = self.starts[..self.lanes]
            .iter()
            .fold(0_u64, |places, start| places | 1 << (start.addr() / BLOCK_LEN % LINES_A_PAGE));
        places.count_ones() * WAYS < self.lanes as u32
    }

    /// Block `index` of the inputs `first .. first + M`.
    #[inline(always)]
    pub(crate) fn get<const M: usize>(
        &self,
        first: usize,
        index: usize,
    ) -> [&'a [u8; BLOCK_LEN]; M] {
        assert!(index < self.count);
        let starts: &[*const u8; M] = self.starts[first..][..M].try_into().expect("M of them");
        // SAFETY: each start is valid for `count` blocks, as `whole` counted, and `index` is one
        // of these.
        starts.map(|start| unsafe { &*start.add(index * BLOCK_LEN).cast() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_lanes_read_the_first_input() {
        let inputs = [[1; 130], [2; 130]];
        let blocks = Blocks::<MAX_LANES>::new(inputs.iter().map(|input| &input[..]), 2);
        assert_eq!(blocks.count(), 2);
        assert_eq!(blocks.get::<4>(0, 1).map(|block| block[63]), [1, 2, 1, 1]);
        assert_eq!(blocks.get::<1>(MAX_LANES - 1, 0).map(|block| block[0]), [1]);
    }

    #[test]
    fn whole_blocks_are_those_that_all_have() {
        let inputs = [[1; 200], [2; 200]];
        let blocks = Blocks::<2>::whole([&inputs[0][..], &inputs[1][..191]]);
        assert_eq!(blocks.count(), 2);
        assert_eq!(blocks.get::<2>(0, 1).map(|block| block[0]), [1, 2]);
        assert_eq!(Blocks::<2>::whole([&[][..]]).count(), 0);
    }

    #[test]
    #[should_panic(expected = "more than 2 inputs")]
    fn more_inputs_than_lanes_are_refused() {
        let _ = Blocks::<2>::whole([&[0; 64][..]; 3]);
    }

    #[test]
    #[should_panic(expected = "an input has 1 blocks, not 2")]
    fn a_short_input_is_refused() {
        let _ = Blocks::<2>::new([&[0; 128][..], &[0; 127]], 2);
    }

    #[test]
    #[should_panic(expected = "index < self.count")]
    fn a_block_past_the_end_is_refused() {
        let _ = Blocks::<1>::new([&[0; 128][..]], 1).get::<1>(0, 1);
    }
}
