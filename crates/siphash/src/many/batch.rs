//! Batches of inputs in any layout.

use lanesum_lanes::{Offset, Pieces};

/// Inputs, numbered from 0.
pub(super) trait Batch<'a> {
    /// Returns the input at a place.
    fn get(&self, place: usize) -> &'a [u8];
}

/// Slices, or values that refer to slices.
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
