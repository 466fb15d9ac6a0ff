//! GNU md5sum to the letter, as of coreutils 9.11: options, messages, quoting, exit codes.
//!
//! [`options`] reads the command line, [`sum`] or [`check`] does what it asks for, and [`console`]
//! keeps the two output streams in GNU's order.

mod check;
mod console;
mod getopt;
mod options;
mod sum;
mod usage;

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::ExitCode;

use lanesum_checksum::engine;
use lanesum_checksum::list::quote::Locale;

use console::Console;
use options::{Command, Refusal};

/// What md5sum looks at in the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Environment {
    /// POSIXLY_CORRECT is set: the first operand ends the options.
    pub posixly_correct: bool,
    /// Which characters of a name a terminal can show.
    pub locale: Locale,
}

impl Environment {
    /// What this process was given.
    #[must_use]
    pub fn of_process() -> Self {
        Self {
            posixly_correct: env::var_os("POSIXLY_CORRECT").is_some(),
            locale: locale(env::var_os),
        }
    }
}

/// The locale of characters, by the first of its three variables that says something.
fn locale(variable: impl Fn(&'static str) -> Option<OsString>) -> Locale {
    let name = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(variable)
        .find(|value| !value.is_empty())
        .unwrap_or_default();
    // language_territory.codeset@modifier
    let name = name.to_string_lossy();
    let codeset = name.split('@').next().and_then(|name| name.split_once('.'));
    match codeset {
        Some((_, codeset)) if ["utf-8", "utf8"].contains(&&*codeset.to_ascii_lowercase()) => {
            Locale::Utf8
        }
        _ => Locale::C,
    }
}

/// Runs md5sum: `program` is its name as it was called, `args` what follows. Returns GNU's exit
/// code, 0 or 1; a reader that went away ends the process as the signal SIGPIPE does.
pub fn main(
    program: &OsStr,
    args: impl Iterator<Item = OsString>,
    environment: Environment,
) -> ExitCode {
    // Errors begin with the short name; usage and what getopt says with the one as called.
    let short_name = Path::new(program).file_name().unwrap_or(program);
    let mut console = match Console::new(short_name.as_bytes(), environment.locale) {
        Ok(console) => console,
        Err(_) => return ExitCode::FAILURE,
    };
    let all_well = match options::parse(environment.posixly_correct, args) {
        Err(refusal) => {
            refuse(program.as_bytes(), &refusal, &mut console);
            Ok(false)
        }
        Ok(command) => run(program.as_bytes(), command, &mut console)
            .and_then(|all_well| console.flush().map(|()| all_well)),
    };
    match all_well {
        Ok(true) if !console.message_lost() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => fail_to_write(&error, &mut console),
    }
}

/// Does what the command line asks for; whether all was well.
fn run(program: &[u8], command: Command, console: &mut Console) -> io::Result<bool> {
    match command {
        Command::Help => console.line(&usage::help(program)).map(|()| true),
        Command::Version => console.line(usage::VERSION.as_bytes()).map(|()| true),
        Command::Sum(style, files) => sum::run(style, files, console),
        Command::Check(rules, lists) => check::run(rules, lists, console),
    }
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

/// Ends after standard output failed: quietly by SIGPIPE when nobody reads on, as GNU does.
fn fail_to_write(error: &io::Error, console: &mut Console) -> ExitCode {
    if error.kind() == io::ErrorKind::BrokenPipe {
        // Returns only if the signal could not be raised, and then there is nobody to tell either.
        let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGPIPE);
    } else {
        let reason = lanesum_checksum::error::message(error);
        console.message(format!("write error: {reason}").as_bytes());
    }
    ExitCode::FAILURE
}

/// One worker for each CPU; what changes while it is read is not GNU's business.
fn engine_options() -> engine::Options {
    engine::Options { detect_changes: false, ..engine::Options::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_says_something_decides() {
        let of = |values: [&str; 3]| {
            locale(|name| {
                let names = ["LC_ALL", "LC_CTYPE", "LANG"];
                let at = names.iter().position(|&known| known == name).unwrap();
                (values[at] != "unset").then(|| values[at].into())
            })
        };
        assert_eq!(of(["C.UTF-8", "C", "C"]), Locale::Utf8);
        assert_eq!(of(["", "de_AT.utf8@euro", "C"]), Locale::Utf8);
        assert_eq!(of(["unset", "unset", "en_US.UTF-8"]), Locale::Utf8);
        assert_eq!(of(["C", "en_US.UTF-8", "en_US.UTF-8"]), Locale::C);
        assert_eq!(of(["unset", "", "de_AT.ISO-8859-1"]), Locale::C);
        assert_eq!(of(["unset", "POSIX", "C.UTF-8"]), Locale::C);
        assert_eq!(of(["unset", "unset", "unset"]), Locale::C);
    }
}
