//! Reads checksum lists into rows, and writes lists of rows.

use std::fs;
use std::path::PathBuf;

use lanesum_checksum::check::{FormatOfList, List, Options};
use lanesum_checksum::list::{self, ListReader, OneFolder};
use lanesum_list::formats::{CannotHold, Kind, Layout, Line, Wrong};
use lanesum_list::{Algorithm, Algorithms, Dialect, Digest, Ending, Record, Times};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use super::batches::Batches;
use super::names;
use super::options::{self, os_error};
use super::rows::{Columns, Row, RowsBuilder, nanoseconds, time};
use crate::bytes;
use crate::signals::Turns;
use crate::words;

/// How to read a list. A dict in Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ReadingOfList<'py> {
    from: Option<String>,
    name: Option<Bound<'py, PyAny>>,
    algorithm: Option<String>,
    zero: bool,
}

impl ReadingOfList<'_> {
    fn options(&self) -> PyResult<Options> {
        use std::os::unix::ffi::OsStrExt as _;
        let mut options = Options::default();
        if let Some(name) = &self.algorithm {
            options.dialect = Dialect::untagged_as(options::algorithm(name)?);
        }
        let ending = if self.zero { Ending::Nul } else { Ending::Newline };
        options.dialect = options.dialect.with_ending(ending);
        options.from = self.from.as_deref().map(options::read_format).transpose()?;
        let name = options::optional_path(self.name.as_ref())?;
        options.name = name.map(|name| name.as_os_str().as_bytes().to_vec());
        Ok(options)
    }
}

/// Returns the records of a list in a file.
#[pyfunction]
pub(crate) fn read_list_file(
    py: Python<'_>,
    path: &Bound<'_, PyAny>,
    reading: ReadingOfList<'_>,
) -> PyResult<Batches> {
    let (path, options) = (names::path(path)?, reading.options()?);
    let content = py.detach(|| fs::read(&path)).map_err(|error| os_error(&error, &path))?;
    let name = path.display().to_string();
    rows(py, &content, &List::Path(path), &options, &name)
}

/// Returns the records of a list in memory.
#[pyfunction]
pub(crate) fn read_list_content(
    py: Python<'_>,
    content: PyBackedBytes,
    reading: ReadingOfList<'_>,
) -> PyResult<Batches> {
    // Without a file name, only the start of the list shows the format.
    let list = List::Path(PathBuf::new());
    rows(py, &content, &list, &reading.options()?, "the list")
}

fn rows(
    py: Python<'_>,
    content: &[u8],
    list: &List,
    options: &Options,
    name: &str,
) -> PyResult<Batches> {
    py.detach(|| {
        let bad = |why: String| PyValueError::new_err(format!("{name}: {why}"));
        let mut turns = Turns::new();
        let records = records(content, list, options, &mut turns, bad)?;
        let known: Algorithms =
            records.iter().fold(Algorithms::NONE, |all, it| all.union(it.algorithms()));
        let known: Vec<Algorithm> = known.iter().collect();
        let has_parts = |it: &Record<'_>| it.etag.is_some_and(|etag| etag.parts.is_some());
        let etag = records.iter().any(has_parts);
        let mut rows = RowsBuilder::new(&known, Columns { etag, ..Columns::default() });
        for record in &records {
            turns.turn(0)?;
            rows.push(&Row {
                path: &record.name,
                size: record.size,
                modified: record.times.modified.and_then(nanoseconds),
                digests: &record.digests,
                etag: record.etag.filter(|etag| etag.parts.is_some()),
                ..Row::default()
            })?;
        }
        rows.finish()
    })
}

/// # Errors
/// Calls `bad` for the first invalid line with its number, and returns errors of `turns`.
fn records(
    content: &[u8],
    list: &List,
    options: &Options,
    turns: &mut Turns,
    bad: impl Fn(String) -> PyErr,
) -> PyResult<Vec<Record<'static>>> {
    let ending = options.dialect.ending();
    let text = list::open(content, ending).map_err(|it| bad(words::of_list(&it.into())))?;
    let head = text.get_ref().0.get_ref();
    let FormatOfList { mut format, .. } = FormatOfList::new(list, head, options);
    // In other formats, a record has everything about a file.
    let joins = format.is_of_lines();
    let mut lines = ListReader::new(text);
    let (mut records, mut last) = (Vec::<Record<'static>>::new(), 1);
    let mut folder = OneFolder::default();
    while let Some(line) = lines.next_line(&mut *format).map_err(|it| bad(it.to_string()))? {
        turns.turn(0)?;
        last = line.number;
        let at_line = |why: &str| bad(format!("line {last}: {why}"));
        let record = match line.parse(&mut *format) {
            Line::Record { record, .. } => record.with_etag_as_md5(),
            Line::Blank => continue,
            Line::Unknown(name) => return Err(at_line(&format!("unknown algorithm {name}"))),
            Line::Malformed => return Err(at_line("not a checksum line")),
            Line::Wrong(wrong) => return Err(at_line(&words::of_line(&wrong))),
        };
        folder.take(format.folder()).map_err(|it| at_line(&it.to_string()))?;
        match records.last_mut() {
            Some(before) if joins && is_joined(before, &record) => {
                before.digests.extend(record.digests.iter().copied());
            }
            _ => {
                make_room(&mut records)?;
                records.push(record.into_owned());
            }
        }
    }
    if format.may_end() { Ok(records) } else { Err(bad(format!("line {last}: {}", Wrong::CutOff))) }
}

/// Allocates memory for one more record and its contents, because these would end the process on
/// failure.
fn make_room(records: &mut Vec<Record<'static>>) -> PyResult<()> {
    if records.len().is_multiple_of(RECORDS) {
        bytes::require(RECORDS * OF_A_RECORD)?;
    }
    records.try_reserve(1).map_err(|_| PyMemoryError::new_err(()))
}

/// The number of records between checks for memory, and about the bytes of a record.
const RECORDS: usize = 1024;
const OF_A_RECORD: usize = 1024;

/// Returns whether two adjacent records are about the same file and have different fields.
fn is_joined(before: &Record<'_>, record: &Record<'_>) -> bool {
    before.name == record.name
        && before.size == record.size
        && before.times == record.times
        && before.etag == record.etag
        && !record.digests.is_empty()
        && before.algorithms().intersection(record.algorithms()).is_empty()
}

/// A row of Python: path, size, modified, and a digest for each algorithm.
type Given<'py> = (Bound<'py, PyAny>, Option<u64>, Option<i64>, Vec<Option<PyBackedBytes>>);

/// Returns the content of a list of these rows.
#[pyfunction]
pub(crate) fn format_list(
    rows: Vec<Given<'_>>,
    algorithms: Vec<String>,
    format: &str,
    zero: bool,
) -> PyResult<Vec<u8>> {
    use std::os::unix::ffi::OsStrExt as _;
    let algorithms = options::named(&algorithms)?;
    let mut layout = Layout::new(options::set(&algorithms));
    layout.creation = Some(lanesum_checksum::list::creation());
    layout.size = rows.iter().any(|(_, size, ..)| size.is_some());
    layout.modified = rows.iter().any(|(_, _, modified, _)| modified.is_some());
    if zero {
        layout.dialect = layout.dialect.with_ending(Ending::Nul);
    }
    let cannot = |why: CannotHold| {
        PyValueError::new_err(match why {
            CannotHold::NotOne(_) => format!(
                "format={format:?} has one digest per file; choose it with algorithms=, or use tag, \
                 csv or jsonl"
            ),
            why => format!("format={format:?}: {why}"),
        })
    };
    let kinds = Kind::ALL.into_iter().filter(|kind| kind.is_written());
    let writer = options::format(format, kinds)?.writer(&layout).map_err(cannot)?;
    let mut text = Vec::new();
    writer.begin(&mut text);
    for (place, (path, size, modified, digests)) in rows.iter().enumerate() {
        if place > 0 {
            text.extend_from_slice(writer.separator());
        }
        let path = names::path(path)?;
        let mut record = Record::new(path.as_os_str().as_bytes());
        record.size = *size;
        record.times = Times { modified: modified.map(time), changed: None };
        for (algorithm, digest) in algorithms.iter().zip(digests) {
            let Some(bytes) = digest else { continue };
            let digest = Digest::new(*algorithm, bytes).ok_or_else(|| {
                let (name, length) = (path.display(), algorithm.digest_len());
                let words = format!("{name}: {algorithm} has {length} bytes, not {}", bytes.len());
                PyValueError::new_err(words)
            })?;
            record.digests.push(digest);
        }
        let written = writer.record(&mut text, &record);
        written.map_err(|why| PyValueError::new_err(format!("{}: {why}", path.display())))?;
    }
    writer.end(&mut text);
    Ok(text)
}

/// Returns the names of all formats, and whether lists can be written in them.
#[pyfunction]
pub(crate) fn formats() -> Vec<(&'static str, bool)> {
    Kind::ALL.map(|kind| (kind.name(), kind.is_written())).to_vec()
}
