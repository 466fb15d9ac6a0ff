//! A reader in a lane.

use std::io::{self, BufRead, ErrorKind};
use std::task::Poll;

use crate::Stream;

/// A stream of what a buffered reader yields, in pieces of its buffer.
///
/// A reader that is not ready, as non-blocking sockets and pipes are
/// ([`ErrorKind::WouldBlock`]), lets the other lanes go on without it. One that fails has ended:
/// [`into_result`](Self::into_result) tells it from one that came to its end.
///
/// ```
/// use lanesum_md5::{Lanes, Reader, md5};
/// use std::io::BufReader;
///
/// let mut lanes = Lanes::new();
/// lanes.push(Reader::new(BufReader::with_capacity(64 << 10, &b"abc"[..])));
/// let (reader, digest) = lanes.pop().expect("it has ended");
/// reader.into_result()?;
/// assert_eq!(digest, md5(b"abc"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Reader<R> {
    reader: R,
    error: Option<io::Error>,
}

impl<R: BufRead> Reader<R> {
    /// A stream from where the reader stands. Its buffer should have some 64 KiB, in whole blocks
    /// of 64 bytes.
    pub const fn new(reader: R) -> Self {
        Self { reader, error: None }
    }

    /// The reader.
    pub const fn get_ref(&self) -> &R {
        &self.reader
    }

    /// The reader, to change how it waits for instance. What is read from it is not hashed.
    pub const fn get_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// The reader again.
    ///
    /// # Errors
    /// What ended it, if that was not the end.
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
        // Again, since what the loop lends cannot leave it. Nothing is read for it.
        Poll::Ready(self.reader.fill_buf().unwrap_or_default())
    }

    fn consume(&mut self, count: usize) {
        self.reader.consume(count);
    }
}
