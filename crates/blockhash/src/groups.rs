//! Runs a kernel over any number of lanes.

use lanesum_lanes::{Backend, Blocks, MAX_LANES};

use crate::hash::{BlockHash, Plan, blocks};

/// Advances the states of the first `lanes` inputs by a number of blocks of each. If there are more
/// lanes than the kernel has, it runs several times.
pub(crate) fn advance<H: BlockHash>(
    backend: Backend,
    inputs: &mut [&[u8]; MAX_LANES],
    lanes: usize,
    count: usize,
    states: &mut [H::State; MAX_LANES],
) {
    let mut first = 0;
    while first < lanes {
        let width = H::width(backend, lanes - first);
        // Idle lanes get the input of the first one.
        let end = first + width;
        if end > lanes {
            let input = inputs[first];
            inputs[lanes..end].fill(input);
        }
        let blocks = &[[blocks::<H>(&inputs[first..end], count), Blocks::NONE]];
        H::run(Plan { blocks, last: None, states: &mut states[first..end] }, backend, width);
        first = end;
    }
}
