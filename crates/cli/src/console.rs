//! Standard output and standard error, in an order that their reader can follow.
//!
//! Everything printed is written before a message goes to standard error, and before the program
//! waits for anything ([`Console::flush`]). On a terminal each line is written at once, since
//! the bar may stand there.

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
    /// The program's name, which messages begin with.
    name: Vec<u8>,
    locale: Locale,
    /// To standard output, or to a file.
    lines: LineWriter,
    /// Whether lines go to a terminal, where the bar may stand.
    on_terminal: bool,
    /// A bar to be put aside while something is written.
    bar: Option<ProgressBar>,
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
            on_terminal: out.is_terminal(),
            lines: LineWriter::to(out),
            bar: None,
            message_lost: false,
        }
    }

    /// Puts this bar aside whenever something is written where it stands.
    pub fn set_bar(&mut self, bar: Option<ProgressBar>) {
        self.bar = bar;
    }

    /// Takes the bar away, for good.
    pub fn remove_bar(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    /// Appends a file's name as messages and results show it.
    pub fn quote(&self, out: &mut Vec<u8>, name: &[u8]) {
        quote::file_name(out, name, self.locale);
    }

    /// The same as text.
    pub fn shown(&self, name: impl AsRef<OsStr>) -> String {
        quote::shown(name, self.locale)
    }

    /// Prints one or several lines, which bring their endings along.
    ///
    /// # Errors
    ///
    /// These lines or some before them could not be written.
    pub fn line(&mut self, line: &[u8]) -> io::Result<()> {
        let Self { lines, bar, .. } = self;
        let write = |lines: &mut LineWriter| lines.push(line).and_then(|()| lines.flush());
        match bar {
            Some(bar) if self.on_terminal => bar.suspend(|| write(lines)),
            None if self.on_terminal => write(lines),
            _ => lines.push(line),
        }
    }

    /// Writes the lines that are not written yet. Those that cannot be are given up.
    ///
    /// # Errors
    ///
    /// Some line could not be written, and that was not told yet.
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

    /// Prints a whole text on standard error, after the lines printed before.
    pub fn raw_message(&mut self, text: &[u8]) {
        self.lines.write();
        let written = match &self.bar {
            Some(bar) => bar.suspend(|| streams::stderr().write_all(text)),
            None => streams::stderr().write_all(text),
        };
        self.message_lost |= written.is_err();
    }

    /// Tells that somebody is to type a list.
    pub fn tell_list_is_awaited(&mut self) {
        self.message(b"reading a checksum list from standard input; Ctrl-D ends it");
    }

    /// Tells whoever started the program without a word what it waits for: nothing else on a
    /// terminal does.
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

/// The console for as long as it is written to. A thread that panicked with it left whole lines
/// behind, since [`LineWriter`] holds nothing else, so they may still be written.
pub fn lock(console: &Mutex<Console>) -> MutexGuard<'_, Console> {
    console.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends after lines could not be written: quietly by SIGPIPE when the reader has gone, as GNU's
/// tools do, and with a message where that signal is ignored.
pub fn fail_to_write(error: &io::Error, console: &mut Console) -> ExitCode {
    streams::end_by_sigpipe(error);
    let reason = lanesum_checksum::error::message(error);
    console.message(format!("write error: {reason}").as_bytes());
    ExitCode::FAILURE
}

/// A file's name as messages of this process show it, for errors that are told at its end.
pub fn shown(name: impl AsRef<OsStr>) -> String {
    quote::shown(name, locale_of_process())
}

/// The locale of this process.
pub fn locale_of_process() -> Locale {
    if names_a_locale(env::var_os) && lanesum_startup::locale_is_utf8() {
        Locale::Utf8
    } else {
        Locale::C
    }
}

/// Whether there is a locale of characters to look for: whether the first of its three variables
/// that says something names another one than C, which the system always has.
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
        // Its characters are in UTF-8, though it does not say so.
        assert!(of(["unset", "unset", "hi_IN"]));
        assert!(!of(["C", "en_US.UTF-8", "en_US.UTF-8"]));
        assert!(!of(["unset", "POSIX", "C.UTF-8"]));
        assert!(!of(["unset", "unset", "unset"]));
    }
}
