//! The bytes of a message that do not fill a block, and the padding that ends it.

use lanesum_lanes::BLOCK_LEN;

/// The number of bytes of the length at the end of the padding.
const LENGTH_LEN: usize = 8;

/// The bytes of a message after its last whole block.
#[derive(Clone, Debug)]
pub(crate) struct BlockBuffer {
    /// A block under construction. Padding may need a second one.
    bytes: [u8; 2 * BLOCK_LEN],
    /// The number of bytes in use.
    filled: usize,
}

impl BlockBuffer {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; 2 * BLOCK_LEN], filled: 0 }
    }

    /// Returns whether the buffer is empty, so that whole blocks can be read directly from the
    /// input.
    pub(crate) const fn is_empty(&self) -> bool {
        self.filled == 0
    }

    /// Adds bytes up to the end of the block. Returns how many it added.
    pub(crate) fn fill(&mut self, input: &[u8]) -> usize {
        let room = BLOCK_LEN - self.filled;
        let taken = room.min(input.len());
        self.bytes[self.filled..][..taken].copy_from_slice(&input[..taken]);
        self.filled += taken;
        taken
    }

    /// Returns the whole blocks: none or one, and one or two after [`pad`](Self::pad).
    pub(crate) fn blocks(&self) -> &[u8] {
        &self.bytes[..self.filled - self.filled % BLOCK_LEN]
    }

    /// Returns all bytes in the buffer.
    #[cfg(feature = "digest")]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }

    /// Empties the buffer.
    pub(crate) fn clear(&mut self) {
        self.filled = 0;
    }

    /// Pads the message. `length` counts all its bytes, including those in the buffer.
    pub(crate) fn pad(&mut self, length: u64) {
        debug_assert!(self.filled < BLOCK_LEN, "a full block must be taken first");
        self.bytes[self.filled..].fill(0);
        self.filled = pad(&mut self.bytes, self.filled, length);
    }
}

/// The end of a message: the bytes after some whole block, and the padding.
#[derive(Clone, Debug)]
pub(crate) struct PaddedTail {
    bytes: [u8; 2 * BLOCK_LEN],
    /// The number of bytes of the message in it, and the length of the message.
    of: (usize, u64),
}

impl PaddedTail {
    /// The tail of the empty message.
    #[cfg(feature = "alloc")]
    pub(crate) fn new() -> Self {
        Self::of(&[], 0)
    }

    /// Returns the tail of a message of `length` bytes, whose last bytes are `rest`.
    ///
    /// # Panics
    /// Panics if the tail is longer than two blocks.
    #[inline]
    pub(crate) fn of(rest: &[u8], length: u64) -> Self {
        let mut bytes = [0; 2 * BLOCK_LEN];
        bytes[..rest.len()].copy_from_slice(rest);
        pad(&mut bytes, rest.len(), length);
        Self { bytes, of: (rest.len(), length) }
    }

    /// Turns this into the tail of a message of `length` bytes, whose last bytes are `rest`.
    ///
    /// # Panics
    /// Panics if the tail is longer than two blocks.
    #[cfg(feature = "alloc")]
    #[inline]
    pub(crate) fn write(&mut self, rest: &[u8], length: u64) {
        let of = (rest.len(), length);
        // For messages of the same length the padding is the same.
        if self.of != of {
            self.bytes = [0; 2 * BLOCK_LEN];
            pad(&mut self.bytes, rest.len(), length);
            self.of = of;
        }
        if !rest.is_empty() {
            self.bytes[..rest.len()].copy_from_slice(rest);
        }
    }

    /// Returns the one or two blocks.
    #[inline]
    pub(crate) fn blocks(&self) -> &[u8] {
        &self.bytes[..blocks_of(self.of.0) * BLOCK_LEN]
    }
}

/// Returns the number of blocks of a message of `length` bytes, including padding.
#[inline]
pub(crate) const fn blocks_of(length: usize) -> usize {
    (length + LENGTH_LEN) / BLOCK_LEN + 1
}

/// Pads a message whose last bytes are the first `filled` ones of the buffer, followed by zeros.
/// Returns the number of bytes with padding. The padding is a byte 0x80, zeros, and the length in
/// bits modulo 2^64 at the end of a block (RFC 1321, sections 3.1 and 3.2).
#[inline]
pub(crate) fn pad(bytes: &mut [u8; 2 * BLOCK_LEN], filled: usize, length: u64) -> usize {
    let end = blocks_of(filled) * BLOCK_LEN;
    bytes[filled] = 0x80;
    bytes[end - LENGTH_LEN..end].copy_from_slice(&length.wrapping_mul(8).to_le_bytes());
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the padding against its definition for every number of bytes in the buffer.
    #[test]
    fn padding_ends_in_the_length() {
        for filled in 0..BLOCK_LEN {
            let mut buffer = BlockBuffer::new();
            assert_eq!(buffer.fill(&[0xff; BLOCK_LEN][..filled]), filled);
            buffer.pad((1 << 32) + filled as u64);
            let blocks = buffer.blocks();
            assert_eq!(blocks.len(), if filled < 56 { 64 } else { 128 }, "{filled}");
            assert!(blocks[..filled].iter().all(|&byte| byte == 0xff), "{filled}");
            assert_eq!(blocks[filled], 0x80, "{filled}");
            let (zeros, length) = blocks[filled + 1..].split_at(blocks.len() - filled - 9);
            assert!(zeros.iter().all(|&byte| byte == 0), "{filled}");
            assert_eq!(length, ((1_u64 << 35) + 8 * filled as u64).to_le_bytes(), "{filled}");
        }
    }

    #[test]
    fn a_whole_block_is_padded_with_a_second() {
        let mut tail = PaddedTail::new();
        for byte in [7, 8] {
            let rest = [byte; 2 * BLOCK_LEN - 9];
            tail.write(&rest, 1 << 10);
            assert_eq!(tail.blocks()[..rest.len()], rest);
            assert_eq!(tail.blocks()[rest.len()..], [0x80, 0, 0x20, 0, 0, 0, 0, 0, 0]);
        }
        assert_eq!((blocks_of(2 * BLOCK_LEN - 9), blocks_of(2 * BLOCK_LEN - 8)), (2, 3));
        tail.write(&[], 0);
        assert_eq!(tail.blocks()[0], 0x80);
        assert!(tail.blocks()[1..].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn a_buffer_takes_at_most_one_block() {
        let mut buffer = BlockBuffer::new();
        assert_eq!(buffer.fill(&[1; 60]), 60);
        assert!(buffer.blocks().is_empty() && !buffer.is_empty());
        assert_eq!(buffer.fill(&[2; 60]), 4);
        assert_eq!(buffer.blocks()[59..], [1, 2, 2, 2, 2]);
        buffer.clear();
        assert!(buffer.is_empty());
    }
}
