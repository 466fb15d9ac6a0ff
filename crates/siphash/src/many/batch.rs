//! Many inputs, however they lie.

use lanesum_lanes::{Offset, Pieces};

/// Inputs by their places, from zero on.
pub(super) trait Batch<'a> {
    /// One of them.
    fn get(&self, place: usize) -> &'a [u8];
}

/// Slices, or what has them.
impl<'a, T: AsRef<[u8]>> Batch<'a> for &'a [T] {
    #[inline(always)]
    fn get(&self, place: usize) -> &'a [u8] {
        self[place].as_ref()
    }
}

impl<'a, O: Offset> Batch<'a> for Pieces<'a, O> {
    #[inline(always)]
    fn get(&self, place: usize) -> &'a [u8] {
        Pieces::get(self, place)
    }
}
