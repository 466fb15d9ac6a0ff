//! The constants of SHA-1: FIPS 180-4, sections 4.1.1, 4.2.1 and 5.3.1.

use lanesum_lanes::function::{F, H, MAJORITY};

/// The state before the first block.
pub(crate) const INITIAL: [u32; 5] =
    [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];

/// The constant of each twenty rounds.
pub(crate) const K: [u32; 4] = [0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xca62_c1d6];

/// The function of each twenty rounds: Ch, Parity, Maj and Parity.
pub(crate) const FUNCTION: [i32; 4] = [F, H, MAJORITY, H];

#[cfg(test)]
mod tests {
    use super::*;

    /// They are the square roots of 2, 3, 5 and 10, times 2^30.
    #[test]
    fn constants_are_square_roots() {
        for (constant, square) in K.into_iter().zip([2.0_f64, 3.0, 5.0, 10.0]) {
            assert_eq!(f64::from(constant), (square.sqrt() * 1_073_741_824.0).floor());
        }
    }
}
