//! Hexadecimal digits, of many digests at once.

/// Returns the two lower-case digits of a byte. Only sums and products, so that the compiler
/// vectorises a loop over it. A table would be read byte by byte.
#[inline(always)]
const fn pair(byte: u8) -> [u8; 2] {
    let byte = byte as u16;
    // The upper half of the byte is the first digit, and the lower byte of the pair.
    let nibbles = byte >> 4 | (byte & 0xf) << 8;
    // 1 if a nibble is a letter. `a` is 39 after the character that follows `9`.
    let letters = (nibbles + 0x0606) >> 4 & 0x0101;
    (nibbles + 0x3030 + letters * 39).to_le_bytes()
}

/// Writes the digits of bytes to a slice of twice the length.
///
/// # Panics
/// If the slice is shorter.
pub(crate) fn encode(bytes: &[u8], digits: &mut [u8]) {
    let pairs = digits.as_chunks_mut::<2>().0;
    assert!(pairs.len() >= bytes.len(), "two digits a byte");
    for (place, &byte) in pairs.iter_mut().zip(bytes) {
        *place = pair(byte);
    }
}

/// Returns the hexadecimal digits of a digest.
pub(crate) fn digits(digest: &[u8]) -> String {
    digest.iter().flat_map(|&byte| pair(byte)).map(char::from).collect()
}
