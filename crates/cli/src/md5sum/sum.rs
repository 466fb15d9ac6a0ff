//! Prints the digest of each file.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;

use lanesum_checksum::{Algorithm, Error, Job, Outcome, Source, engine};
use lanesum_list::formats::{Format, Gnu, Tag};
use lanesum_list::{Dialect, Ending};

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
    let jobs = files.into_iter().map(|name| Job {
        source: if name == "-" { Source::Stdin } else { Source::Path((&name).into()) },
        algorithms: Algorithm::Md5.into(),
        context: name,
    });
    let format = style.format();
    let mut all_read = true;
    let mut run = engine::run(engine, jobs);
    while let Some(outcome) = run.next_or_wait(|| console.flush())? {
        match line(outcome, &*format) {
            Ok(line) => console.line(&line)?,
            Err((name, error)) => {
                all_read = false;
                console.about(name.as_bytes(), &error.to_string());
            }
        }
    }
    Ok(all_read)
}

/// The line of a file, or its name and why there is none.
fn line(outcome: Outcome<OsString>, format: &dyn Format) -> Result<Vec<u8>, (OsString, Error)> {
    let name = outcome.context;
    match outcome.result {
        Ok(hashed) => {
            let record = hashed.into_record(name.as_bytes());
            let mut line = Vec::new();
            match format.record(&mut line, &record) {
                Ok(()) => Ok(line),
                // A file has a name, and any can be written.
                Err(cannot) => unreachable!("{cannot}"),
            }
        }
        Err(error) => Err((name, error)),
    }
}

impl Style {
    fn format(self) -> Box<dyn Format> {
        let ending = if self.zero { Ending::Nul } else { Ending::Newline };
        let dialect = Dialect::only(Algorithm::Md5).with_ending(ending);
        match self {
            Self { tag: true, .. } => Box::new(Tag::new(dialect)),
            Self { binary: true, .. } => Box::new(Gnu::new(dialect).binary()),
            Self { .. } => Box::new(Gnu::new(dialect)),
        }
    }
}
