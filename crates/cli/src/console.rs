//! Standard output and standard error, in an order that their reader can follow.
//!
//! Writing each line by itself costs a system call for each file, so lines are gathered as long as
//! nobody can tell: a write holds whole lines and, but for a single longer line, at most `PIPE_BUF`
//! bytes, which a pipe takes in one piece. So no line is ever torn, not by another process that
//! writes to the same pipe and not by a signal; and everything is written before a message goes to
//! standard error. On a terminal each line is written at once.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal as _, Write as _};
use std::os::fd::AsFd as _;
use std::process::ExitCode;

use indicatif::ProgressBar;
use lanesum_checksum::list::quote::{self, Locale};

/// As many bytes as a pipe takes without mixing them with those of another writer: `PIPE_BUF`.
const ATOMIC: usize = 4096;

/// The streams of the program.
#[derive(Debug)]
pub struct Console {
    /// The program's name, which messages begin with.
    name: Vec<u8>,
    locale: Locale,
    /// Where lines go: standard output, or a file.
    out: File,
    /// Lines that are not written yet.
    pending: Vec<u8>,
    line_by_line: bool,
    /// A bar to be put aside while something is written.
    bar: Option<ProgressBar>,
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
        // The standard library's own keeps another buffer and writes when that is full.
        let stdout = io::stdout().as_fd().try_clone_to_owned()?;
        Ok(Self::with_output(name, locale, stdout.into()))
    }

    /// The streams of this process, but lines go to a file.
    #[must_use]
    pub fn with_output(name: &[u8], locale: Locale, out: File) -> Self {
        Self {
            name: name.to_vec(),
            locale,
            pending: Vec::with_capacity(ATOMIC),
            line_by_line: out.is_terminal(),
            out,
            bar: None,
            failure: None,
            message_lost: false,
        }
    }

    /// Puts this bar aside whenever something is written where it stands.
    pub fn set_bar(&mut self, bar: Option<ProgressBar>) {
        self.bar = bar;
    }

    /// Appends a file's name as messages and results show it.
    pub fn quote(&self, out: &mut Vec<u8>, name: &[u8]) {
        quote::file_name(out, name, self.locale);
    }

    /// Prints one or several lines, which bring their endings along.
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
        if self.pending.is_empty() {
            return;
        }
        let Self { out, pending, bar, .. } = self;
        let written = match bar {
            Some(bar) if self.line_by_line => bar.suspend(|| out.write_all(pending)),
            _ => out.write_all(pending),
        };
        if let Err(error) = written {
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
        let written = match &self.bar {
            Some(bar) => bar.suspend(|| io::stderr().write_all(text)),
            None => io::stderr().write_all(text),
        };
        self.message_lost |= written.is_err();
    }

    /// Whether a message could not be written.
    pub const fn message_lost(&self) -> bool {
        self.message_lost
    }
}

/// Ends after lines could not be written: quietly by SIGPIPE when nobody reads on, as GNU's tools
/// do.
pub fn fail_to_write(error: &io::Error, console: &mut Console) -> ExitCode {
    if error.kind() == io::ErrorKind::BrokenPipe {
        // Returns only if the signal could not be raised, and then there is nobody to tell either.
        let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGPIPE);
    } else {
        let reason = lanesum_checksum::error::message(error);
        console.message(format!("write error: {reason}").as_bytes());
    }
    ExitCode::FAILURE
}

/// The locale of this process.
pub fn locale_of_process() -> Locale {
    locale(env::var_os)
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
