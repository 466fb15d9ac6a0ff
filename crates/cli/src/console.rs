//! Standard output and standard error, in an order that readers can follow.
//!
//! All printed lines are written before a message goes to standard error, and before the program
//! waits ([`Console::flush`]). On a terminal, each line is written at once, because the bar may be
//! there.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, IsTerminal as _, Write as _};
use std::os::fd::AsFd as _;
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::quote::{self, Locale};
use indicatif::ProgressBar;

use crate::lines::LineWriter;
use crate::streams;

/// The streams of the program.
#[derive(Debug)]
pub struct Console {
    /// The name of the program, with which messages begin.
    name: Vec<u8>,
    locale: Locale,
    /// Standard output, or a file.
    lines: LineWriter,
    /// Whether lines go to a terminal, which may have a bar.
    on_terminal: bool,
    /// A bar to hide while text is written.
    bar: Option<ProgressBar>,
    message_lost: bool,
}

impl Console {
    /// Opens the streams of this process. Messages begin with `name`.
    ///
    /// # Errors
    ///
    /// There is no standard output.
    pub fn new(name: &[u8], locale: Locale) -> io::Result<Self> {
        // The standard library has an additional buffer, and writes when it is full.
        let stdout = io::stdout().as_fd().try_clone_to_owned()?;
        Ok(Self::with_output(name, locale, stdout.into()))
    }

    /// Opens the streams of this process, but writes lines to a file.
    #[must_use]
    pub fn with_output(name: &[u8], locale: Locale, out: File) -> Self {
        Self {
            name: name.to_vec(),
            locale,
            on_terminal: out.is_terminal(),
            lines: LineWriter::to(out),
            bar: None,
            message_lost: false,
        }
    }

    /// Hides this bar whenever text is written to its terminal.
    pub fn set_bar(&mut self, bar: Option<ProgressBar>) {
        self.bar = bar;
    }

    /// Removes the bar for good.
    pub fn remove_bar(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    /// Appends a file name as messages and results show it.
    pub fn quote(&self, out: &mut Vec<u8>, name: &[u8]) {
        quote::file_name(out, name, self.locale);
    }

    /// Returns the same as text.
    pub fn shown(&self, name: impl AsRef<OsStr>) -> String {
        quote::shown(name, self.locale)
    }

    /// Prints one or several lines with their line ends.
    ///
    /// # Errors
    ///
    /// These lines or previous ones could not be written.
    pub fn line(&mut self, line: &[u8]) -> io::Result<()> {
        let Self { lines, bar, .. } = self;
        let write = |lines: &mut LineWriter| lines.push(line).and_then(|()| lines.flush());
        match bar {
            Some(bar) if self.on_terminal => bar.suspend(|| write(lines)),
            None if self.on_terminal => write(lines),
            _ => lines.push(line),
        }
    }

    /// Writes the pending lines. Lines that cannot be written are dropped.
    ///
    /// # Errors
    ///
    /// A line could not be written, and the error was not returned yet.
    pub fn flush(&mut self) -> io::Result<()> {
        self.lines.flush()
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

    /// Prints `hint: words` on standard error: what the user can do.
    pub fn hint(&mut self, words: &str) {
        self.raw_message(format!("hint: {words}\n").as_bytes());
    }

    /// Prints a text on standard error, after the lines printed before.
    pub fn raw_message(&mut self, text: &[u8]) {
        self.lines.write();
        let written = match &self.bar {
            Some(bar) => bar.suspend(|| streams::stderr().write_all(text)),
            None => streams::stderr().write_all(text),
        };
        self.message_lost |= written.is_err();
    }

    /// Tells a user at a terminal to type a list.
    pub fn tell_list_is_awaited(&mut self) {
        self.message(b"reading a checksum list from standard input; Ctrl-D ends it");
    }

    /// Tells a user at a terminal that the program waits for input. Nothing else would show that.
    pub fn tell_who_waits(&mut self) {
        if io::stdin().is_terminal() {
            self.message(b"reading standard input; Ctrl-D ends it");
            self.hint("lanesum --help");
        }
    }

    /// Whether a message could not be written.
    pub const fn message_lost(&self) -> bool {
        self.message_lost
    }
}

/// Locks the console. A thread that panicked with the lock left only whole lines, because
/// [`LineWriter`] holds nothing else. So they may still be written.
pub fn lock(console: &Mutex<Console>) -> MutexGuard<'_, Console> {
    console.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the program after a write error: silently by SIGPIPE if the reader has gone, as GNU tools
/// do, or with a message if that signal is ignored.
pub fn fail_to_write(error: &io::Error, console: &mut Console) -> ExitCode {
    streams::end_by_sigpipe(error);
    let reason = lanesum_checksum::error::message(error);
    console.message(format!("write error: {reason}").as_bytes());
    ExitCode::FAILURE
}

/// Returns a file name as messages of this process show it, for errors at the end of the process.
pub fn shown(name: impl AsRef<OsStr>) -> String {
    quote::shown(name, locale_of_process())
}

/// Returns the locale of this process.
pub fn locale_of_process() -> Locale {
    if names_a_locale(env::var_os) && crate::startup::locale_is_utf8() {
        Locale::Utf8
    } else {
        Locale::C
    }
}

/// Returns whether the environment names a locale other than C: the first of its three variables
/// that is not empty does.
fn names_a_locale(variable: impl Fn(&'static str) -> Option<OsString>) -> bool {
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(variable)
        .find(|value| !value.is_empty())
        .is_some_and(|name| name != "C" && name != "POSIX")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_says_something_decides() {
        let of = |values: [&str; 3]| {
            names_a_locale(|name| {
                let names = ["LC_ALL", "LC_CTYPE", "LANG"];
                let at = names.iter().position(|&known| known == name).unwrap();
                (values[at] != "unset").then(|| values[at].into())
            })
        };
        assert!(of(["C.UTF-8", "C", "C"]));
        assert!(of(["", "de_AT.utf8@euro", "C"]));
        // Such a locale is UTF-8 without saying so.
        assert!(of(["unset", "unset", "hi_IN"]));
        assert!(!of(["C", "en_US.UTF-8", "en_US.UTF-8"]));
        assert!(!of(["unset", "POSIX", "C.UTF-8"]));
        assert!(!of(["unset", "unset", "unset"]));
    }
}
