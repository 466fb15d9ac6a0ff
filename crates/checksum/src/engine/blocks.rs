//! Hashes of stores that hash the blocks of a file first, each by SHA-256.
//!
//! A file in lanes (`lanes.rs`) has one lane of SHA-256, where the next block begins when one ends.
//! So the blocks of several files are hashed side by side, and those of one file in their order.
//! [`BlockByBlock`] hashes an input that is in no lane.

use lanesum_blockhash::{Hasher, Midstate};
use lanesum_sha2::{Sha256Digest, Sha256Hash, sha256};

use crate::Algorithm;

/// The digests of the blocks of a message so far, and the place in the current block.
pub(super) struct Blocks {
    joined: Box<dyn Join>,
    /// Bytes in each block but the last.
    block_len: usize,
    /// Bytes in the current block so far.
    length: usize,
}

impl Blocks {
    /// Returns the start of a message, or `None` for an algorithm without blocks.
    pub(super) fn of(algorithm: Algorithm) -> Option<Self> {
        let (joined, block_len): (Box<dyn Join>, _) = match algorithm {
            Algorithm::Dropbox => (Box::<Dropbox>::default(), Dropbox::BLOCK_LEN),
            Algorithm::Glacier => (Box::<Glacier>::default(), Glacier::BLOCK_LEN),
            _ => return None,
        };
        Some(Self { joined, block_len, length: 0 })
    }

    /// Returns those of the next bytes that belong to the current block.
    #[inline]
    pub(super) fn cut<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        &bytes[..bytes.len().min(self.block_len - self.length)]
    }

    /// Notes that so many bytes of the current block are hashed.
    #[inline]
    pub(super) fn consume(&mut self, count: usize) {
        self.length += count;
    }

    /// Returns whether all bytes of the current block are hashed.
    pub(super) fn is_whole(&self) -> bool {
        self.length == self.block_len
    }

    /// Adds the digest of the current block. Returns whether the block is whole, so that another
    /// one follows, which may be empty. An empty block does not count.
    pub(super) fn end_block(&mut self, digest: Sha256Digest) -> bool {
        let is_whole = self.is_whole();
        if self.length > 0 {
            self.joined.add(digest);
        }
        self.length = 0;
        is_whole
    }

    /// Like [`end_block`](Self::end_block), from the last state of the block's lane. The state of a
    /// whole block lacks the padding, which follows here. In the lanes it would be a step of a
    /// single block, and the lanes of other algorithms would wait for it at the end of each buffer.
    pub(super) fn end_lane(&mut self, state: &[u8]) -> bool {
        let digest = if self.is_whole() {
            let midstate = Midstate::from_slice(state, self.block_len as u64);
            midstate.map(|midstate| Hasher::<Sha256Hash>::from(midstate).finalize())
        } else {
            state.try_into().ok()
        };
        self.end_block(digest.expect("a state of SHA-256"))
    }

    /// Returns the digest of a message of one block, given that of the block.
    ///
    /// # Panics
    /// Panics if a block is shorter than the message.
    pub(super) fn of_one(mut self, length: usize, digest: Sha256Digest) -> Sha256Digest {
        assert!(length <= self.block_len, "{length} bytes are more than a block");
        self.consume(length);
        self.end_block(digest);
        self.finalize()
    }

    /// Returns the digest of all ended blocks.
    pub(super) fn finalize(self) -> Sha256Digest {
        self.joined.finalize()
    }
}

/// The computation of a hash of blocks, one block after the other.
pub(super) struct BlockByBlock {
    blocks: Blocks,
    block: Hasher<Sha256Hash>,
}

impl BlockByBlock {
    pub(super) fn new(blocks: Blocks) -> Self {
        Self { blocks, block: Hasher::new() }
    }

    pub(super) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.blocks.is_whole() {
                self.blocks.end_block(std::mem::take(&mut self.block).finalize());
            }
            let taken = self.blocks.cut(bytes);
            self.block.update(taken);
            self.blocks.consume(taken.len());
            bytes = &bytes[taken.len()..];
        }
    }

    pub(super) fn finalize(mut self) -> Sha256Digest {
        self.blocks.end_block(self.block.finalize());
        self.blocks.finalize()
    }
}

/// How the digests of the blocks become one.
trait Join: Send {
    /// Adds the digest of the next block.
    fn add(&mut self, digest: Sha256Digest);

    fn finalize(self: Box<Self>) -> Sha256Digest;
}

/// The content hash of Dropbox: the SHA-256 of the joined digests of blocks of 4 MiB.
///
/// Source: "Content hash" of Dropbox's documentation for developers.
#[derive(Default)]
struct Dropbox(Hasher<Sha256Hash>);

impl Dropbox {
    const BLOCK_LEN: usize = 4 << 20;
}

impl Join for Dropbox {
    fn add(&mut self, digest: Sha256Digest) {
        self.0.update(digest.as_ref());
    }

    fn finalize(self: Box<Self>) -> Sha256Digest {
        self.0.finalize()
    }
}

/// The tree hash of Amazon Glacier: blocks of 1 MiB are the leaves of a binary tree, and a node is
/// the SHA-256 of its two children. A node without a neighbour moves up a level.
///
/// Source: "Computing Checksums" of the Developer Guide of Amazon S3 Glacier.
#[derive(Default)]
struct Glacier {
    /// The whole subtrees from the left, each with its number of leaves, a power of two.
    subtrees: Vec<(u64, Sha256Digest)>,
}

impl Glacier {
    const BLOCK_LEN: usize = 1 << 20;

    fn parent(left: Sha256Digest, right: Sha256Digest) -> Sha256Digest {
        sha256([*left.as_bytes(), *right.as_bytes()].as_flattened())
    }
}

impl Join for Glacier {
    fn add(&mut self, mut digest: Sha256Digest) {
        let mut leaves = 1;
        while let Some((_, left)) = self.subtrees.pop_if(|left| left.0 == leaves) {
            digest = Self::parent(left, digest);
            leaves *= 2;
        }
        self.subtrees.push((leaves, digest));
    }

    /// A file without bytes has one empty block.
    fn finalize(self: Box<Self>) -> Sha256Digest {
        let subtrees = self.subtrees.into_iter().map(|(_, digest)| digest).rev();
        let root = subtrees.reduce(|right, left| Self::parent(left, right));
        root.unwrap_or_else(|| sha256(b""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(algorithm: Algorithm, expected: &[(usize, &str)]) {
        for &(length, expected) in expected {
            let bytes: Vec<_> = (0..length).map(|at| (at % 251) as u8).collect();
            for piece in [length.max(1), 1_000_003] {
                let mut hash = BlockByBlock::new(Blocks::of(algorithm).unwrap());
                bytes.chunks(piece).for_each(|bytes| hash.update(bytes));
                assert_eq!(hash.finalize().to_string(), expected, "{length} {piece}");
            }
        }
    }

    /// From Python: `sha256(b"".join(sha256(block).digest() for block in blocks))`.
    #[test]
    fn dropbox_joins_the_digests_of_blocks() {
        const BLOCK_LEN: usize = Dropbox::BLOCK_LEN;
        check(
            Algorithm::Dropbox,
            &[
                (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
                (BLOCK_LEN, "b9654428408015906b44a00935b70af33830aa344b780b0eabd535a133150d04"),
                (BLOCK_LEN + 1, "4a6cc0a344febaa07772e7c974834b2fb1d24594d4ba15f27c97a54699709f44"),
                (2 * BLOCK_LEN, "b76a633d9733b991a976dba723df6940bfaf789390a929fe8f68fd1b4705c8c1"),
            ],
        );
    }

    /// From Python: pairs of a list of digests are hashed until one is left, level by level.
    #[test]
    fn glacier_joins_the_digests_of_blocks_to_a_tree() {
        check(
            Algorithm::Glacier,
            &[
                (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
                (1048576, "631b84027d6b9e52b539c4e8373622d23032dfadc64d60af87339c9037e4f769"),
                (1048577, "a9c574ce937d2371daf87cdd0e75396b096d7f74a66c764e4c656bd12b2e7bf9"),
                (2097152, "bf4dff263ae686b64403208c35a3767e38453d6477e841947588d13d04e1d816"),
                (3145735, "6e58fc0c811c25c9f547ae3989a38ce98fd78521682f2bd4673997a946f829ee"),
                (5242880, "1eccd0ca741241ce114bde6d24a8de044ccee139ef6651bec9006d2f558751ef"),
                (7340031, "74f6714c632ed51f7fd01adf5bf40e72e2a15d96622c7ccb2349e677e1c13f71"),
            ],
        );
    }
}
