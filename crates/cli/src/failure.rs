//! How the program ends when it cannot begin.

use std::process::ExitCode;

/// Wrong usage that only showed after the command line was read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// Tells an error; the exit code is 2 for wrong usage and 1 for what the system refused.
pub fn fail(error: &anyhow::Error) -> ExitCode {
    eprintln!("lanesum: {error:#}");
    if error.is::<Usage>() { ExitCode::from(2) } else { ExitCode::FAILURE }
}
