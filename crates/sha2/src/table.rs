//! The constants of SHA-2: FIPS 180-4, sections 4.2 and 5.3.
//!
//! Nearly all are the first bits of the fractional parts of roots of primes. Constant expressions
//! have no roots of that length, so the values are written out, and tests compute them.

/// The constants of SHA-512 in groups of sixteen rounds: the cube roots of the first 80 primes.
#[rustfmt::skip]
pub(crate) const K_512: [[u64; 16]; 5] = grouped([
    0x428a_2f98_d728_ae22, 0x7137_4491_23ef_65cd, 0xb5c0_fbcf_ec4d_3b2f, 0xe9b5_dba5_8189_dbbc,
    0x3956_c25b_f348_b538, 0x59f1_11f1_b605_d019, 0x923f_82a4_af19_4f9b, 0xab1c_5ed5_da6d_8118,
    0xd807_aa98_a303_0242, 0x1283_5b01_4570_6fbe, 0x2431_85be_4ee4_b28c, 0x550c_7dc3_d5ff_b4e2,
    0x72be_5d74_f27b_896f, 0x80de_b1fe_3b16_96b1, 0x9bdc_06a7_25c7_1235, 0xc19b_f174_cf69_2694,
    0xe49b_69c1_9ef1_4ad2, 0xefbe_4786_384f_25e3, 0x0fc1_9dc6_8b8c_d5b5, 0x240c_a1cc_77ac_9c65,
    0x2de9_2c6f_592b_0275, 0x4a74_84aa_6ea6_e483, 0x5cb0_a9dc_bd41_fbd4, 0x76f9_88da_8311_53b5,
    0x983e_5152_ee66_dfab, 0xa831_c66d_2db4_3210, 0xb003_27c8_98fb_213f, 0xbf59_7fc7_beef_0ee4,
    0xc6e0_0bf3_3da8_8fc2, 0xd5a7_9147_930a_a725, 0x06ca_6351_e003_826f, 0x1429_2967_0a0e_6e70,
    0x27b7_0a85_46d2_2ffc, 0x2e1b_2138_5c26_c926, 0x4d2c_6dfc_5ac4_2aed, 0x5338_0d13_9d95_b3df,
    0x650a_7354_8baf_63de, 0x766a_0abb_3c77_b2a8, 0x81c2_c92e_47ed_aee6, 0x9272_2c85_1482_353b,
    0xa2bf_e8a1_4cf1_0364, 0xa81a_664b_bc42_3001, 0xc24b_8b70_d0f8_9791, 0xc76c_51a3_0654_be30,
    0xd192_e819_d6ef_5218, 0xd699_0624_5565_a910, 0xf40e_3585_5771_202a, 0x106a_a070_32bb_d1b8,
    0x19a4_c116_b8d2_d0c8, 0x1e37_6c08_5141_ab53, 0x2748_774c_df8e_eb99, 0x34b0_bcb5_e19b_48a8,
    0x391c_0cb3_c5c9_5a63, 0x4ed8_aa4a_e341_8acb, 0x5b9c_ca4f_7763_e373, 0x682e_6ff3_d6b2_b8a3,
    0x748f_82ee_5def_b2fc, 0x78a5_636f_4317_2f60, 0x84c8_7814_a1f0_ab72, 0x8cc7_0208_1a64_39ec,
    0x90be_fffa_2363_1e28, 0xa450_6ceb_de82_bde9, 0xbef9_a3f7_b2c6_7915, 0xc671_78f2_e372_532b,
    0xca27_3ece_ea26_619c, 0xd186_b8c7_21c0_c207, 0xeada_7dd6_cde0_eb1e, 0xf57d_4f7f_ee6e_d178,
    0x06f0_67aa_7217_6fba, 0x0a63_7dc5_a2c8_98a6, 0x113f_9804_bef9_0dae, 0x1b71_0b35_131c_471b,
    0x28db_77f5_2304_7d84, 0x32ca_ab7b_40c7_2493, 0x3c9e_be0a_15c9_bebc, 0x431d_67c4_9c10_0d4c,
    0x4cc5_d4be_cb3e_42b6, 0x597f_299c_fc65_7e2a, 0x5fcb_6fab_3ad6_faec, 0x6c44_198c_4a47_5817,
]);

/// The constants of SHA-256 in groups of sixteen rounds: the first halves of those of SHA-512.
pub(crate) const K_256: [[u32; 16]; 4] = {
    let mut constants = [[0; 16]; 4];
    let mut round = 0;
    while round < 64 {
        constants[round / 16][round % 16] = (K_512[round / 16][round % 16] >> 32) as u32;
        round += 1;
    }
    constants
};

/// The initial state of SHA-512: the square roots of the first 8 primes.
#[rustfmt::skip]
pub(crate) const INITIAL_512: [u64; 8] = [
    0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b, 0x5be0_cd19_137e_2179,
];

/// The initial state of SHA-384: the square roots of the next 8 primes.
#[rustfmt::skip]
pub(crate) const INITIAL_384: [u64; 8] = [
    0xcbbb_9d5d_c105_9ed8, 0x629a_292a_367c_d507, 0x9159_015a_3070_dd17, 0x152f_ecd8_f70e_5939,
    0x6733_2667_ffc0_0b31, 0x8eb4_4a87_6858_1511, 0xdb0c_2e0d_64f9_8fa7, 0x47b5_481d_befa_4fa4,
];

/// The initial state of SHA-512/256: the digest of its name by SHA-512 with another initial state
/// (section 5.3.6).
#[rustfmt::skip]
pub(crate) const INITIAL_512_256: [u64; 8] = [
    0x2231_2194_fc2b_f72c, 0x9f55_5fa3_c84c_64c2, 0x2393_b86b_6f53_b151, 0x9638_7719_5940_eabd,
    0x9628_3ee2_a88e_ffe3, 0xbe5e_1e25_5386_3992, 0x2b01_99fc_2c85_b8aa, 0x0eb7_2ddc_81c5_2ca2,
];

/// The initial state of SHA-256: the first halves of that of SHA-512.
pub(crate) const INITIAL_256: [u32; 8] = halves(INITIAL_512, 32);

/// The initial state of SHA-224: the second halves of that of SHA-384.
pub(crate) const INITIAL_224: [u32; 8] = halves(INITIAL_384, 0);

/// Returns 32 bits of each number, from bit `from` on.
const fn halves(numbers: [u64; 8], from: u32) -> [u32; 8] {
    let mut halves = [0; 8];
    let mut place = 0;
    while place < 8 {
        halves[place] = (numbers[place] >> from) as u32;
        place += 1;
    }
    halves
}

const fn grouped(constants: [u64; 80]) -> [[u64; 16]; 5] {
    let mut groups = [[0; 16]; 5];
    let mut round = 0;
    while round < 80 {
        groups[round / 16][round % 16] = constants[round];
        round += 1;
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first primes.
    fn primes() -> impl Iterator<Item = u64> {
        (2..).filter(|number| (2..*number).all(|divisor| number % divisor != 0))
    }

    /// Compares `power` factors of a number with `prime << 64 * power`, digit by digit in base
    /// 2^32, least significant digit first.
    fn is_root(root: [u64; 3], power: usize, prime: u64) -> bool {
        let mut product = vec![1];
        for _ in 0..power {
            product = multiply(&product, &root);
        }
        let mut limit = vec![0; 2 * power];
        limit.push(prime);
        product.resize(limit.len().max(product.len()), 0);
        limit.resize(product.len(), 0);
        product.iter().rev().le(limit.iter().rev())
    }

    /// Returns a product in base 2^32.
    fn multiply(one: &[u64], other: &[u64]) -> Vec<u64> {
        let mut product = vec![0; one.len() + other.len()];
        for (place, digit) in one.iter().enumerate() {
            let mut carry = 0;
            for (at, factor) in other.iter().enumerate() {
                let sum = product[place + at] + digit * factor + carry;
                (product[place + at], carry) = (sum & 0xffff_ffff, sum >> 32);
            }
            product[place + other.len()] += carry;
        }
        product
    }

    /// Checks that a fraction of 64 bits is that of the root of a prime: the number is at most the
    /// root, and the next one is not.
    fn check(fraction: u64, power: usize, prime: u64) {
        let whole = (1..).take_while(|n: &u64| n.pow(power as u32) <= prime).last().unwrap();
        let number = u128::from(whole) << 64 | u128::from(fraction);
        let digits =
            |n: u128| [n as u64 & 0xffff_ffff, (n >> 32) as u64 & 0xffff_ffff, (n >> 64) as u64];
        assert!(is_root(digits(number), power, prime), "{prime}");
        assert!(!is_root(digits(number + 1), power, prime), "{prime}");
    }

    #[test]
    fn constants_are_the_cube_roots_of_primes() {
        let constants = K_512.as_flattened();
        assert_eq!(constants.len(), 80);
        primes().zip(constants).for_each(|(prime, &constant)| check(constant, 3, prime));
    }

    #[test]
    fn initial_states_are_the_square_roots_of_primes() {
        let initial = INITIAL_512.iter().chain(&INITIAL_384);
        primes().zip(initial).for_each(|(prime, &initial)| check(initial, 2, prime));
    }
}
