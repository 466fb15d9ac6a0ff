//! Prints the digest of each file.

use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;

use lanesum_checksum::{Algorithm, Error, Job, Outcome, Source, engine};
use lanesum_list::{self as list, Ending};

use crate::console::Console;

use super::options::Style;

/// Prints a line for each file and a message for each that cannot be read; whether all could.
///
/// # Errors
///
/// Standard output's. Nothing more is printed then.
pub fn run(
    style: Style,
    files: Vec<OsString>,
    engine: &engine::Options,
    console: &mut Console,
) -> io::Result<bool> {
    let files = if files.is_empty() { vec![OsString::from("-")] } else { files };
    if files.len() > 1 {
        console.expect_many();
    }
    let jobs = files.into_iter().map(|name| Job {
        source: if name == "-" { Source::Stdin } else { Source::Path((&name).into()) },
        algorithms: Algorithm::Md5.into(),
        context: name,
    });
    let (list_style, ending) = style.of_list();
    let mut all_read = true;
    let mut printed = Ok(());
    engine::run(
        engine,
        jobs,
        |outcome| line(outcome, list_style, ending),
        |line| {
            match line {
                Ok(line) => printed = console.line(&line),
                Err((name, error)) => {
                    all_read = false;
                    console.about(name.as_bytes(), &error.to_string());
                }
            }
            if printed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        },
    );
    printed.map(|()| all_read)
}

/// The line of a file, or its name and why there is none.
fn line(
    outcome: Outcome<OsString>,
    style: list::Style,
    ending: Ending,
) -> Result<Vec<u8>, (OsString, Error)> {
    let name = outcome.context;
    match outcome.result {
        Ok(hashed) => {
            let [digest] = &hashed.digests[..] else {
                unreachable!("the job asked for one algorithm")
            };
            let mut line = Vec::new();
            list::write_line(&mut line, style, ending, name.as_bytes(), digest);
            Ok(line)
        }
        Err(error) => Err((name, error)),
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
