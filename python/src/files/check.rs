//! Lists that are checked: a row for each of their lines that says something, and whether all is
//! well.

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

/// What is checked, and how. A dict in Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Checking<'py> {
    root: Option<Bound<'py, PyAny>>,
    from: Option<String>,
    name: Option<Bound<'py, PyAny>>,
    algorithm: Option<String>,
    part_sizes: Vec<String>,
    zero: bool,
    ignore_missing: bool,
    strict: bool,
}

/// Why standard input is not read.
const STDIN: &str =
    "is standard input, which is the whole process's and is not read; with root=\".\" - is a file";
/// Why what leads to it is not read, or to a FIFO that a list comes through.
const TAKEN: &str =
    "a list comes from there, or it is the process's standard input; no file can come from there";

/// How many lines are what.
type Counts = Vec<(&'static str, u64)>;

/// Checks lists: the rows, how many lines of all lists are what, what there is to say, and whether
/// all is well. `opened` has what is opened for each of them.
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
    for list in &lists {
        // A list that cannot be read is a wrong argument.
        look(list).map_err(|error| os_error(&error, list))?;
    }
    let has_key = engine.key.is_some();
    let mut options = options(&checking, engine)?;
    // Nothing is left in it, and whoever opens it waits for the next writer.
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
        report.problems.push("no checksum line in the lists, so nothing was checked".to_owned());
    }
    let (counts, is_well) = (report.counts(), report.is_well());
    let problems = mem::take(&mut report.problems);
    Ok((report.finish()?, counts, problems, is_well))
}

/// The system's refusal of a list that is not there, is a folder or cannot be read. What may keep
/// whoever opens it waiting, as a FIFO, is not opened for that.
fn look(list: &Path) -> io::Result<()> {
    let kind = fs::metadata(list)?.file_type();
    if kind.is_file() || kind.is_dir() {
        // A folder can be opened, and not read.
        _ = File::open(list)?.read(&mut [0])?;
    }
    Ok(())
}

/// The FIFO that a path leads to, if it does.
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
            // Whoever does not have the key could have written its lines.
            return Err(PyValueError::new_err(format!(
                "algorithm: {algorithm} takes no such key; with key= it is blake3 or a siphash"
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
    options.ignore_missing = checking.ignore_missing;
    options.engine = engine;
    // `-` in a list would be the standard input of whoever runs Python.
    let stdin = engine::inode_of_file(std::io::stdin());
    options.engine.taken = stdin.into_iter().collect();
    Ok(options)
}

/// The rows, and what decides whether all is well: the program's exit code, which is 0 then.
#[derive(Default)]
struct Report {
    is_strict: bool,
    /// Whether the algorithm of lines that do not name theirs was said.
    is_told: bool,
    /// Whether there is but one list.
    is_one: bool,
    /// How lists are read, and the folder that names are looked up in.
    options: check::Options,
    lists: NamesBuilder,
    names: NamesBuilder,
    verdicts: StringBuilder,
    lines: Int64Builder,
    reasons: StringBuilder,
    total: Tally,
    /// Lists that could not be read, or of which nothing could be verified.
    bad_lists: u64,
    /// Lists without a line that says anything.
    empty_lists: u64,
    problems: Vec<String>,
    /// What lines of the list call algorithms that are not known.
    unknown: BTreeSet<String>,
    /// Those of the list whose file is not there.
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
                let why = format!("of {algorithm}, which lanesum does not compute: not checked");
                self.row(list, None, "unknown", Some(line), Some(&why));
                self.unknown.insert(algorithm);
            }
            Event::NotEncoded { name } => {
                let name = String::from_utf8_lossy(&name);
                let words = "its name is as it stands in the list, which does not encode %";
                self.problems.push(format!("{name}: {words}"));
            }
            Event::PartSize { .. } => {}
            Event::Checked { name, folder, verdict } => {
                if matches!(&verdict, Verdict::Unreadable(error) if error.is_not_found()) {
                    let place =
                        Lookup { list, root: self.options.root.as_deref(), is_beside: false };
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
                ("mismatch", Some(format!("of {found} bytes, and of {listed} in the list")))
            }
            Verdict::OtherParts { tried } => {
                ("mismatch", Some(words::of_reason(&of_other_parts(*tried))))
            }
            Verdict::Unproven => {
                ("unproven", Some("no digest in the list, only a size".to_owned()))
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
            tell(&format!("{lines} of {} not checked", names.join(", ")));
        }
        if verifiable + tally.wrong + tally.malformed == 0 {
            self.empty_lists += 1;
            if !self.is_one {
                tell("an empty list");
            }
        } else if verifiable == 0 && tally.malformed > 0 {
            self.bad_lists += 1;
            tell("no checksum line in it; is it a list?");
        } else if tally.malformed > 0 {
            match tally.malformed {
                1 => tell("1 line is no checksum line"),
                lines => tell(&format!("{lines} lines are no checksum lines")),
            }
        }
        if tally.unproven > 0
            && let Some(title) = unknown_column(list)
        {
            tell(&format!("its digests are of {title}, which lanesum does not compute"));
        }
        let place = Lookup { list, root: self.options.root.as_deref(), is_beside: false };
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
            tell("no file was verified: none of those it names exists");
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
