//! Builds tables of files, with a row for each file.

use std::sync::Arc;

use arrow_array::builder::{
    FixedSizeBinaryBuilder, Int64Builder, StringBuilder, TimestampNanosecondBuilder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use lanesum_checksum::engine::Hashed;
use lanesum_list::{Algorithm, Digest, Etag, Time};
use pyo3::prelude::*;

use super::batches::{Batches, ROWS, internal};
use super::names::NamesBuilder;
use crate::bytes;

/// A row of a table.
#[derive(Default)]
pub(crate) struct Row<'a> {
    pub(crate) path: &'a [u8],
    pub(crate) size: Option<u64>,
    pub(crate) modified: Option<i64>,
    pub(crate) digests: &'a [Digest],
    pub(crate) error: Option<&'a str>,
    pub(crate) etag: Option<Etag>,
    /// The inode's change time in nanoseconds.
    pub(crate) changed: Option<i64>,
    pub(crate) inode: Option<u64>,
}

impl<'a> Row<'a> {
    pub(crate) fn hashed(path: &'a [u8], hashed: &'a Hashed) -> Self {
        Self {
            path,
            size: Some(hashed.bytes),
            modified: hashed.times.modified.and_then(nanoseconds),
            digests: &hashed.digests,
            changed: hashed.times.changed.and_then(nanoseconds),
            inode: hashed.inode.map(|inode| inode.number),
            ..Self::default()
        }
    }

    pub(crate) fn failed(path: &'a [u8], error: &'a str) -> Self {
        Self { path, error: Some(error), ..Self::default() }
    }
}

/// Returns the nanoseconds since 1970, if they fit into 64 bits: from 1677 to 2262.
pub(crate) fn nanoseconds(time: Time) -> Option<i64> {
    // In the first second of this range, the product of whole seconds would overflow.
    let nanoseconds = i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanoseconds);
    i64::try_from(nanoseconds).ok()
}

/// Returns the time that is this many nanoseconds after 1970.
pub(crate) fn time(nanoseconds: i64) -> Time {
    let rest = nanoseconds.rem_euclid(1_000_000_000);
    Time { seconds: nanoseconds.div_euclid(1_000_000_000), nanoseconds: rest as u32 }
}

/// The Arrow type of times.
pub(crate) fn timestamp() -> DataType {
    DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()))
}

/// About the maximum number of bytes per row that builders need while they grow.
const OF_A_ROW: usize = 1024;

/// The optional columns. Path, size, modified, the digests and the bytes of the path always exist.
#[derive(Clone, Copy, Default)]
pub(crate) struct Columns {
    /// The reason why there are no digests.
    pub(crate) error: bool,
    pub(crate) etag: bool,
    /// The columns that show whether a file has changed.
    pub(crate) version: bool,
}

/// Builds a table, batch by batch.
pub(crate) struct RowsBuilder {
    schema: SchemaRef,
    columns: Columns,
    algorithms: Vec<Algorithm>,
    names: NamesBuilder,
    size: Int64Builder,
    modified: TimestampNanosecondBuilder,
    digests: Vec<FixedSizeBinaryBuilder>,
    etag: StringBuilder,
    error: StringBuilder,
    changed: TimestampNanosecondBuilder,
    inode: UInt64Builder,
    rows: usize,
    full: Vec<RecordBatch>,
}

impl RowsBuilder {
    /// Creates a builder with a column for each algorithm, in order.
    pub(crate) fn new(algorithms: &[Algorithm], columns: Columns) -> Self {
        let times = || TimestampNanosecondBuilder::new().with_data_type(timestamp());
        Self {
            schema: schema(algorithms, columns),
            columns,
            algorithms: algorithms.to_vec(),
            names: NamesBuilder::default(),
            size: Int64Builder::new(),
            modified: times(),
            digests: digest_builders(algorithms),
            etag: StringBuilder::new(),
            error: StringBuilder::new(),
            changed: times(),
            inode: UInt64Builder::new(),
            rows: 0,
            full: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, row: &Row<'_>) -> PyResult<()> {
        // The builders double their memory, and end the process if they cannot.
        if self.rows.is_power_of_two() {
            bytes::require(self.rows * OF_A_ROW)?;
        }
        self.names.push(Some(row.path));
        self.size.append_option(row.size.and_then(|size| i64::try_from(size).ok()));
        self.modified.append_option(row.modified);
        for (algorithm, column) in self.algorithms.iter().zip(&mut self.digests) {
            match row.digests.iter().find(|digest| digest.algorithm() == *algorithm) {
                Some(digest) => column.append_value(digest.as_bytes()).map_err(internal)?,
                None => column.append_null(),
            }
        }
        self.etag.append_option(row.etag.map(|etag| etag.to_string()));
        self.error.append_option(row.error);
        self.changed.append_option(row.changed);
        self.inode.append_option(row.inode);
        self.rows += 1;
        if self.rows == ROWS { self.end_batch() } else { Ok(()) }
    }

    fn end_batch(&mut self) -> PyResult<()> {
        self.rows = 0;
        let [path, path_bytes] = self.names.finish();
        let etag: ArrayRef = Arc::new(self.etag.finish());
        let error: ArrayRef = Arc::new(self.error.finish());
        let changed: ArrayRef = Arc::new(self.changed.finish());
        let inode: ArrayRef = Arc::new(self.inode.finish());
        let mut arrays = vec![path, Arc::new(self.size.finish()), Arc::new(self.modified.finish())];
        arrays.extend(self.digests.iter_mut().map(|it| Arc::new(it.finish()) as ArrayRef));
        let Columns { error: has_error, etag: has_etag, version } = self.columns;
        arrays.extend(has_etag.then_some(etag));
        arrays.extend(has_error.then_some(error));
        arrays.push(path_bytes);
        if version {
            arrays.extend([changed, inode]);
        }
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(internal)?;
        self.full.push(batch);
        Ok(())
    }

    pub(crate) fn finish(mut self) -> PyResult<Batches> {
        // A table without rows has one batch, which shows its columns.
        if self.rows > 0 || self.full.is_empty() {
            self.end_batch()?;
        }
        Ok(Batches { schema: self.schema, batches: self.full })
    }
}

fn digest_builders(algorithms: &[Algorithm]) -> Vec<FixedSizeBinaryBuilder> {
    algorithms.iter().map(|it| FixedSizeBinaryBuilder::new(width(*it))).collect()
}

fn width(algorithm: Algorithm) -> i32 {
    i32::try_from(algorithm.digest_len()).expect("64 at most")
}

fn schema(algorithms: &[Algorithm], columns: Columns) -> SchemaRef {
    let field = |name: &str, of: DataType| Field::new(name, of, true);
    let mut fields = vec![
        field("path", DataType::Utf8),
        field("size", DataType::Int64),
        field("modified", timestamp()),
    ];
    let digest = |it: &Algorithm| field(it.name(), DataType::FixedSizeBinary(width(*it)));
    fields.extend(algorithms.iter().map(digest));
    fields.extend(columns.etag.then(|| field("etag", DataType::Utf8)));
    fields.extend(columns.error.then(|| field("error", DataType::Utf8)));
    fields.push(field("path_bytes", DataType::Binary));
    if columns.version {
        fields.extend([field("changed", timestamp()), field("inode", DataType::UInt64)]);
    }
    Arc::new(Schema::new(fields))
}
