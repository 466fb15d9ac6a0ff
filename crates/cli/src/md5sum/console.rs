//! Standard output and standard error in the order in which GNU md5sum's readers see them.
//!
//! GNU's standard output is line-buffered, whatever it is. Writing each line by itself costs a
//! system call for each file, so lines are gathered here as long as nobody can tell: a write holds
//! whole lines and at most `PIPE_BUF` bytes, which a pipe takes in one piece even when several
//! processes write to it, and everything is written before a message goes to standard error.

use std::fs::File;
use std::io::{self, IsTerminal as _, Write as _};
use std::os::fd::AsFd as _;

use lanesum_checksum::list::quote::{self, Locale};

/// As many bytes as a pipe takes without mixing them with those of another writer: `PIPE_BUF`.
const ATOMIC: usize = 4096;

/// The two streams of a program that speaks as GNU md5sum.
#[derive(Debug)]
pub struct Console {
    /// The program's name, which messages begin with.
    name: Vec<u8>,
    locale: Locale,
    out: File,
    /// Lines that are not written yet.
    pending: Vec<u8>,
    line_by_line: bool,
    /// Why lines could not be written before a message; told when the next line comes.
    failure: Option<io::Error>,
    message_lost: bool,
}

impl Console {
    /// The streams of this process; messages begin with `name`.
    ///
    /// # Errors
    ///
    /// There is no standard output.
    pub fn new(name: &[u8], locale: Locale) -> io::Result<Self> {
        let stdout = io::stdout();
        Ok(Self {
            name: name.to_vec(),
            locale,
            // The standard library's own keeps another buffer and writes when that is full.
            out: stdout.as_fd().try_clone_to_owned()?.into(),
            pending: Vec::with_capacity(ATOMIC),
            line_by_line: stdout.is_terminal(),
            failure: None,
            message_lost: false,
        })
    }

    /// Appends a file's name as messages and results show it.
    pub fn quote(&self, out: &mut Vec<u8>, name: &[u8]) {
        quote::file_name(out, name, self.locale);
    }

    /// Prints a line, which brings its ending along.
    ///
    /// # Errors
    ///
    /// This line or one before it could not be written.
    pub fn line(&mut self, line: &[u8]) -> io::Result<()> {
        if self.pending.len() + line.len() > ATOMIC {
            self.flush()?;
        }
        self.pending.extend_from_slice(line);
        if self.line_by_line { self.flush() } else { Ok(()) }
    }

    /// Writes the lines that are not written yet. Those that cannot be are given up.
    ///
    /// # Errors
    ///
    /// Some line since the last flush could not be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.try_write();
        self.failure.take().map_or(Ok(()), Err)
    }

    fn try_write(&mut self) {
        if let Err(error) = self.out.write_all(&self.pending) {
            self.failure.get_or_insert(error);
        }
        self.pending.clear();
    }

    /// Prints `program: name: words` on standard error.
    pub fn about(&mut self, name: &[u8], words: &str) {
        let mut message = Vec::new();
        self.quote(&mut message, name);
        message.extend_from_slice(b": ");
        message.extend_from_slice(words.as_bytes());
        self.message(&message);
    }

    /// Prints `program: words` on standard error, after the lines printed before.
    pub fn message(&mut self, words: &[u8]) {
        self.raw_message(&[&self.name, &b": "[..], words, b"\n"].concat());
    }

    /// Prints a whole text on standard error, after the lines printed before.
    pub fn raw_message(&mut self, text: &[u8]) {
        self.try_write();
        self.message_lost |= io::stderr().write_all(text).is_err();
    }

    /// Whether a message could not be written.
    pub const fn message_lost(&self) -> bool {
        self.message_lost
    }
}
