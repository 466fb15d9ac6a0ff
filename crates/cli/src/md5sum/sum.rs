//! Prints the digest of each file.

use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;

use lanesum_checksum::list::{self, Ending};
use lanesum_checksum::{Algorithm, Job, Outcome, Source, engine};

use super::console::Console;
use super::engine_options;
use super::options::Style;

/// Prints a line for each file and a message for each that cannot be read; whether all could.
///
/// # Errors
///
/// Standard output's. Nothing more is printed then.
pub fn run(style: Style, files: Vec<OsString>, console: &mut Console) -> io::Result<bool> {
    let files = if files.is_empty() { vec![OsString::from("-")] } else { files };
    let jobs = files.into_iter().map(|name| Job {
        source: if name == "-" { Source::Stdin } else { Source::Path((&name).into()) },
        algorithms: Algorithm::Md5.into(),
        context: name,
    });
    let mut printer = Printer { style, console, line: Vec::new(), all_read: true };
    let mut printed = Ok(());
    engine::run(&engine_options(), jobs, |outcome| {
        printed = printer.print(&outcome);
        if printed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    printed.map(|()| printer.all_read)
}

struct Printer<'a> {
    style: Style,
    console: &'a mut Console,
    /// Reused from line to line.
    line: Vec<u8>,
    all_read: bool,
}

impl Printer<'_> {
    fn print(&mut self, outcome: &Outcome<OsString>) -> io::Result<()> {
        let name = outcome.context.as_bytes();
        match &outcome.result {
            Ok(hashed) => {
                self.line.clear();
                let [digest] = &hashed.digests[..] else {
                    unreachable!("the job asked for one algorithm")
                };
                let (style, ending) = self.style.of_list();
                list::write_line(&mut self.line, style, ending, name, digest);
                self.console.line(&self.line)
            }
            Err(error) => {
                self.all_read = false;
                self.console.about(name, &error.to_string());
                Ok(())
            }
        }
    }
}

impl Style {
    const fn of_list(self) -> (list::Style, Ending) {
        let ending = if self.zero { Ending::Nul } else { Ending::Newline };
        if self.tag {
            (list::Style::Tagged, ending)
        } else {
            (list::Style::Untagged { binary: self.binary }, ending)
        }
    }
}
