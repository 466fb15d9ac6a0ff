//! How the program ends when it cannot begin.

use std::env;
use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::process::ExitCode;
use std::sync::LazyLock;

use clap::error::{ContextKind, ContextValue};

use crate::args;
use crate::streams::{self, WriteError};

/// Wrong usage that only showed after the command line was read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// Tells an error; the exit code is 2 for wrong usage and 1 for what the system refused. Where
/// nobody reads what is printed, SIGPIPE ends the process.
pub fn fail(error: &anyhow::Error) -> ExitCode {
    if let Some(WriteError(error)) = error.downcast_ref() {
        streams::end_by_sigpipe(error);
    }
    let reasons: Vec<_> = error.chain().map(reason).collect();
    // Where nobody can be told, the exit code has to do.
    let _ = writeln!(streams::stderr(), "lanesum: {}", reasons.join(": "));
    if error.is::<Usage>() { ExitCode::from(2) } else { ExitCode::FAILURE }
}

/// What else a word of the command line may have been meant for, when it is this name of a file
/// that is not there: a command after its options, or one that is misspelt, as the first word.
pub fn did_you_mean(name: &[u8]) -> Option<String> {
    if args::is_command(name) && fs::symlink_metadata(OsStr::from_bytes(name)).is_err() {
        let name = String::from_utf8_lossy(name);
        return Some(format!("; options come after the command: lanesum {name} ..."));
    }
    static FIRST: LazyLock<Option<OsString>> = LazyLock::new(|| env::args_os().nth(1));
    let first = FIRST.as_ref().filter(|first| first.as_bytes() == name)?;
    let is_there = fs::symlink_metadata(first).is_ok();
    let command = if is_there { None } else { args::command_like(first.to_str()?) };
    command.map(|command| format!("; did you mean lanesum {command}?"))
}

/// The words of one error, the system's own where they are the system's.
fn reason(error: &(dyn Error + 'static)) -> String {
    error.downcast_ref().map_or_else(|| error.to_string(), lanesum_checksum::error::message)
}

/// Prints help, the version, or what is wrong with the command line.
pub fn tell(mut words: clap::Error) -> ExitCode {
    let unknown = words.get(ContextKind::InvalidArg);
    if let Some(ContextValue::String(option)) = unknown
        && ["-c", "--check"].contains(&&**option)
    {
        // What md5sum and its sisters call it.
        let tip = "lists are checked by 'lanesum check LIST'".into();
        words.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    let stream = if words.use_stderr() { streams::stderr() } else { streams::stdout() };
    match (stream.write_styled(&words.render()), words.exit_code()) {
        (Ok(()), 0) => ExitCode::SUCCESS,
        // Help that does not arrive is none.
        (Err(error), 0) => fail(&WriteError(error).into()),
        (_, _) => ExitCode::from(2),
    }
}
