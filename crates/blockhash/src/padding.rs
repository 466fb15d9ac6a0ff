//! The bytes of a message that do not fill a block, and the padding that ends it.

#[cfg(feature = "alloc")]
use lanesum_lanes::copy;

use crate::hash::{BlockHash, Bytes as _, block_len};

/// The number of bytes of the length at the end of the padding.
pub(crate) const fn length_len<H: BlockHash>() -> usize {
    block_len::<H>() / 8
}

/// The bytes of a message after its last whole block.
#[derive(Clone, Debug)]
pub(crate) struct BlockBuffer<H: BlockHash> {
    /// A block under construction. Padding may need a second one.
    bytes: H::Tail,
    /// The number of bytes in use.
    filled: usize,
}

impl<H: BlockHash> BlockBuffer<H> {
    pub(crate) const fn new() -> Self {
        Self { bytes: H::Tail::ZEROS, filled: 0 }
    }

    /// Returns whether the buffer is empty, so that whole blocks can be read directly from the
    /// input.
    pub(crate) const fn is_empty(&self) -> bool {
        self.filled == 0
    }

    /// Adds bytes up to the end of the block. Returns how many it added.
    pub(crate) fn fill(&mut self, input: &[u8]) -> usize {
        let room = block_len::<H>() - self.filled;
        let taken = room.min(input.len());
        self.bytes.as_mut()[self.filled..][..taken].copy_from_slice(&input[..taken]);
        self.filled += taken;
        taken
    }

    /// Returns the whole blocks: none or one, and one or two after [`pad`](Self::pad).
    pub(crate) fn blocks(&self) -> &[u8] {
        &self.bytes.as_ref()[..self.filled - self.filled % block_len::<H>()]
    }

    /// Returns all bytes in the buffer.
    #[cfg(feature = "digest")]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes.as_ref()[..self.filled]
    }

    /// Overwrites the bytes with zeros.
    #[cfg(feature = "zeroize")]
    pub(crate) fn zeroize(&mut self) {
        zeroize::Zeroize::zeroize(self.bytes.as_mut());
    }

    /// Empties the buffer.
    pub(crate) fn clear(&mut self) {
        self.filled = 0;
    }

    /// Pads the message. `length` counts all its bytes, including those in the buffer.
    pub(crate) fn pad(&mut self, length: u64) {
        debug_assert!(self.filled < block_len::<H>(), "a full block must be taken first");
        self.bytes.as_mut()[self.filled..].fill(0);
        self.filled = pad::<H>(&mut self.bytes, self.filled, length);
    }
}

/// The end of a message: the bytes after some whole block, and the padding.
#[derive(Clone, Debug)]
pub(crate) struct PaddedTail<H: BlockHash> {
    bytes: H::Tail,
    /// The number of bytes of the message in it, and the length of the message.
    of: (usize, u64),
}

impl<H: BlockHash> PaddedTail<H> {
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
        let mut bytes = H::Tail::ZEROS;
        bytes.as_mut()[..rest.len()].copy_from_slice(rest);
        pad::<H>(&mut bytes, rest.len(), length);
        Self { bytes, of: (rest.len(), length) }
    }

    /// Turns this into the tail of a message of `length` bytes, whose last bytes are `rest`.
    ///
    /// # Panics
    /// Panics if the tail is longer than two blocks.
    #[cfg(feature = "alloc")]
    #[inline(always)]
    pub(crate) fn write(&mut self, rest: &[u8], length: u64) {
        let of = (rest.len(), length);
        // For messages of the same length the padding is the same.
        if self.of != of {
            self.bytes = H::Tail::ZEROS;
            pad::<H>(&mut self.bytes, rest.len(), length);
            self.of = of;
        }
        if !rest.is_empty() {
            copy(rest, &mut self.bytes.as_mut()[..rest.len()]);
        }
    }

    /// Returns the one or two blocks.
    #[inline]
    pub(crate) fn blocks(&self) -> &[u8] {
        &self.bytes.as_ref()[..blocks_of::<H>(self.of.0) * block_len::<H>()]
    }
}

/// Returns the number of blocks of a message of `length` bytes, including padding.
#[inline]
pub(crate) const fn blocks_of<H: BlockHash>(length: usize) -> usize {
    (length + length_len::<H>()) / block_len::<H>() + 1
}

/// Pads a message whose last bytes are the first `filled` ones of the buffer, followed by zeros.
/// Returns the number of bytes with padding. The padding is a byte 0x80, zeros, and the length in
/// bits at the end of a block (RFC 1321, sections 3.1 and 3.2; FIPS 180-4, section 5.1).
#[inline]
pub(crate) fn pad<H: BlockHash>(bytes: &mut H::Tail, filled: usize, length: u64) -> usize {
    let end = blocks_of::<H>(filled) * block_len::<H>();
    let bytes = bytes.as_mut();
    bytes[filled] = 0x80;
    let bits = u128::from(length) << 3;
    let field = &mut bytes[end - length_len::<H>()..end];
    // A field of eight bytes holds the length modulo 2^64.
    match (H::IS_BIG_ENDIAN, field.len()) {
        (false, 8) => field.copy_from_slice(&(bits as u64).to_le_bytes()),
        (true, 8) => field.copy_from_slice(&(bits as u64).to_be_bytes()),
        (true, 16) => field.copy_from_slice(&bits.to_be_bytes()),
        _ => unreachable!("no such hash function"),
    }
    end
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;
    use crate::toy::Toy;

    /// Checks the padding against its definition for every number of bytes in the buffer.
    #[test]
    fn padding_ends_in_the_length() {
        for filled in 0..128 {
            let mut buffer = BlockBuffer::<Toy>::new();
            assert_eq!(buffer.fill(&[0xff; 128][..filled]), filled);
            buffer.pad((1 << 62) + filled as u64);
            let blocks = buffer.blocks();
            assert_eq!(blocks.len(), if filled < 112 { 128 } else { 256 }, "{filled}");
            assert!(blocks[..filled].iter().all(|&byte| byte == 0xff), "{filled}");
            assert_eq!(blocks[filled], 0x80, "{filled}");
            let (zeros, length) = blocks[filled + 1..].split_at(blocks.len() - filled - 17);
            assert!(zeros.iter().all(|&byte| byte == 0), "{filled}");
            assert_eq!(length, ((1_u128 << 65) + 8 * filled as u128).to_be_bytes(), "{filled}");
        }
    }

    #[test]
    fn a_tail_is_padded_with_a_second_block() {
        let mut tail = PaddedTail::<Toy>::new();
        for byte in [7, 8] {
            let rest = [byte; 256 - 17];
            tail.write(&rest, 1 << 10);
            assert_eq!(tail.blocks()[..rest.len()], rest);
            let mut end = [0; 17];
            (end[0], end[15]) = (0x80, 0x20);
            assert_eq!(tail.blocks()[rest.len()..], end);
        }
        assert_eq!((blocks_of::<Toy>(256 - 17), blocks_of::<Toy>(256 - 16)), (2, 3));
        tail.write(&[], 0);
        assert_eq!(tail.blocks()[0], 0x80);
        assert!(tail.blocks()[1..].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn a_buffer_takes_at_most_one_block() {
        let mut buffer = BlockBuffer::<Toy>::new();
        assert_eq!(buffer.fill(&[1; 120]), 120);
        assert!(buffer.blocks().is_empty() && !buffer.is_empty());
        assert_eq!(buffer.fill(&[2; 120]), 8);
        assert_eq!(buffer.blocks()[118..], [1, 1, 2, 2, 2, 2, 2, 2, 2, 2]);
        buffer.clear();
        assert!(buffer.is_empty());
    }
}
