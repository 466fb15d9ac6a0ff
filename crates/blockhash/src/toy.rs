//! A hash function for the tests of the schedulers: plain loops, and widths that no CPU decides.

use lanesum_lanes::Backend;

use crate::hash::{BlockHash, Plan};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Toy;

impl BlockHash for Toy {
    type State = [u8; 8];
    type Digest = [u8; 6];
    type Tail = [u8; 256];
    type Padding = [u8; 128];

    const NAME: &'static str = "TOY";
    const IS_BIG_ENDIAN: bool = true;
    const INITIAL: [u8; 8] = [7; 8];
    const NO_PADDING: [u8; 128] = [0; 128];

    /// Pairs up to five messages, then 8 and 16 lanes.
    fn width(_: Backend, lanes: usize) -> usize {
        match lanes {
            0 | 1 => 1,
            2..=5 => 2,
            6..=8 => 8,
            _ => 16,
        }
    }

    fn padding(block: &[u8]) -> [u8; 128] {
        block.try_into().expect("one block")
    }

    fn run(plan: Plan<'_, Self>, _: Backend, width: usize) {
        let Plan { blocks, last, states } = plan;
        for (group, parts) in blocks.iter().enumerate() {
            for (lane, place) in states[group * width..][..width].iter_mut().enumerate() {
                let mut state = u64::from_be_bytes(if group == 0 { *place } else { Self::INITIAL });
                let parts = parts.iter().filter(|part| part.count() > 0);
                let bytes = parts.flat_map(|part| &part.inputs()[lane][..part.count() * 64]);
                for byte in bytes.chain(last.into_iter().flatten()) {
                    state = (state ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
                }
                *place = state.to_be_bytes();
            }
        }
    }

    crate::schedulers!([u8; 8]);
}
