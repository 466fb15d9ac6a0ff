//! Finds results of earlier runs whose files are unchanged.
//!
//! A file counts as unchanged if its size, both times and inode are those of the row. The kernel
//! updates the change time (`ctime`) at every write, and programs cannot set it back. But the
//! kernel's clock has ticks, and two writes within one tick have the same time. So a file that
//! changed less than three seconds before it was hashed, or later, is not stored. Device numbers
//! are not compared, because a shared file system has a different number on each machine.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int64Type, TimestampNanosecondType, UInt64Type};
use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_select::filter::filter_record_batch;
use lanesum_list::{Algorithm, Digest, Time};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::batches::{Batches, internal};
use super::names;
use super::options;
use super::rows::{Columns, Row, RowsBuilder, nanoseconds};

/// No file system has a coarser clock than this, in nanoseconds.
const SETTLED: i64 = 3_000_000_000;

/// Returns the current time in nanoseconds since 1970.
#[pyfunction]
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// Returns the rows that later runs may reuse: those with digests whose files were unchanged for a
/// while when hashing began.
#[pyfunction]
pub(crate) fn settled_rows(rows: PyRef<'_, Batches>, begun: i64) -> PyResult<Batches> {
    let before = begun.saturating_sub(SETTLED);
    let settled = |batch: &RecordBatch| {
        let file = Version::of(batch).map_err(PyValueError::new_err)?;
        let is_settled = |row: usize| {
            // Files that the kernel generates when they are read have the size 0, and their times
            // do not show changes.
            file.at(row).is_some_and(|(size, modified, changed, _)| {
                size > 0 && modified.max(changed) < before
            })
        };
        let errors = batch.column_by_name("error");
        let is_hashed = |row: usize| errors.is_none_or(|errors| errors.is_null(row));
        let kept = (0..batch.num_rows()).map(|row| Some(is_hashed(row) && is_settled(row)));
        filter_record_batch(batch, &BooleanArray::from_iter(kept)).map_err(internal)
    };
    let batches = rows.batches.iter().map(settled).collect::<PyResult<_>>()?;
    Ok(Batches { schema: rows.schema.clone(), batches })
}

/// Returns the rows of the paths whose files are unchanged, and the indices of these paths.
#[pyfunction]
pub(crate) fn known_rows(
    py: Python<'_>,
    paths: &Bound<'_, PyAny>,
    shards: Vec<PyRef<'_, Batches>>,
    algorithms: Vec<String>,
) -> PyResult<(Batches, Vec<usize>)> {
    let paths = names::paths(paths)?;
    let algorithms =
        algorithms.iter().map(|name| options::algorithm(name)).collect::<PyResult<Vec<_>>>()?;
    let batches: Vec<RecordBatch> = shards.iter().flat_map(|it| it.batches.clone()).collect();
    drop(shards);
    py.detach(|| {
        let known: Vec<_> =
            batches.iter().filter_map(|batch| Known::of(batch, &algorithms)).collect();
        let mut places = HashMap::new();
        for (shard, known) in known.iter().enumerate() {
            // The last row of a path is the newest.
            places.extend((0..known.rows).map(|row| (known.path(row), (shard, row))));
        }
        let columns = Columns { error: true, version: true, etag: false };
        let (mut rows, mut found) = (RowsBuilder::new(&algorithms, columns), Vec::new());
        for (place, path) in paths.iter().enumerate() {
            let name = path.as_os_str().as_bytes();
            let Some(&(shard, row)) = places.get(name) else { continue };
            let known = &known[shard];
            let Some(version) = known.version.at(row).filter(|it| Some(*it) == look(path)) else {
                continue;
            };
            let Some(digests) = known.digests(row) else { continue };
            let (size, modified, changed, inode) = version;
            rows.push(&Row {
                path: name,
                size: Some(size),
                modified: Some(modified),
                digests: &digests,
                changed: Some(changed),
                inode: Some(inode),
                ..Row::default()
            })?;
            found.push(place);
        }
        Ok((rows.finish()?, found))
    })
}

/// Size, both times in nanoseconds, and inode of a file.
type Seen = (u64, i64, i64, u64);

/// Returns the current state of a file, or None if it is not a regular file.
fn look(path: &Path) -> Option<Seen> {
    let file = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let time = |seconds: i64, nanos: i64| {
        nanoseconds(Time { seconds, nanoseconds: u32::try_from(nanos).ok()? })
    };
    let modified = time(file.mtime(), file.mtime_nsec())?;
    Some((file.len(), modified, time(file.ctime(), file.ctime_nsec())?, file.ino()))
}

/// The columns that show whether a file has changed.
struct Version<'a> {
    size: &'a arrow_array::Int64Array,
    modified: &'a arrow_array::TimestampNanosecondArray,
    changed: &'a arrow_array::TimestampNanosecondArray,
    inode: &'a arrow_array::UInt64Array,
}

impl<'a> Version<'a> {
    fn of(batch: &'a RecordBatch) -> Result<Self, String> {
        let column =
            |name: &str| batch.column_by_name(name).ok_or_else(|| format!("no column {name:?}"));
        let of_type = |name: &str| format!("the column {name:?} has an unexpected type");
        let number =
            |name: &str| column(name)?.as_primitive_opt::<Int64Type>().ok_or_else(|| of_type(name));
        let time = |name: &str| {
            column(name)?.as_primitive_opt::<TimestampNanosecondType>().ok_or_else(|| of_type(name))
        };
        let inode = column("inode")?.as_primitive_opt::<UInt64Type>();
        Ok(Self {
            size: number("size")?,
            modified: time("modified")?,
            changed: time("changed")?,
            inode: inode.ok_or_else(|| of_type("inode"))?,
        })
    }

    /// Returns None if a value is null.
    fn at(&self, row: usize) -> Option<Seen> {
        let Self { size, modified, changed, inode } = self;
        let are_known = size.is_valid(row)
            && modified.is_valid(row)
            && changed.is_valid(row)
            && inode.is_valid(row);
        let size = u64::try_from(size.value(row)).ok().filter(|_| are_known)?;
        Some((size, modified.value(row), changed.value(row), inode.value(row)))
    }
}

/// A batch of a shard.
struct Known<'a> {
    rows: usize,
    text: &'a arrow_array::StringArray,
    bytes: &'a arrow_array::BinaryArray,
    version: Version<'a>,
    digests: Vec<(Algorithm, &'a arrow_array::FixedSizeBinaryArray)>,
}

impl<'a> Known<'a> {
    /// Returns None for a batch without digests of all algorithms.
    fn of(batch: &'a RecordBatch, algorithms: &[Algorithm]) -> Option<Self> {
        let digests = algorithms.iter().map(|algorithm| {
            let column = batch.column_by_name(algorithm.name())?.as_fixed_size_binary_opt()?;
            Some((*algorithm, column))
        });
        Some(Self {
            rows: batch.num_rows(),
            text: batch.column_by_name("path")?.as_string_opt()?,
            bytes: batch.column_by_name("path_bytes")?.as_binary_opt()?,
            version: Version::of(batch).ok()?,
            digests: digests.collect::<Option<_>>()?,
        })
    }

    fn path(&self, row: usize) -> &'a [u8] {
        if self.text.is_valid(row) {
            OsStr::new(self.text.value(row)).as_bytes()
        } else {
            self.bytes.value(row)
        }
    }

    fn digests(&self, row: usize) -> Option<Vec<Digest>> {
        let digests = self.digests.iter().map(|(algorithm, column)| {
            column.is_valid(row).then(|| Digest::new(*algorithm, column.value(row))).flatten()
        });
        digests.collect()
    }
}
