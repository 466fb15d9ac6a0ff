//! The content hash of Dropbox: the SHA-256 of the joined SHA-256s of blocks of 4 MiB.
//!
//! Source: "Content hash" of Dropbox's documentation for developers.

use lanesum_blockhash::Hasher;
use lanesum_sha2::Sha256Hash;

const BLOCK_LEN: usize = 4 << 20;

/// The computation of a content hash.
#[derive(Default)]
pub(super) struct ContentHash {
    /// The digests of whole blocks.
    blocks: Hasher<Sha256Hash>,
    /// The current block, and its length so far, at least one if it is begun.
    block: Hasher<Sha256Hash>,
    length: usize,
}

impl ContentHash {
    pub(super) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let taken = bytes.len().min(BLOCK_LEN - self.length);
            self.block.update(&bytes[..taken]);
            self.length += taken;
            bytes = &bytes[taken..];
            if self.length == BLOCK_LEN {
                self.end_block();
            }
        }
    }

    fn end_block(&mut self) {
        let block = std::mem::take(&mut self.block);
        self.blocks.update(block.finalize().as_ref());
        self.length = 0;
    }

    /// The hash of nothing is that of no blocks.
    pub(super) fn finalize(mut self) -> impl AsRef<[u8]> + use<> {
        if self.length > 0 {
            self.end_block();
        }
        self.blocks.finalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From Python: `sha256(b"".join(sha256(block).digest() for block in blocks))`.
    #[test]
    fn blocks_of_4_mib_are_hashed_first() {
        for (length, expected) in [
            (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (BLOCK_LEN, "b9654428408015906b44a00935b70af33830aa344b780b0eabd535a133150d04"),
            (BLOCK_LEN + 1, "4a6cc0a344febaa07772e7c974834b2fb1d24594d4ba15f27c97a54699709f44"),
            (2 * BLOCK_LEN, "b76a633d9733b991a976dba723df6940bfaf789390a929fe8f68fd1b4705c8c1"),
        ] {
            let bytes: Vec<_> = (0..length).map(|at| (at % 251) as u8).collect();
            for piece in [length.max(1), 1_000_003] {
                let mut hash = ContentHash::default();
                bytes.chunks(piece).for_each(|bytes| hash.update(bytes));
                let digest = hash.finalize();
                let hex: String = digest.as_ref().iter().map(|it| format!("{it:02x}")).collect();
                assert_eq!(hex, expected, "{length} {piece}");
            }
        }
    }
}
