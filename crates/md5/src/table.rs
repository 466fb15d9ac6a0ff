//! The table of the 64 steps of MD5, from the formulas of RFC 1321, section 3.4.

use lanesum_lanes::function::{F, G, H, I};

/// One step: a = b + ((a + function(b, c, d) + block\[word\] + constant) <<< shift).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) function: i32,
    pub(crate) word: usize,
    pub(crate) shift: u32,
    pub(crate) constant: u32,
}

/// The state before the first block: A, B, C, D.
pub(crate) const INITIAL: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];

/// The steps in order, four in each turn.
pub(crate) const STEPS: [[Step; 4]; 16] = steps();

const fn steps() -> [[Step; 4]; 16] {
    let mut steps = [[Step { function: F, word: 0, shift: 0, constant: 0 }; 4]; 16];
    let mut i = 0;
    while i < 64 {
        let (function, word, shifts) = match i / 16 {
            0 => (F, i, [7, 12, 17, 22]),
            1 => (G, 5 * i + 1, [5, 9, 14, 20]),
            2 => (H, 3 * i + 5, [4, 11, 16, 23]),
            _ => (I, 7 * i, [6, 10, 15, 21]),
        };
        steps[i / 4][i % 4] =
            Step { function, word: word % 16, shift: shifts[i % 4], constant: SINES[i] };
        i += 1;
    }
    steps
}

/// floor(2^32 * |sin(i + 1)|), in radians. Constant expressions have no sine, so the values are
/// written out, and a test computes them.
#[rustfmt::skip]
const SINES: [u32; 64] = [
    0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
    0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821,
    0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
    0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a,
    0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
    0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
    0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
    0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1, 0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_the_sines() {
        for (i, step) in STEPS.as_flattened().iter().enumerate() {
            let sine = f64::from(i as u32 + 1).sin().abs();
            assert_eq!(step.constant, (sine * 4_294_967_296.0).floor() as u32, "step {i}");
        }
    }

    #[test]
    fn every_round_uses_every_word_once() {
        for (round, steps) in STEPS.as_flattened().chunks(16).enumerate() {
            let mut words: Vec<_> = steps.iter().map(|step| step.word).collect();
            words.sort_unstable();
            assert_eq!(words, (0..16).collect::<Vec<_>>(), "round {round}");
            let function = [F, G, H, I][round];
            assert!(steps.iter().all(|step| step.function == function), "round {round}");
        }
    }

    /// Compares some steps with the lines `[ABCD k s i]` of RFC 1321, section 3.4.
    #[test]
    fn the_steps_agree_with_the_rfc() {
        let k_and_s =
            |i: usize| (STEPS.as_flattened()[i - 1].word, STEPS.as_flattened()[i - 1].shift);
        assert_eq!([1, 2, 3, 4].map(k_and_s), [(0, 7), (1, 12), (2, 17), (3, 22)]);
        assert_eq!([17, 18, 19, 20].map(k_and_s), [(1, 5), (6, 9), (11, 14), (0, 20)]);
        assert_eq!([33, 34, 35, 36].map(k_and_s), [(5, 4), (8, 11), (11, 16), (14, 23)]);
        assert_eq!([49, 50, 51, 52].map(k_and_s), [(0, 6), (7, 10), (14, 15), (5, 21)]);
        assert_eq!(k_and_s(64), (9, 21));
    }
}
