//! An input as words: little-endian, the last one with the bytes that are left and the length.

/// Bytes in a word.
pub(crate) const WORD_LEN: usize = 8;

/// The whole words of an input, and the last one.
#[inline(always)]
pub(crate) fn words(input: &[u8]) -> (&[[u8; WORD_LEN]], u64) {
    let (words, rest) = input.as_chunks();
    (words, last_word(input, rest.len()))
}

/// The word that ends an input: its last `rest` bytes, 0 to 7, and in the highest byte the length
/// modulo 256.
#[inline(always)]
pub(crate) fn last_word(input: &[u8], rest: usize) -> u64 {
    last_bytes(input, rest) | (input.len() as u64) << 56
}

/// The last `rest` bytes of an input, 0 to 7, as a number; reads within the input alone.
#[inline(always)]
pub(crate) fn last_bytes(input: &[u8], rest: usize) -> u64 {
    debug_assert!(rest < WORD_LEN && rest <= input.len());
    if let Some(&end) = input.last_chunk() {
        // In two shifts, since one of 64 is none.
        u64::from_le_bytes(end) >> 8 >> (56 - 8 * rest)
    } else {
        short(input)
    }
}

/// Fewer than eight bytes as a number, in overlapping pieces.
#[inline(always)]
fn short(bytes: &[u8]) -> u64 {
    if let (Some(&start), Some(&end)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let end = u64::from(u32::from_le_bytes(end)) << (8 * (bytes.len() - 4));
        u64::from(u32::from_le_bytes(start)) | end
    } else if let [first, .., last] = *bytes {
        let middle = bytes[bytes.len() / 2];
        u64::from(first)
            | u64::from(middle) << (8 * (bytes.len() / 2))
            | u64::from(last) << (8 * (bytes.len() - 1))
    } else {
        bytes.first().copied().map_or(0, u64::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_is_as_defined() {
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
