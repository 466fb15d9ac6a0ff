//! Prints findings and summaries, as text or as JSON.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use lanesum_catalog::{Attention, Class, Finding, Reason, Root, Summary};

use super::commands::Commands;
use super::errors::print_hint;
use super::standing::reason_words;
use super::{json, summary};
use crate::args::Where;
use crate::console::Console;
use crate::counts::files;

/// Prints the findings of a run.
#[derive(Clone, Copy)]
pub struct Printer<'run> {
    /// Whether to print JSON.
    pub json: bool,
    /// Whether to print no summary of roots that need no attention.
    pub quiet: bool,
    /// The catalog, for the commands of hints.
    pub place: &'run Where,
    /// The options of the command that choose files, for the commands of hints.
    pub chosen: &'run str,
}

impl Printer<'_> {
    /// Prints a finding.
    ///
    /// # Errors
    /// Errors of standard output.
    pub fn finding(&self, root: &Root, finding: &Finding, console: &mut Console) -> io::Result<()> {
        if self.json {
            return console.line(&json::line(json::finding_object(&root.path, finding)));
        }
        match text(&root.path, finding, console) {
            Some(line) => console.line(&line),
            None => Ok(()),
        }
    }

    /// Prints the result of a run: a line, and a hint if there is something to do.
    ///
    /// # Errors
    /// Errors of standard output.
    pub fn summary(&self, it: &Summary, console: &mut Console) -> io::Result<()> {
        self.summary_as(it.verb.name(), it, console)
    }

    /// Prints the same under a different verb.
    ///
    /// # Errors
    /// Errors of standard output.
    pub fn summary_as(&self, verb: &str, it: &Summary, console: &mut Console) -> io::Result<()> {
        let is_quiet = self.quiet && it.attention() <= Attention::Changes && !it.clock_is_behind;
        if is_quiet {
            return Ok(());
        }
        if self.json {
            let mut object = json::summary_object(it);
            object.insert("verb".to_owned(), verb.into());
            return console.line(&json::line(object));
        }
        console.flush()?;
        for (path, error) in &it.skipped.bad_lines {
            console.about(name(&it.root.path_of(path)), &format!("warning: {error}"));
        }
        console.about(name(&it.root.path), &summary::words(verb, it, self.chosen));
        let hint = summary::hint(it, self.chosen, Commands { place: self.place, console });
        if let Some(hint) = hint {
            print_hint(&hint, console);
        }
        Ok(())
    }
}

/// Returns a finding as a line: class, path and reason. Returns none for findings without a
/// message.
pub fn text(root: &Path, finding: &Finding, console: &Console) -> Option<Vec<u8>> {
    let Finding { class, reason, .. } = finding;
    let is_warning = (*class, *reason) == (Class::Ok, Some(Reason::Hardware));
    if *class == Class::Ok && !is_warning && finding.was.is_none() {
        return None;
    }
    let word = if is_warning { "warning" } else { class.name() };
    let mut line = format!("{word:<8} ").into_bytes();
    let path = path_below(root, &finding.path);
    if let Some(other) = finding.other.as_ref().filter(|_| *class != Class::New) {
        quote_like(&mut line, other, name(&path), console);
        line.extend_from_slice(b" -> ");
    }
    console.quote(&mut line, name(&path));
    let notes = notes(finding, console);
    if !notes.is_empty() {
        line.extend_from_slice(format!(" ({})", notes.join("; ")).as_bytes());
    }
    line.push(b'\n');
    Some(line)
}

/// Returns the notes in parentheses after the path.
fn notes(finding: &Finding, console: &Console) -> Vec<String> {
    let mut notes = Vec::new();
    match (finding.reason, &finding.other, &finding.error) {
        (Some(Reason::Hardware), ..) => notes.push(
            "the first of two reads was wrong: check memory, cable and controller".to_owned(),
        ),
        (Some(Reason::Copy), Some(other), _) => {
            notes.push(format!("copy of {}", console.shown(other)))
        }
        (Some(reason @ Reason::IoError), _, Some(error)) => {
            notes.push(format!("{reason}: {error}"))
        }
        (Some(reason), ..) => notes.push(reason_words(reason).to_owned()),
        (None, ..) => {}
    }
    if finding.files > 1 {
        notes.push(files(finding.files));
    }
    match (finding.class, finding.was) {
        (Class::Ok, Some(was @ (Class::Damaged | Class::Missing))) => {
            notes.push("restored".to_owned());
            notes.push(format!("was {was}"));
        }
        (Class::Ok, Some(was)) => notes.push(format!("was {was}")),
        (Class::Missing, Some(was @ Class::Damaged)) => notes.push(format!("was {was}")),
        _ => {}
    }
    notes
}

/// Quotes a path, with a slash at its end if the other one has it.
fn quote_like(line: &mut Vec<u8>, path: &Path, like: &[u8], console: &Console) {
    let mut bytes = name(path).to_vec();
    if like.ends_with(b"/") && !bytes.ends_with(b"/") {
        bytes.push(b'/');
    }
    console.quote(line, &bytes);
}

/// Returns the full path of an entry below a root. A directory keeps its slash.
pub fn path_below(root: &Path, below: &[u8]) -> PathBuf {
    if below.is_empty() { root.to_owned() } else { root.join(OsStr::from_bytes(below)) }
}

/// A path as bytes.
pub fn name(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}
