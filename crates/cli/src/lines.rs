//! Whole lines and few writes.
//!
//! GNU md5sum writes each line by itself, at once: a reader sees it as soon as the file is done,
//! and the lines of several processes that share a pipe do not mix. A write for each of 100,000
//! small files costs more than it must, so lines are gathered here until the program has nothing
//! else to do ([`LineWriter::write`]). A write holds whole lines and, but for a single longer line
//! and a regular file, at most `PIPE_BUF` bytes, which a pipe takes in one piece. So no line is
//! ever torn, not by another process that writes to the same pipe and not by a signal.

use std::fs::File;
use std::io::{self, Write as _};

/// As many bytes as a pipe takes without mixing them with those of another writer: `PIPE_BUF`.
const ATOMIC: usize = 4096;

/// Bytes that a regular file is given at once.
const AT_ONCE: usize = 64 << 10;

/// Writes lines to a file, a pipe or a terminal.
#[derive(Debug)]
pub struct LineWriter {
    out: File,
    pending: Vec<u8>,
    /// As many bytes wait for company at most.
    most: usize,
    /// Why lines could not be written; whoever asks next is told.
    failure: Option<io::Error>,
}

impl LineWriter {
    /// Lines to this file.
    #[must_use]
    pub fn to(out: File) -> Self {
        let is_regular = out.metadata().is_ok_and(|metadata| metadata.is_file());
        let most = if is_regular { AT_ONCE } else { ATOMIC };
        Self { out, pending: Vec::with_capacity(most), most, failure: None }
    }

    /// Takes one or several lines, which bring their endings along.
    ///
    /// # Errors
    ///
    /// These lines or some before them could not be written.
    pub fn push(&mut self, line: &[u8]) -> io::Result<()> {
        if self.pending.len() + line.len() > self.most {
            self.write();
        }
        self.pending.extend_from_slice(line);
        self.outcome()
    }

    /// Writes the lines that still wait. Those that cannot be written are given up.
    ///
    /// # Errors
    ///
    /// Some line could not be written, and that was not told yet.
    pub fn flush(&mut self) -> io::Result<()> {
        self.write();
        self.outcome()
    }

    /// Writes the lines that still wait. What cannot be written is told to whoever asks next.
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
