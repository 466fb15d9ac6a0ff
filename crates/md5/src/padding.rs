//! The bytes of a message that do not fill a block, and the padding that ends it.

use lanesum_lanes::BLOCK_LEN;

/// Bytes that the length takes at the end of the padding.
const LENGTH_LEN: usize = 8;

/// The bytes of a message after its last whole block.
#[derive(Clone, Debug)]
pub(crate) struct BlockBuffer {
    /// A block under construction; padding may need a second one.
    bytes: [u8; 2 * BLOCK_LEN],
    /// How many of them count.
    filled: usize,
}

impl BlockBuffer {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; 2 * BLOCK_LEN], filled: 0 }
    }

    /// Whether it holds nothing, so that whole blocks may be taken straight from the input.
    pub(crate) const fn is_empty(&self) -> bool {
        self.filled == 0
    }

    /// Takes bytes up to the end of the block; says how many it took.
    pub(crate) fn fill(&mut self, input: &[u8]) -> usize {
        let room = BLOCK_LEN - self.filled;
        let taken = room.min(input.len());
        self.bytes[self.filled..][..taken].copy_from_slice(&input[..taken]);
        self.filled += taken;
        taken
    }

    /// The whole blocks in it: none or one, and after [`pad`](Self::pad) one or two.
    pub(crate) fn blocks(&self) -> &[u8] {
        &self.bytes[..self.filled - self.filled % BLOCK_LEN]
    }

    /// All that it holds.
    #[cfg(feature = "digest")]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }

    /// Forgets all that it holds.
    pub(crate) fn clear(&mut self) {
        self.filled = 0;
    }

    /// Ends the message. `length` counts all its bytes, these included.
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
    /// How many bytes of the message are in it, and how many the message has.
    of: (usize, u64),
}

impl PaddedTail {
    /// Of the empty message.
    #[cfg(feature = "alloc")]
    pub(crate) fn new() -> Self {
        Self::of(&[], 0)
    }

    /// That of a message of `length` bytes, of which `rest` are the last.
    ///
    /// # Panics
    /// Panics if they take more than two blocks.
    #[inline]
    pub(crate) fn of(rest: &[u8], length: u64) -> Self {
        let mut bytes = [0; 2 * BLOCK_LEN];
        bytes[..rest.len()].copy_from_slice(rest);
        pad(&mut bytes, rest.len(), length);
        Self { bytes, of: (rest.len(), length) }
    }

    /// Becomes that of a message of `length` bytes, of which `rest` are the last.
    ///
    /// # Panics
    /// Panics if they take more than two blocks.
    #[cfg(feature = "alloc")]
    #[inline]
    pub(crate) fn write(&mut self, rest: &[u8], length: u64) {
        let of = (rest.len(), length);
        // Among messages of the same length the padding stays.
        if self.of != of {
            self.bytes = [0; 2 * BLOCK_LEN];
            pad(&mut self.bytes, rest.len(), length);
            self.of = of;
        }
        if !rest.is_empty() {
            self.bytes[..rest.len()].copy_from_slice(rest);
        }
    }

    /// The blocks, one or two.
    #[inline]
    pub(crate) fn blocks(&self) -> &[u8] {
        &self.bytes[..blocks_of(self.of.0) * BLOCK_LEN]
    }
}

/// How many blocks a message of so many bytes takes with its padding.
#[inline]
pub(crate) const fn blocks_of(length: usize) -> usize {
    (length + LENGTH_LEN) / BLOCK_LEN + 1
}

/// Ends a message of which the first `filled` bytes are the last, and zeros follow; gives how many
/// bytes it has then. As RFC 1321 sections 3.1 and 3.2 say: a byte 0x80, zeros, and the length in
/// bits modulo 2^64 at the end of a block.
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

    /// The padding's shape for every number of bytes in the buffer, by its definition.
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
