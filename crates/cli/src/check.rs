//! `lanesum check`: checks files against lists, and tells what came of it.

use std::fs::File;
use std::io::{self, BufReader};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use indicatif::{DecimalBytes, HumanCount};
use lanesum_checksum::check::{self, Event, List, ListError, Options, Reading, Tally, Verdict};
use lanesum_checksum::list::{Dialect, Ending, Entries, Line, start};
use lanesum_checksum::{Key, engine};

use crate::args::Check;
use crate::console::{self, Console, fail_to_write, locale_of_process};
use crate::key::KeyFile;
use crate::progress::Display;
use crate::signals;

/// Checks the lists.
///
/// # Errors
/// What keeps it from beginning.
pub fn run(args: Check) -> anyhow::Result<ExitCode> {
    let begin = Instant::now();
    let paths = if args.lists.is_empty() { vec!["-".into()] } else { args.lists.clone() };
    let algorithm = args.algorithm.into_iter().collect();
    let key_file = KeyFile::open(args.key_file.as_deref(), algorithm)?;
    let mut console = Console::new(b"lanesum", locale_of_process()).context("standard output")?;
    console.expect_many();
    if let Some(key_file) = &key_file {
        key_file.warn(&mut console);
    }
    let console = Arc::new(Mutex::new(console));
    signals::catch().handle(&console, None);
    let mut options = options(&args, key_file.map(|file| file.key));
    let files = {
        let (paths, options) = (paths.clone(), options.clone());
        move || files_to_count(paths, &options)
    };
    let display = Display::start(args.run.progress, Some(files));
    console::lock(&console).set_bar(display.as_ref().map(|display| display.bar.clone()));
    options.engine =
        engine::Options { key: options.engine.key, ..args.run.engine(display.as_ref()) };

    let lists = paths
        .into_iter()
        .map(|path| if path == Path::new("-") { List::Stdin } else { List::Path(path) });
    let mut report =
        Report { args: &args, line: Vec::new(), total: Tally::default(), bad_lists: 0 };
    let mut printed = Ok(());
    check::check(lists, &options, |list, event| {
        let mut console = console::lock(&console);
        printed = report.event(list, event, &mut console);
        if printed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    drop(display);

    let mut console = console::lock(&console);
    console.set_bar(None);
    if let Err(error) = printed.and_then(|()| console.flush()) {
        return Ok(fail_to_write(&error, &mut console));
    }
    report.summary(begin.elapsed(), &mut console);
    Ok(if report.all_well() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn options(args: &Check, key: Option<Key>) -> Options {
    let dialect = key.as_ref().map_or_else(Dialect::any, Dialect::keyed);
    let dialect = args.algorithm.map_or(dialect, |algorithm| dialect.with_untagged(algorithm));
    let ending = if args.zero { Ending::Nul } else { Ending::Newline };
    Options {
        dialect: dialect.with_ending(ending),
        reading: Reading::Examined,
        root: args.root.clone(),
        ignore_missing: args.ignore_missing,
        engine: engine::Options { key, ..args.run.engine(None) },
    }
}

/// The files of the lists, for the total. A list on standard input comes only once, and what is
/// wrong with the others the check itself will tell.
fn files_to_count(
    lists: Vec<PathBuf>,
    options: &Options,
) -> impl Iterator<Item = PathBuf> + Send + use<> {
    let options = options.clone();
    let dialect = options.dialect;
    let files = lists.into_iter().filter(|path| path != Path::new("-")).flat_map(move |path| {
        let text = File::open(path)
            .ok()
            .and_then(|file| start::open(BufReader::new(file), dialect.ending()).ok());
        text.into_iter()
            .flat_map(move |text| Entries::new(text, dialect))
            .map_while(Result::ok)
            .filter_map(|(_, line)| if let Line::Entry(entry) = line { Some(entry) } else { None })
    });
    files.map(move |entry| options.path(&entry.name))
}

/// Prints what happens, and remembers what decides the exit code.
struct Report<'a> {
    args: &'a Check,
    /// Reused from line to line.
    line: Vec<u8>,
    total: Tally,
    /// Lists that could not be read, or of which nothing could be verified.
    bad_lists: u64,
}

impl Report<'_> {
    fn all_well(&self) -> bool {
        self.bad_lists == 0
            && self.total.mismatched == 0
            && self.total.unreadable == 0
            && !(self.is_strict() && self.total.malformed > 0)
    }

    fn is_strict(&self) -> bool {
        self.args.strict || self.args.key_file.is_some()
    }

    /// What more than a checksum line a line has to be.
    fn for_key(&self) -> &'static str {
        if self.args.key_file.is_some() { " for this key" } else { "" }
    }

    fn event(&mut self, list: &List, event: Event<'_>, console: &mut Console) -> io::Result<()> {
        match event {
            Event::Malformed { line } => {
                if self.args.warn {
                    console.about(
                        name(list),
                        &format!("line {line}: not a checksum line{}", self.for_key()),
                    );
                }
                Ok(())
            }
            Event::Checked { name, verdict } => self.checked(name, &verdict, console),
            Event::End { tally, error } => {
                self.end(list, &tally, error.as_ref(), console);
                Ok(())
            }
        }
    }

    fn checked(&mut self, name: &[u8], verdict: &Verdict, console: &mut Console) -> io::Result<()> {
        let result = match verdict {
            Verdict::Missing => return Ok(()),
            Verdict::Match if self.args.quiet => return Ok(()),
            Verdict::Match => "OK",
            Verdict::Mismatch => "FAILED",
            Verdict::Unreadable(error) => {
                console.about(name, &error.to_string());
                "FAILED open or read"
            }
        };
        if self.args.status {
            return Ok(());
        }
        self.line.clear();
        console.quote(&mut self.line, name);
        self.line.extend_from_slice(b": ");
        self.line.extend_from_slice(result.as_bytes());
        self.line.push(b'\n');
        console.line(&self.line)
    }

    fn end(
        &mut self,
        list: &List,
        tally: &Tally,
        error: Option<&ListError>,
        console: &mut Console,
    ) {
        self.total += *tally;
        if let Some(error) = error {
            self.bad_lists += 1;
            return console.about(name(list), &error.to_string());
        }
        if tally.entries() == 0 && tally.malformed > 0 {
            self.bad_lists += 1;
            let words = format!("no checksum line{} in it; is it a list?", self.for_key());
            return console.about(name(list), &words);
        }
        if tally.entries() > 0 && tally.entries() == tally.missing {
            self.bad_lists += 1;
            console.about(name(list), "no file was verified: none of those it names exists");
        }
        if tally.malformed > 0 && !self.args.status {
            let for_key = self.for_key();
            let words = match tally.malformed {
                1 => format!("1 line is no checksum line{for_key}; --warn tells which"),
                lines => {
                    format!("{lines} lines are no checksum lines{for_key}; --warn tells which")
                }
            };
            console.about(name(list), &words);
        }
    }

    /// One line about all lists together, when there was more than one file.
    fn summary(&self, elapsed: Duration, console: &mut Console) {
        let total = &self.total;
        let checked = total.entries() - total.missing;
        if self.args.status || checked < 2 {
            return;
        }
        let seconds = elapsed.as_secs_f64();
        let rate = total.bytes as f64 / seconds.max(1e-9);
        let failures = match (total.mismatched, total.unreadable) {
            (0, 0) => "no failures".to_owned(),
            (mismatched, 0) => format!("{} FAILED", HumanCount(mismatched)),
            (0, unreadable) => format!("{} could not be read", HumanCount(unreadable)),
            (mismatched, unreadable) => format!(
                "{} FAILED, {} could not be read",
                HumanCount(mismatched),
                HumanCount(unreadable)
            ),
        };
        let words = format!(
            "{} files, {} in {seconds:.2} s ({}/s): {failures}",
            HumanCount(checked),
            DecimalBytes(total.bytes),
            DecimalBytes(rate as u64),
        );
        console.message(words.as_bytes());
    }
}

/// What messages call a list.
fn name(list: &List) -> &[u8] {
    match list {
        List::Stdin => b"standard input",
        List::Path(path) => path.as_os_str().as_bytes(),
    }
}
