//! Checks lists and reports as GNU md5sum does.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;

use lanesum_checksum::check::{self, Event, List, ListError, Options, Recognition, Tally, Verdict};
use lanesum_checksum::{Algorithm, engine};
use lanesum_list::Dialect;

use crate::console::Console;

use super::options::{Report, Rules};

/// What came of all lists together.
pub struct Checked {
    pub all_well: bool,
    /// A list has a line about standard input.
    pub named_stdin: bool,
}

/// Checks the lists and prints what comes of them.
///
/// # Errors
///
/// Standard output's. Nothing more is printed then.
pub fn run(
    rules: Rules,
    lists: Vec<OsString>,
    engine: engine::Options,
    console: &mut Console,
) -> io::Result<Checked> {
    let lists = if lists.is_empty() { vec![OsString::from("-")] } else { lists };
    let lists = lists
        .into_iter()
        .map(|list| if list == "-" { List::Stdin } else { List::Path(list.into()) });
    let mut options = Options::default();
    options.dialect = Dialect::only(Algorithm::Md5);
    options.recognition = Recognition::Gnu;
    options.ignore_missing = rules.ignore_missing;
    options.engine = engine;
    let mut reporter = Reporter {
        rules,
        console,
        line: Vec::new(),
        checked: Checked { all_well: true, named_stdin: false },
    };
    let mut check = check::check(lists, &options);
    while let Some((list, event)) = check.next_or_wait(|| reporter.console.flush())? {
        reporter.report(&list, event)?;
    }
    Ok(reporter.checked)
}

struct Reporter<'a> {
    rules: Rules,
    console: &'a mut Console,
    /// Reused from line to line.
    line: Vec<u8>,
    checked: Checked,
}

impl Reporter<'_> {
    fn report(&mut self, list: &List, event: Event) -> io::Result<()> {
        match event {
            // Of a list as GNU reads it none is.
            Event::Unknown { line, .. } | Event::Malformed { line } | Event::Wrong { line, .. } => {
                if self.rules.report == Report::Warn {
                    let words = format!("{line}: improperly formatted MD5 checksum line");
                    self.console.about(list_name(list), &words);
                }
                Ok(())
            }
            Event::NotEncoded { .. } | Event::PartSize { .. } | Event::StandardInput => Ok(()),
            Event::Checked { name, verdict, .. } => {
                self.checked.named_stdin |= name == b"-";
                self.checked(&name, &verdict)
            }
            Event::End { tally, error } => {
                self.end(list, &tally, error.as_ref());
                Ok(())
            }
        }
    }

    fn checked(&mut self, name: &[u8], verdict: &Verdict) -> io::Result<()> {
        let result = match verdict {
            Verdict::Missing => return Ok(()),
            Verdict::Match => match self.rules.report {
                Report::Normal | Report::Warn => "OK",
                Report::Quiet | Report::Status => return Ok(()),
            },
            // Its lists hold no sizes.
            Verdict::Mismatch
            | Verdict::OtherSize { .. }
            | Verdict::OtherParts { .. }
            | Verdict::Unproven => "FAILED",
            Verdict::Unreadable(error) => {
                self.console.about(name, &error.to_string());
                "FAILED open or read"
            }
        };
        if self.rules.report == Report::Status {
            return Ok(());
        }
        self.line.clear();
        self.console.quote(&mut self.line, name);
        self.line.extend_from_slice(b": ");
        self.line.extend_from_slice(result.as_bytes());
        self.line.push(b'\n');
        self.console.line(&self.line)
    }

    fn end(&mut self, list: &List, tally: &Tally, error: Option<&ListError>) {
        self.checked.all_well &= error.is_none()
            && tally.matched > 0
            && tally.mismatched + tally.unproven == 0
            && tally.unreadable == 0
            && !(self.rules.strict && tally.malformed > 0);
        let name = list_name(list);
        match error {
            Some(ListError::Open(error)) => {
                self.console.about(name, &lanesum_checksum::error::message(error));
            }
            Some(_) => {
                self.console.about(name, "read error");
            }
            None if tally.entries() == 0 => {
                self.console.about(name, "no properly formatted checksum lines found");
            }
            None if self.rules.report == Report::Status => {}
            None => {
                self.warn(
                    tally.malformed,
                    "line is improperly formatted",
                    "lines are improperly formatted",
                );
                self.warn(
                    tally.unreadable,
                    "listed file could not be read",
                    "listed files could not be read",
                );
                self.warn(
                    tally.mismatched,
                    "computed checksum did NOT match",
                    "computed checksums did NOT match",
                );
                if self.rules.ignore_missing && tally.matched == 0 {
                    self.console.about(name, "no file was verified");
                }
            }
        }
    }

    /// Warns about so many of what went wrong, if there are any.
    fn warn(&mut self, count: u64, one: &str, many: &str) {
        if count > 0 {
            let words = if count == 1 { one } else { many };
            self.console.message(format!("WARNING: {count} {words}").as_bytes());
        }
    }
}

/// What messages call a list.
fn list_name(list: &List) -> &[u8] {
    match list {
        List::Stdin => b"standard input",
        List::Path(path) => path.as_os_str().as_bytes(),
    }
}
