//! Batches of inputs in any layout.

use lanesum_lanes::{Inputs, Pieces};

/// Inputs, numbered from 0.
#[derive(Clone, Copy)]
pub(super) enum Batch<'b, 'a> {
    Pieces(Pieces<'a>),
    /// Those from place `first` on.
    Slices {
        slices: &'b dyn Slices<'a>,
        first: usize,
    },
}

impl<'a> Batch<'_, 'a> {
    /// Returns the input at a place.
    #[inline(always)]
    pub(super) fn get(&self, place: usize) -> &'a [u8] {
        match self {
            Self::Pieces(pieces) => pieces.get(place),
            Self::Slices { slices, first } => slices.get(first + place),
        }
    }

    /// Puts the inputs from place `from` on into the first `count` lanes.
    #[inline(always)]
    pub(super) fn fill(&self, from: usize, count: usize, lanes: &mut Inputs<'a>) {
        match self {
            Self::Pieces(pieces) => {
                for lane in 0..count {
                    lanes.set(lane, pieces.get(from + lane));
                }
            }
            Self::Slices { slices, first } => slices.fill(first + from, count, lanes),
        }
    }

    /// Puts the inputs at some places into the first lanes.
    #[inline(always)]
    pub(super) fn gather(&self, places: &[usize], lanes: &mut Inputs<'a>) {
        match self {
            Self::Pieces(pieces) => {
                for lane in 0..places.len() {
                    lanes.set(lane, pieces.get(places[lane]));
                }
            }
            Self::Slices { slices, first } => slices.gather(*first, places, lanes),
        }
    }
}

/// Slices, or values that refer to slices. A trait object, so that only these small methods are
/// compiled for each type. One call is for many slices.
pub(super) trait Slices<'a> {
    /// Returns the slice at a place.
    fn get(&self, place: usize) -> &'a [u8];

    /// Copies the slices from place `first` on.
    fn copy(&self, first: usize, slices: &mut [&'a [u8]]);

    /// Puts the slices from place `first` on into the first `count` lanes.
    fn fill(&self, first: usize, count: usize, lanes: &mut Inputs<'a>);

    /// Puts the slices at some places into the first lanes. Places are counted from `first` on.
    fn gather(&self, first: usize, places: &[usize], lanes: &mut Inputs<'a>);
}

impl<'a, T: AsRef<[u8]>> Slices<'a> for &'a [T] {
    fn get(&self, place: usize) -> &'a [u8] {
        self[place].as_ref()
    }

    fn copy(&self, first: usize, slices: &mut [&'a [u8]]) {
        let values = &self[first..][..slices.len()];
        for place in 0..slices.len() {
            slices[place] = values[place].as_ref();
        }
    }

    fn fill(&self, first: usize, count: usize, lanes: &mut Inputs<'a>) {
        let values = &self[first..][..count];
        for lane in 0..count {
            lanes.set(lane, values[lane].as_ref());
        }
    }

    fn gather(&self, first: usize, places: &[usize], lanes: &mut Inputs<'a>) {
        for lane in 0..places.len() {
            lanes.set(lane, self[first + places[lane]].as_ref());
        }
    }
}
