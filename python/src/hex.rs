//! Hexadecimal digits, of many digests at once.

/// The two digits of a byte, in lower case. Sums and products alone, so that the compiler makes
/// vectors of a loop over it, where a table would be looked up byte by byte.
#[inline(always)]
const fn pair(byte: u8) -> [u8; 2] {
    let byte = byte as u16;
    // The upper half of the byte is the first digit, which is the lower byte of the pair.
    let nibbles = byte >> 4 | (byte & 0xf) << 8;
    // 1 where a nibble is ten or more, and takes a letter: `a` is 39 behind what follows `9`.
    let letters = (nibbles + 0x0606) >> 4 & 0x0101;
    (nibbles + 0x3030 + letters * 39).to_le_bytes()
}

/// Puts the digits of bytes into a place that is twice as long.
///
/// # Panics
/// When it is shorter.
pub(crate) fn encode(bytes: &[u8], digits: &mut [u8]) {
    let pairs = digits.as_chunks_mut::<2>().0;
    assert!(pairs.len() >= bytes.len(), "two digits a byte");
    for (place, &byte) in pairs.iter_mut().zip(bytes) {
        *place = pair(byte);
    }
}

/// The digits of one digest.
pub(crate) fn digits(digest: &[u8]) -> String {
    digest.iter().flat_map(|&byte| pair(byte)).map(char::from).collect()
}
