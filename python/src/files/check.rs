//! Checks lists. The result has a row for each line that has an entry or is invalid, and says
//! whether the check succeeded.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::mem;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use lanesum_checksum::check::{self, Event, List, Tally, Verdict};
use lanesum_checksum::etag::of_other_parts;
use lanesum_checksum::hints::{Lookup, NotFound, unknown_column};
use lanesum_checksum::{Error, engine};
use lanesum_list::{Dialect, Ending, Inode};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::batches::{Batches, internal};
use super::names::{self, NamesBuilder};
use super::options::{self, ReadOptions, os_error};
use super::watch::Lists;
use crate::words::{self, SAYS, counted};

/// The options of a check. A dict in Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Checking<'py> {
    root: Option<Bound<'py, PyAny>>,
    beside: bool,
    from: Option<String>,
    name: Option<Bound<'py, PyAny>>,
    algorithm: Option<String>,
    part_sizes: Vec<String>,
    zero: bool,
    ignore_missing: bool,
    strict: bool,
}

/// The reason why standard input is not read.
const STDIN: &str =
    "not read, because - is the standard input of the process; root=\".\" makes - a file";
/// The reason why a file is not read if it is standard input or the FIFO of a list.
const TAKEN: &str =
    "not read, because it is a FIFO that a list came from, or the standard input of the process";

/// The number of lines with each verdict.
type Counts = Vec<(&'static str, u64)>;

/// Checks lists. Returns the rows, the numbers of lines of all lists by verdict, messages, and
/// whether the check succeeded. `opened` has the path to open for each list.
#[pyfunction]
pub(crate) fn check_lists(
    py: Python<'_>,
    lists: &Bound<'_, PyAny>,
    opened: &Bound<'_, PyAny>,
    checking: Checking<'_>,
    reading: ReadOptions<'_>,
) -> PyResult<(Batches, Counts, Vec<String>, bool)> {
    let (engine, mut watch) = reading.engine()?;
    let (lists, opened) = (names::paths(lists)?, names::paths(opened)?);
    if let Some((_, list)) =
        opened.iter().zip(&lists).find(|(it, list)| checking.beside && it != list)
    {
        let list = list.display();
        return Err(PyValueError::new_err(format!(
            "{list} is a FIFO; use root= instead of beside="
        )));
    }
    for list in &lists {
        // A list that cannot be read is an invalid argument.
        look(list).map_err(|error| os_error(&error, list))?;
    }
    let has_key = engine.key.is_some();
    let mut options = options(&checking, engine)?;
    // The FIFO has been read. Opening it again would wait for the next writer.
    options.engine.taken.extend(lists.iter().chain(&opened).filter_map(|list| fifo(list)));
    let pairs = opened.iter().zip(&lists).filter(|(opened, list)| opened != list);
    let called: Vec<_> =
        pairs.map(|(it, list)| [it, list].map(|it| List::Path(it.clone()))).collect();
    let opened: Vec<_> = opened.into_iter().map(List::Path).collect();
    let left = opened.len();
    let is_one = left == 1;
    let check = py.detach(|| check::check(opened.into_iter(), &options));
    let mut report = Report {
        is_strict: checking.strict || has_key,
        is_told: checking.algorithm.is_some(),
        is_one,
        options: options.clone(),
        ..Report::default()
    };
    watch.wait(py, Lists { check, left }, |(list, event)| {
        let name = called.iter().find(|[opened, _]| *opened == *list);
        report.event(name.map_or(&*list, |[_, list]| list), event);
        Ok(())
    })?;
    if report.is_of_nothing() {
        report.problems.push("nothing was checked: the lists contain no checksum lines".to_owned());
    }
    let (counts, is_well) = (report.counts(), report.is_well());
    let problems = mem::take(&mut report.problems);
    Ok((report.finish()?, counts, problems, is_well))
}

/// Returns the system's error for a list that is missing, is a directory, or cannot be read. Does
/// not open special files such as FIFOs, because that may wait.
fn look(list: &Path) -> io::Result<()> {
    let kind = fs::metadata(list)?.file_type();
    if kind.is_file() || kind.is_dir() {
        // Opening a directory succeeds, but reading it fails.
        _ = File::open(list)?.read(&mut [0])?;
    }
    Ok(())
}

/// Returns the FIFO at a path, if there is one.
fn fifo(path: &Path) -> Option<Inode> {
    let found = fs::metadata(path).ok()?;
    found.file_type().is_fifo().then(|| Inode { device: found.dev(), number: found.ino() })
}

fn options(checking: &Checking<'_>, engine: engine::Options) -> PyResult<check::Options> {
    let mut options = check::Options::default();
    let keyed = engine.key.as_ref().map(|key| Dialect::keyed(key.algorithms()));
    let mut dialect = keyed.unwrap_or_else(Dialect::any);
    if let Some(name) = &checking.algorithm {
        let algorithm = options::algorithm(name)?;
        if let Some(key) = &engine.key
            && !key.fits(algorithm)
        {
            // Lines of an algorithm without a key prove nothing: anyone could have written them.
            return Err(PyValueError::new_err(format!(
                "algorithm={name:?} does not take this key; use blake3, or siphash for 16 bytes"
            )));
        }
        dialect = dialect.with_untagged(algorithm);
    }
    let ending = if checking.zero { Ending::Nul } else { Ending::Newline };
    options.dialect = dialect.with_ending(ending);
    options.from = checking.from.as_deref().map(options::read_format).transpose()?;
    let name = options::optional_path(checking.name.as_ref())?;
    options.name = name.map(|name| name.as_os_str().as_bytes().to_vec());
    options.part_sizes = options::part_sizes(&checking.part_sizes)?;
    options.root = options::optional_path(checking.root.as_ref())?;
    options.beside = checking.beside;
    options.ignore_missing = checking.ignore_missing;
    options.engine = engine;
    // `-` in a list would be the standard input of the Python process.
    let stdin = engine::inode_of_file(std::io::stdin());
    options.engine.taken = stdin.into_iter().collect();
    Ok(options)
}

/// The rows, and the result: success corresponds to exit code 0 of the program.
#[derive(Default)]
struct Report {
    is_strict: bool,
    /// Whether the caller named the algorithm of untagged lines.
    is_told: bool,
    /// Whether there is only one list.
    is_one: bool,
    /// How lists are read, and the directory of the names.
    options: check::Options,
    lists: NamesBuilder,
    names: NamesBuilder,
    verdicts: StringBuilder,
    lines: Int64Builder,
    reasons: StringBuilder,
    total: Tally,
    /// The number of lists that could not be read, or of which no file was verified.
    bad_lists: u64,
    /// The number of lists without entries and invalid lines.
    empty_lists: u64,
    problems: Vec<String>,
    /// The unknown algorithms of the list.
    unknown: BTreeSet<String>,
    /// The missing files of the list.
    not_found: NotFound,
}

impl Report {
    fn row(
        &mut self,
        list: &List,
        name: Option<&[u8]>,
        verdict: &str,
        line: Option<u64>,
        reason: Option<&str>,
    ) {
        self.lists.push(Some(list.name()));
        self.names.push(name);
        self.verdicts.append_value(verdict);
        self.lines.append_option(line.and_then(|line| i64::try_from(line).ok()));
        self.reasons.append_option(reason);
    }

    fn event(&mut self, list: &List, event: Event) {
        match event {
            Event::Malformed { line } => {
                self.row(list, None, "malformed", Some(line), Some("not a checksum line"));
            }
            Event::Wrong { line, why } => {
                self.row(list, None, "wrong", Some(line), Some(&words::of_line(&why)));
            }
            Event::Unknown { line, algorithm } => {
                let why = format!("not checked: unknown algorithm {algorithm}");
                self.row(list, None, "unknown", Some(line), Some(&why));
                self.unknown.insert(algorithm);
            }
            Event::NotEncoded { name } => {
                let name = String::from_utf8_lossy(&name);
                let words = "the list does not encode %, so its name was used unchanged";
                self.problems.push(format!("{name}: {words}"));
            }
            Event::PartSize { .. } | Event::StandardInput => {}
            Event::Checked { name, folder, verdict } => {
                if matches!(&verdict, Verdict::Unreadable(error) if error.is_not_found()) {
                    let is_beside = self.options.beside;
                    let place = Lookup { list, root: self.options.root.as_deref(), is_beside };
                    self.not_found.note(&name, folder.as_deref(), place);
                }
                self.checked(list, &name, &verdict);
            }
            Event::End { tally, error } => {
                self.end(list, &tally, error.map(|it| words::of_list(&it)))
            }
        }
    }

    fn checked(&mut self, list: &List, name: &[u8], verdict: &Verdict) {
        let (verdict, reason) = match verdict {
            Verdict::Match => ("match", None),
            Verdict::Mismatch => ("mismatch", None),
            Verdict::OtherSize { listed, found } => {
                ("mismatch", Some(format!("size is {found} bytes, recorded: {listed} bytes")))
            }
            Verdict::OtherParts { tried } => {
                ("mismatch", Some(words::of_reason(&of_other_parts(*tried))))
            }
            Verdict::Unproven => {
                ("unproven", Some("the list has only a size, no digest".to_owned()))
            }
            Verdict::Missing => ("missing", None),
            Verdict::Unreadable(error) if matches!(**error, Error::Taken) => {
                let is_dash = name == b"-" && self.options.root.is_none();
                ("unreadable", Some(if is_dash { STDIN } else { TAKEN }.to_owned()))
            }
            Verdict::Unreadable(error) => ("unreadable", Some(error.to_string())),
        };
        self.row(list, Some(name), verdict, None, reason.as_deref());
    }

    fn end(&mut self, list: &List, tally: &Tally, error: Option<String>) {
        self.total += *tally;
        let unknown = mem::take(&mut self.unknown);
        let not_found = mem::take(&mut self.not_found);
        let name = String::from_utf8_lossy(list.name()).into_owned();
        let mut tell = |words: &str| self.problems.push(format!("{name}: {words}"));
        let verifiable = tally.entries() + tally.unknown;
        if let Some(error) = error {
            self.bad_lists += 1;
            return tell(&error);
        }
        if !unknown.is_empty() {
            let names: Vec<_> = unknown.iter().map(String::as_str).collect();
            let lines = counted(tally.unknown, "line");
            tell(&format!("{lines} not checked: unknown algorithm {}", names.join(", ")));
        }
        if verifiable + tally.wrong + tally.malformed == 0 {
            self.empty_lists += 1;
            if !self.is_one {
                tell("the list is empty");
            }
        } else if verifiable == 0 && tally.malformed > 0 {
            self.bad_lists += 1;
            tell("contains no checksum lines");
        } else if tally.malformed > 0 {
            match tally.malformed {
                1 => tell("1 line is not a checksum line"),
                lines => tell(&format!("{lines} lines are not checksum lines")),
            }
        }
        if tally.unproven > 0
            && let Some(title) = unknown_column(list)
        {
            tell(&format!("lanesum does not support the algorithm of its digests, {title}"));
        }
        let is_beside = self.options.beside;
        let place = Lookup { list, root: self.options.root.as_deref(), is_beside };
        for hint in not_found.hints(place, tally.entries()) {
            tell(&words::of_hint(Path::new(OsStr::from_bytes(list.name())), &hint));
        }
        if not_found.is_encoded() && self.options.from.is_none() {
            tell(&SAYS.of_encoded());
        }
        let (is_told, has_key) = (self.is_told, self.options.engine.key.is_some());
        for doubt in SAYS.of_doubtful(list, tally, self.options.dialect, is_told, has_key) {
            tell(&words::of_doubt(doubt));
        }
        if tally.entries() > 0 && tally.entries() == tally.missing {
            self.bad_lists += 1;
            tell("no file was verified: all of the listed files are missing");
        }
    }

    fn is_of_nothing(&self) -> bool {
        self.total.entries() + self.total.unknown + self.total.wrong == 0 && self.bad_lists == 0
    }

    fn is_well(&self) -> bool {
        let total = &self.total;
        let failures =
            total.mismatched + total.unproven + total.wrong + total.unreadable + total.unknown;
        self.bad_lists + failures == 0
            && total.entries() > 0
            && !(self.is_strict && total.malformed + self.empty_lists > 0)
    }

    fn counts(&self) -> Counts {
        let total = &self.total;
        vec![
            ("match", total.matched),
            ("mismatch", total.mismatched),
            ("unproven", total.unproven),
            ("missing", total.missing),
            ("unreadable", total.unreadable),
            ("malformed", total.malformed),
            ("wrong", total.wrong),
            ("unknown", total.unknown),
            ("bad_lists", self.bad_lists),
            ("files", total.files),
            ("bytes", total.bytes),
        ]
    }

    fn finish(mut self) -> PyResult<Batches> {
        let [list, list_bytes] = self.lists.finish();
        let [path, path_bytes] = self.names.finish();
        let columns: [(&str, ArrayRef); 7] = [
            ("path", path),
            ("verdict", Arc::new(self.verdicts.finish())),
            ("reason", Arc::new(self.reasons.finish())),
            ("list", list),
            ("line", Arc::new(self.lines.finish())),
            ("path_bytes", path_bytes),
            ("list_bytes", list_bytes),
        ];
        let columns = columns.map(|(name, column)| (name, column, true));
        Ok(Batches::one(RecordBatch::try_from_iter_with_nullable(columns).map_err(internal)?))
    }
}
