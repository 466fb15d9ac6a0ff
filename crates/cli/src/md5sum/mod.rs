//! GNU md5sum as of coreutils 9.11: options, messages, quoting, exit codes. What differs on purpose
//! is in `docs/decisions/files.md`.
//!
//! [`options`] reads the command line, [`sum`] or [`check`] does what it asks for, and the
//! [console](crate::console) keeps the two output streams in GNU's order.

mod check;
mod getopt;
mod options;
mod sum;
mod usage;

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::ExitCode;

use crate::quote::Locale;
use crate::startup::Stream;
use lanesum_checksum::engine::{self, Io};

use crate::args::{self, BACKEND_VARIABLE};
use crate::console::{Console, fail_to_write, locale_of_process};
use crate::limits;

use options::{Command, Refusal};

/// What md5sum looks at in the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// POSIXLY_CORRECT is set: the first operand ends the options.
    pub posixly_correct: bool,
    /// Which characters of a name a terminal can show.
    pub locale: Locale,
    /// The instruction set asked for by its variable, which is not GNU's.
    pub backend: Option<OsString>,
}

impl Environment {
    /// What this process was given.
    #[must_use]
    pub fn of_process() -> Self {
        Self {
            posixly_correct: env::var_os("POSIXLY_CORRECT").is_some(),
            locale: locale_of_process(),
            backend: env::var_os(BACKEND_VARIABLE),
        }
    }

    /// One worker for each CPU; what changes while it is read is not GNU's business.
    ///
    /// # Errors
    ///
    /// The words for a backend that this CPU does not have.
    fn engine_options(&self) -> Result<engine::Options, String> {
        let mut options = engine::Options::default();
        if let Some(name) = &self.backend {
            options.backend = args::backend(&name.to_string_lossy()).map_err(|words| {
                format!("{BACKEND_VARIABLE}={}: {words}", name.to_string_lossy())
            })?;
        }
        options.threads = limits::threads(None, Io::Auto);
        options.io = limits::way(Io::Auto);
        options.detect_changes = false;
        options.own_descriptors = true;
        Ok(options)
    }
}

/// Runs md5sum: `program` is its name as it was called, `args` what follows. Returns GNU's exit
/// code, 0 or 1; a reader that went away ends the process as the signal SIGPIPE does.
pub fn main(
    program: &OsStr,
    args: impl Iterator<Item = OsString>,
    environment: Environment,
) -> ExitCode {
    // GNU's own, and there is nothing here that would have to be cleaned up.
    crate::startup::restore_sigpipe();
    // Errors begin with the short name; usage and what getopt says with the one as called.
    let short_name = Path::new(program).file_name().unwrap_or(program);
    let mut console = match Console::new(short_name.as_bytes(), environment.locale) {
        Ok(console) => console,
        Err(error) => {
            let words = lanesum_checksum::error::message(&error);
            // There is nowhere else to tell it.
            let _ = writeln!(io::stderr(), "{}: standard output: {words}", short_name.display());
            return ExitCode::FAILURE;
        }
    };
    let all_well = match options::parse(environment.posixly_correct, args) {
        Err(refusal) => {
            refuse(program.as_bytes(), &refusal, &mut console);
            Ok(false)
        }
        Ok(command) => run(program.as_bytes(), command, &environment, &mut console)
            .and_then(|all_well| console.flush().map(|()| all_well)),
    };
    match all_well {
        Ok(true) if !console.message_lost() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => fail_to_write(&error, &mut console),
    }
}

/// Does what the command line asks for; whether all was well.
fn run(
    program: &[u8],
    command: Command,
    environment: &Environment,
    console: &mut Console,
) -> io::Result<bool> {
    match (command, environment.engine_options()) {
        (Command::Help, _) => console.line(&usage::help(program)).map(|()| true),
        (Command::Version, _) => console.line(usage::VERSION.as_bytes()).map(|()| true),
        (Command::Sum(style, files), Ok(engine)) => {
            let from_stdin = files.is_empty() || files.iter().any(|file| file == "-");
            let all_well = sum::run(style, files, &engine, console)?;
            Ok(close_stdin(from_stdin, console) && all_well)
        }
        (Command::Check(rules, lists), Ok(engine)) => {
            let from_stdin = lists.is_empty() || lists.iter().any(|list| list == "-");
            let checked = check::run(rules, lists, engine, console)?;
            let from_stdin = from_stdin || checked.named_stdin;
            Ok(close_stdin(from_stdin, console) && checked.all_well)
        }
        (Command::Sum(..) | Command::Check(..), Err(words)) => {
            console.message(words.as_bytes());
            Ok(false)
        }
    }
}

/// Closes standard input, as GNU does in the end, when something was to be read from it; whether
/// that succeeds.
fn close_stdin(was_read: bool, console: &mut Console) -> bool {
    let fails = was_read && Stream::Stdin.was_closed();
    if fails {
        // Without quotes, as GNU writes it here.
        console.message(b"standard input: Bad file descriptor");
    }
    !fails
}

fn refuse(program: &[u8], refusal: &Refusal, console: &mut Console) {
    match refusal {
        Refusal::Unknown(getopt::Refusal(words)) => {
            console.raw_message(&[program, b": ", words, b"\n"].concat());
        }
        Refusal::Conflict(words) => console.message(words.as_bytes()),
    }
    console.raw_message(&[b"Try '", program, b" --help' for more information.\n"].concat());
}
