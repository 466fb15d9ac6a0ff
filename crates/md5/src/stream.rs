//! What a lane is fed from.

use alloc::boxed::Box;
use core::task::Poll;

/// A message that comes piece by piece.
///
/// Like [`std::io::BufRead`], without errors: a stream that fails says so in its own way when it is
/// given back with the digest of what came before, as [`Reader`](crate::Reader) does.
pub trait Stream {
    /// The bytes that come next: the same again until they are consumed. None, an empty slice,
    /// mean that the message has ended, and this is not called again.
    ///
    /// This is where a stream reads or computes. One that would have to wait may do so, and all
    /// lanes wait with it; or it says [`Poll::Pending`], "not yet", and the others go on without
    /// it. It is asked again with each step of the lanes: no waker is called.
    ///
    /// Pieces of whole blocks, 64 bytes times n, are hashed where they lie; what goes beyond is
    /// copied, at most 63 bytes a piece.
    fn chunk(&mut self) -> Poll<&[u8]>;

    /// Drops the first `count` bytes of [`chunk`](Self::chunk), which has at least as many.
    fn consume(&mut self, count: usize);

    /// Whether the message goes on behind what this stream has, which then is whole blocks of 64
    /// bytes: no padding ends it, and what the lanes give back is no digest but the state of a
    /// [`Midstate`](crate::Midstate). Asked when the stream has ended.
    fn is_cut(&self) -> bool {
        false
    }
}

impl Stream for &[u8] {
    #[inline]
    fn chunk(&mut self) -> Poll<&[u8]> {
        Poll::Ready(self)
    }

    #[inline]
    fn consume(&mut self, count: usize) {
        *self = &self[count..];
    }
}

/// What leads to a stream is one: `&mut S`, and `Box<dyn Stream>` for streams of several kinds.
macro_rules! pointers {
    ($($pointer:ty),*) => {
        $(impl<S: Stream + ?Sized> Stream for $pointer {
            #[inline]
            fn chunk(&mut self) -> Poll<&[u8]> {
                (**self).chunk()
            }

            #[inline]
            fn consume(&mut self, count: usize) {
                (**self).consume(count);
            }

            #[inline]
            fn is_cut(&self) -> bool {
                (**self).is_cut()
            }
        })*
    };
}
pointers!(&mut S, Box<S>);

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
    fn chunk(&mut self) -> Poll<&[u8]> {
        while self.current.as_ref().is_none_or(|chunk| chunk.as_ref().len() == self.consumed) {
            self.consumed = 0;
            self.current = self.chunks.next();
            if self.current.is_none() {
                return Poll::Ready(&[]);
            }
        }
        let current = self.current.as_ref();
        Poll::Ready(current.map_or(&[], |chunk| &chunk.as_ref()[self.consumed..]))
    }

    fn consume(&mut self, count: usize) {
        self.consumed += count;
    }
}
