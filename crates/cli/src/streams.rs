//! Standard output and standard error without the standard library, which ignores errors of closed
//! streams.

use std::fs::File;
use std::io::{self, Write};

use crate::startup::sigpipe_was_ignored;
use rustix::fd::{AsFd, BorrowedFd};
use signal_hook::consts::SIGPIPE;
use signal_hook::low_level::emulate_default_handler;

/// One of the streams, without a buffer.
#[derive(Clone, Copy, Debug)]
pub struct Stream(BorrowedFd<'static>);

pub fn stdout() -> Stream {
    Stream(rustix::stdio::stdout())
}

pub fn stderr() -> Stream {
    Stream(rustix::stdio::stderr())
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(self.0, bytes)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream {
    /// Writes a text of clap, with colours on a terminal.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn write_styled(self, text: &clap::builder::StyledStr) -> io::Result<()> {
        let file = File::from(self.0.as_fd().try_clone_to_owned()?);
        write!(anstream::AutoStream::auto(file), "{}", text.ansi())
    }
}

/// Standard output could not be written.
#[derive(Debug, thiserror::Error)]
#[error("write error")]
pub struct WriteError(#[from] pub io::Error);

/// Ends the process by SIGPIPE if the reader has gone, unless the caller of the program ignores
/// SIGPIPE, because it expects an error then.
pub fn end_by_sigpipe(error: &io::Error) {
    if error.kind() == io::ErrorKind::BrokenPipe && !sigpipe_was_ignored() {
        // Returns only if the signal could not be raised. Then the error is printed as well.
        let _ = emulate_default_handler(SIGPIPE);
    }
}
