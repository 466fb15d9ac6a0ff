//! What a lane is fed from.

/// A message that comes piece by piece.
///
/// Like [`std::io::BufRead`], without errors: a stream that fails says so in its own way when it is
/// given back with the digest of what came before.
pub trait Stream {
    /// The bytes that come next: the same again until they are consumed. None means that the
    /// message has ended, and this is not called again.
    ///
    /// This is where a stream waits, reads or computes. Pieces of whole blocks, 64 bytes times n,
    /// are hashed where they lie; what goes beyond is copied, at most 63 bytes a piece.
    fn chunk(&mut self) -> &[u8];

    /// Drops the first `count` bytes of [`chunk`](Self::chunk), which has at least as many.
    fn consume(&mut self, count: usize);
}

impl Stream for &[u8] {
    #[inline]
    fn chunk(&mut self) -> &[u8] {
        self
    }

    #[inline]
    fn consume(&mut self, count: usize) {
        *self = &self[count..];
    }
}

/// A stream from an iterator of chunks.
///
/// ```
/// use lanesum_md5::{Chunks, Lanes, md5};
///
/// let mut lanes = Lanes::new();
/// lanes.push(Chunks::new(["a", "", "bc"].iter()));
/// lanes.push(Chunks::new([].iter()));
/// let digests: Vec<_> = std::iter::from_fn(|| lanes.pop()).map(|(_, digest)| digest).collect();
/// assert!(digests.contains(&md5(b"abc")) && digests.contains(&md5(b"")));
/// ```
#[derive(Clone, Debug)]
pub struct Chunks<I: Iterator> {
    chunks: I,
    current: Option<I::Item>,
    consumed: usize,
}

impl<I: Iterator<Item: AsRef<[u8]>>> Chunks<I> {
    /// A stream of what the iterator yields; empty chunks do not end it.
    pub fn new(chunks: I) -> Self {
        Self { chunks, current: None, consumed: 0 }
    }
}

impl<I: Iterator<Item: AsRef<[u8]>>> Stream for Chunks<I> {
    fn chunk(&mut self) -> &[u8] {
        while self.current.as_ref().is_none_or(|chunk| chunk.as_ref().len() == self.consumed) {
            self.consumed = 0;
            self.current = self.chunks.next();
            if self.current.is_none() {
                return &[];
            }
        }
        self.current.as_ref().map_or(&[], |chunk| &chunk.as_ref()[self.consumed..])
    }

    fn consume(&mut self, count: usize) {
        self.consumed += count;
    }
}
