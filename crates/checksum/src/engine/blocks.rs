//! Hashes of stores that hash the blocks of a file first, each by SHA-256.

use lanesum_blockhash::Hasher;
use lanesum_sha2::{Sha256Digest, Sha256Hash, sha256};

/// How the digests of the blocks become one.
pub(super) trait Join: Default {
    /// Bytes in each block but the last.
    const BLOCK_LEN: usize;

    /// Adds the digest of the next block.
    fn add(&mut self, digest: Sha256Digest);

    fn finalize(self) -> Sha256Digest;
}

/// The computation of a hash of blocks.
#[derive(Default)]
pub(super) struct Blocks<J> {
    joined: J,
    /// The current block, and its length so far, at least one if it is begun.
    block: Hasher<Sha256Hash>,
    length: usize,
}

impl<J: Join> Blocks<J> {
    pub(super) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let taken = bytes.len().min(J::BLOCK_LEN - self.length);
            self.block.update(&bytes[..taken]);
            self.length += taken;
            bytes = &bytes[taken..];
            if self.length == J::BLOCK_LEN {
                self.end_block();
            }
        }
    }

    fn end_block(&mut self) {
        self.joined.add(std::mem::take(&mut self.block).finalize());
        self.length = 0;
    }

    pub(super) fn finalize(mut self) -> Sha256Digest {
        if self.length > 0 {
            self.end_block();
        }
        self.joined.finalize()
    }
}

/// The content hash of Dropbox: the SHA-256 of the joined digests of blocks of 4 MiB.
///
/// Source: "Content hash" of Dropbox's documentation for developers.
#[derive(Default)]
pub(super) struct Dropbox(Hasher<Sha256Hash>);

impl Join for Dropbox {
    const BLOCK_LEN: usize = 4 << 20;

    fn add(&mut self, digest: Sha256Digest) {
        self.0.update(digest.as_ref());
    }

    fn finalize(self) -> Sha256Digest {
        self.0.finalize()
    }
}

/// The tree hash of Amazon Glacier: blocks of 1 MiB are the leaves of a binary tree, and a node is
/// the SHA-256 of its two children. A node without a neighbour moves up a level.
///
/// Source: "Computing Checksums" of the Developer Guide of Amazon S3 Glacier.
#[derive(Default)]
pub(super) struct Glacier {
    /// The whole subtrees from the left, each with its number of leaves, a power of two.
    subtrees: Vec<(u64, Sha256Digest)>,
}

impl Glacier {
    fn parent(left: Sha256Digest, right: Sha256Digest) -> Sha256Digest {
        sha256([*left.as_bytes(), *right.as_bytes()].as_flattened())
    }
}

impl Join for Glacier {
    const BLOCK_LEN: usize = 1 << 20;

    fn add(&mut self, mut digest: Sha256Digest) {
        let mut leaves = 1;
        while let Some((_, left)) = self.subtrees.pop_if(|left| left.0 == leaves) {
            digest = Self::parent(left, digest);
            leaves *= 2;
        }
        self.subtrees.push((leaves, digest));
    }

    /// A file without bytes has one empty block.
    fn finalize(self) -> Sha256Digest {
        let subtrees = self.subtrees.into_iter().map(|(_, digest)| digest).rev();
        let root = subtrees.reduce(|right, left| Self::parent(left, right));
        root.unwrap_or_else(|| sha256(b""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<J: Join>(expected: &[(usize, &str)]) {
        for &(length, expected) in expected {
            let bytes: Vec<_> = (0..length).map(|at| (at % 251) as u8).collect();
            for piece in [length.max(1), 1_000_003] {
                let mut hash = Blocks::<J>::default();
                bytes.chunks(piece).for_each(|bytes| hash.update(bytes));
                assert_eq!(hash.finalize().to_string(), expected, "{length} {piece}");
            }
        }
    }

    /// From Python: `sha256(b"".join(sha256(block).digest() for block in blocks))`.
    #[test]
    fn dropbox_joins_the_digests_of_blocks() {
        const BLOCK_LEN: usize = Dropbox::BLOCK_LEN;
        check::<Dropbox>(&[
            (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (BLOCK_LEN, "b9654428408015906b44a00935b70af33830aa344b780b0eabd535a133150d04"),
            (BLOCK_LEN + 1, "4a6cc0a344febaa07772e7c974834b2fb1d24594d4ba15f27c97a54699709f44"),
            (2 * BLOCK_LEN, "b76a633d9733b991a976dba723df6940bfaf789390a929fe8f68fd1b4705c8c1"),
        ]);
    }

    /// From Python: pairs of a list of digests are hashed until one is left, level by level.
    #[test]
    fn glacier_joins_the_digests_of_blocks_to_a_tree() {
        check::<Glacier>(&[
            (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (1048576, "631b84027d6b9e52b539c4e8373622d23032dfadc64d60af87339c9037e4f769"),
            (1048577, "a9c574ce937d2371daf87cdd0e75396b096d7f74a66c764e4c656bd12b2e7bf9"),
            (2097152, "bf4dff263ae686b64403208c35a3767e38453d6477e841947588d13d04e1d816"),
            (3145735, "6e58fc0c811c25c9f547ae3989a38ce98fd78521682f2bd4673997a946f829ee"),
            (5242880, "1eccd0ca741241ce114bde6d24a8de044ccee139ef6651bec9006d2f558751ef"),
            (7340031, "74f6714c632ed51f7fd01adf5bf40e72e2a15d96622c7ccb2349e677e1c13f71"),
        ]);
    }
}
