//! Readers as streams.

use std::io::{self, BufRead, ErrorKind};
use std::task::Poll;

use crate::Stream;

/// A stream of the bytes of a buffered reader, in pieces of its buffer.
///
/// While a non-blocking reader is not ready ([`ErrorKind::WouldBlock`]), the other lanes continue.
/// A reader that fails ends its stream. [`into_result`](Self::into_result) then returns the error.
#[derive(Debug)]
pub struct Reader<R> {
    reader: R,
    error: Option<io::Error>,
}

impl<R: BufRead> Reader<R> {
    /// Makes a stream that starts at the current position of the reader. The buffer of the reader
    /// should have about 64 KiB, in whole blocks.
    pub const fn new(reader: R) -> Self {
        Self { reader, error: None }
    }

    /// Returns the reader.
    pub const fn get_ref(&self) -> &R {
        &self.reader
    }

    /// Returns the reader, for example to change its blocking mode. Bytes read from it here are not
    /// hashed.
    pub const fn get_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Returns the reader after the end of the stream.
    ///
    /// # Errors
    /// Fails with the error that ended the stream, if there was one.
    pub fn into_result(self) -> io::Result<R> {
        self.error.map_or(Ok(self.reader), Err)
    }
}

impl<R: BufRead> Stream for Reader<R> {
    fn chunk(&mut self) -> Poll<&[u8]> {
        loop {
            match self.reader.fill_buf() {
                Ok([]) => return Poll::Ready(&[]),
                Ok(_) => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Poll::Pending,
                Err(error) => {
                    self.error = Some(error);
                    return Poll::Ready(&[]);
                }
            }
        }
        // A second call, because the borrow of the loop cannot leave it. It reads nothing.
        Poll::Ready(self.reader.fill_buf().unwrap_or_default())
    }

    fn consume(&mut self, count: usize) {
        self.reader.consume(count);
    }
}
