//! How the program ends when it cannot begin.

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;

use crate::streams::{self, WriteError};

/// Wrong usage that only showed after the command line was read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// Tells an error; the exit code is 2 for wrong usage and 1 for what the system refused. Where nobody
/// reads what is printed, SIGPIPE ends the process.
pub fn fail(error: &anyhow::Error) -> ExitCode {
    if let Some(WriteError(error)) = error.downcast_ref() {
        streams::end_by_sigpipe(error);
    }
    let reasons: Vec<_> = error.chain().map(reason).collect();
    // Where nobody can be told, the exit code has to do.
    let _ = writeln!(streams::stderr(), "lanesum: {}", reasons.join(": "));
    if error.is::<Usage>() { ExitCode::from(2) } else { ExitCode::FAILURE }
}

/// The words of one error, the system's own where they are the system's.
fn reason(error: &(dyn Error + 'static)) -> String {
    error.downcast_ref().map_or_else(|| error.to_string(), lanesum_checksum::error::message)
}

/// Prints help, the version, or what is wrong with the command line.
pub fn tell(words: &clap::Error) -> ExitCode {
    let stream = if words.use_stderr() { streams::stderr() } else { streams::stdout() };
    match (stream.write_styled(&words.render()), words.exit_code()) {
        (Ok(()), 0) => ExitCode::SUCCESS,
        // Help that does not arrive is none.
        (Err(error), 0) => fail(&WriteError(error).into()),
        (_, _) => ExitCode::from(2),
    }
}
