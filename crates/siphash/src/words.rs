//! The little-endian words of an input. The last word holds the remaining bytes and the length.

use lanesum_lanes::{WORD_LEN, rest_of};

/// The last word of an input of eight bytes, which holds only the length.
pub(crate) const EIGHT_BYTES: u64 = 8 << 56;

/// Returns the whole words of an input, and the last word: the remaining 0 to 7 bytes, and the
/// length modulo 256 in the highest byte.
#[inline(always)]
pub(crate) fn words(input: &[u8]) -> (&[[u8; WORD_LEN]], u64) {
    (input.as_chunks().0, rest_of(input) | (input.len() as u64) << 56)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_matches_its_definition() {
        let bytes: [u8; 40] = core::array::from_fn(|i| 0xf0 ^ i as u8);
        for length in 0..=bytes.len() {
            let input = &bytes[..length];
            let mut expected = [0; WORD_LEN];
            let rest = &input[length - length % WORD_LEN..];
            expected[..rest.len()].copy_from_slice(rest);
            expected[7] = length as u8;
            let (whole, last) = words(input);
            assert_eq!(whole.as_flattened(), &input[..length - rest.len()]);
            assert_eq!(last.to_le_bytes(), expected, "{length} bytes");
        }
    }
}
