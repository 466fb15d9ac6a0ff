//! Writes whole lines with few system calls.
//!
//! GNU md5sum writes each line at once. So a reader sees it when the file is done, and lines of
//! several processes do not mix in a pipe. With 100,000 small files, a write for each line takes
//! too long. So this module collects lines until the program has nothing else to do
//! ([`LineWriter::write`]). A write has whole lines and at most `PIPE_BUF` bytes, which a pipe
//! takes in one piece. Exceptions are single longer lines, and regular files. So neither another
//! writer to the same pipe nor a signal ever splits a line.

use std::fs::File;
use std::io::{self, Write as _};

/// `PIPE_BUF`: a pipe does not mix writes of up to this many bytes with those of other writers.
const ATOMIC: usize = 4096;

/// The number of bytes of a write to a regular file.
const AT_ONCE: usize = 64 << 10;

/// Writes lines to a file, a pipe or a terminal.
#[derive(Debug)]
pub struct LineWriter {
    out: File,
    pending: Vec<u8>,
    /// The maximum number of bytes that wait.
    most: usize,
    /// The error of a failed write, until it is returned.
    failure: Option<io::Error>,
}

impl LineWriter {
    /// Writes lines to this file.
    #[must_use]
    pub fn to(out: File) -> Self {
        let is_regular = out.metadata().is_ok_and(|metadata| metadata.is_file());
        let most = if is_regular { AT_ONCE } else { ATOMIC };
        Self { out, pending: Vec::with_capacity(most), most, failure: None }
    }

    /// Takes one or several lines with their line ends.
    ///
    /// # Errors
    ///
    /// These lines or previous ones could not be written.
    pub fn push(&mut self, line: &[u8]) -> io::Result<()> {
        if self.pending.len() + line.len() > self.most {
            self.write();
        }
        self.pending.extend_from_slice(line);
        self.outcome()
    }

    /// Writes the waiting lines. Lines that cannot be written are dropped.
    ///
    /// # Errors
    ///
    /// A line could not be written, and the error was not returned yet.
    pub fn flush(&mut self) -> io::Result<()> {
        self.write();
        self.outcome()
    }

    /// Writes the waiting lines. The next call returns an error.
    pub fn write(&mut self) {
        if let Err(error) = self.out.write_all(&self.pending) {
            self.failure.get_or_insert(error);
        }
        self.pending.clear();
    }

    fn outcome(&mut self) -> io::Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }
}

impl Drop for LineWriter {
    fn drop(&mut self) {
        self.write();
    }
}
