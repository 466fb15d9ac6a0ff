//! What all incarnations share: the functions and the constants of RFC 1321.

/// A, B, C and D.
pub type State = [u32; 4];

pub fn f(x: u32, y: u32, z: u32) -> u32 {
    (x & y) | (!x & z)
}

pub fn g(x: u32, y: u32, z: u32) -> u32 {
    (x & z) | (y & !z)
}

pub fn h(x: u32, y: u32, z: u32) -> u32 {
    x ^ y ^ z
}

pub fn i(x: u32, y: u32, z: u32) -> u32 {
    y ^ (x | !z)
}

/// Which word of the block a step takes.
pub const WORDS: [[usize; 16]; 4] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [1, 6, 11, 0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12],
    [5, 8, 11, 14, 1, 4, 7, 10, 13, 0, 3, 6, 9, 12, 15, 2],
    [0, 7, 14, 5, 12, 3, 10, 1, 8, 15, 6, 13, 4, 11, 2, 9],
];

/// How far a step rotates, every four steps the same.
pub const SHIFTS: [[u32; 4]; 4] =
    [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// What a step adds: floor(2^32 * |sin(i + 1)|), i in radians.
#[rustfmt::skip]
pub const SINES: [[u32; 16]; 4] = [
    [0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
     0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821],
    [0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
     0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a],
    [0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
     0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665],
    [0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
     0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1, 0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391],
];

/// The state after a block: what went in, word by word, and what came out.
pub fn sum(before: State, after: State) -> State {
    std::array::from_fn(|word| before[word].wrapping_add(after[word]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_the_sines() {
        for (step, constant) in SINES.as_flattened().iter().enumerate() {
            let sine = (step as f64 + 1.0).sin().abs();
            assert_eq!(*constant, (sine * 4_294_967_296.0) as u32, "step {step}");
        }
    }
}
