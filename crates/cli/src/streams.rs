//! Standard output and standard error as they are: the standard library's own take what is written
//! to one that is closed for written.

use std::fs::File;
use std::io::{self, Write};

use lanesum_startup::sigpipe_was_ignored;
use rustix::fd::{AsFd, BorrowedFd};
use signal_hook::consts::SIGPIPE;
use signal_hook::low_level::emulate_default_handler;

/// One of them, without a buffer.
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
    /// Writes a text of clap's, with its colours where a terminal shows them.
    ///
    /// # Errors
    /// The system's.
    pub fn write_styled(self, text: &clap::builder::StyledStr) -> io::Result<()> {
        let file = File::from(self.0.as_fd().try_clone_to_owned()?);
        write!(anstream::AutoStream::auto(file), "{}", text.ansi())
    }
}

/// Standard output could not be written.
#[derive(Debug, thiserror::Error)]
#[error("write error")]
pub struct WriteError(#[from] pub io::Error);

/// Ends the process by SIGPIPE where the reader has gone, as the signal itself would have: unless
/// whoever started the process had it ignored, and so wants to be told.
pub fn end_by_sigpipe(error: &io::Error) {
    if error.kind() == io::ErrorKind::BrokenPipe && !sigpipe_was_ignored() {
        // Returns only if the signal could not be raised; then it is told as well.
        let _ = emulate_default_handler(SIGPIPE);
    }
}
