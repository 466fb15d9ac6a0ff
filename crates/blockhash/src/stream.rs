//! The input of a lane.

use alloc::boxed::Box;
use core::task::Poll;

/// A message that arrives in pieces.
///
/// Like [`std::io::BufRead`], but without errors. A stream that fails ends its message and keeps
/// the error, as [`Reader`](crate::Reader) does.
pub trait Stream {
    /// Returns the next bytes, and the same bytes again until they are consumed. An empty slice
    /// ends the message, and the method is not called again.
    ///
    /// A stream reads or computes in this method. If it blocks, all lanes wait for it. If it
    /// returns [`Poll::Pending`], the other lanes continue, and it is asked again at each step of
    /// the lanes. No waker is called.
    ///
    /// Whole blocks are hashed in place. The other bytes are copied, less than a block per piece.
    fn chunk(&mut self) -> Poll<&[u8]>;

    /// Drops the first `count` bytes of [`chunk`](Self::chunk), which has at least that many.
    fn consume(&mut self, count: usize);

    /// Returns whether the message continues after this stream. If so, the stream must have whole
    /// blocks, and the lanes add no padding. Then the result is not a digest: its bytes are the
    /// state of a [`Midstate`](crate::Midstate). Called once the stream has ended.
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

/// Streams behind a pointer: `&mut S`, and `Box<dyn Stream>` for streams of several types.
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
#[derive(Clone, Debug)]
pub struct Chunks<I: Iterator> {
    chunks: I,
    current: Option<I::Item>,
    consumed: usize,
}

impl<I: Iterator<Item: AsRef<[u8]>>> Chunks<I> {
    /// Makes a stream of the chunks of an iterator. Empty chunks do not end it.
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
