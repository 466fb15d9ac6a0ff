//! Arrow record batches, which hold the package's tables.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int64Type, TimestampNanosecondType, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_buffer::Buffer;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::writer::FileWriter;
use arrow_ipc::{Block, root_as_footer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use arrow_select::interleave::interleave_record_batch;
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList};
use pyo3_arrow::ffi::{ArrayIterator, to_schema_pycapsule, to_stream_pycapsule};

use crate::bytes::{require, room, zeros};
use crate::hex;
use crate::objects;
use crate::output::texts;
use crate::panics::unless_it_panics;
use crate::requested::{laid_out, that_fits};

/// The maximum number of rows of a batch, so that its memory stays moderate.
pub(crate) const ROWS: usize = 1 << 16;

/// About the number of bytes in a file beside the rows, for each batch and for the file.
const FRAME: usize = 4096;

/// Batches with the same schema.
#[pyclass(frozen, module = "lanesum._lanesum")]
pub(crate) struct Batches {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Vec<RecordBatch>,
}

impl Batches {
    /// Creates a table of one batch.
    pub(crate) fn one(batch: RecordBatch) -> Self {
        Self { schema: batch.schema(), batches: vec![batch] }
    }

    fn len(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn place(&self, name: &str) -> PyResult<usize> {
        self.schema.index_of(name).map_err(|_| {
            let known: Vec<_> = self.schema.fields().iter().map(|it| it.name().as_str()).collect();
            PyKeyError::new_err(format!("no column {name:?}; the columns are {}", known.join(", ")))
        })
    }
}

/// Returns the hexadecimal digits of a column of digests. Returns other columns unchanged.
fn in_hex(column: &ArrayRef) -> PyResult<ArrayRef> {
    let DataType::FixedSizeBinary(width) = column.data_type() else {
        return Ok(Arc::clone(column));
    };
    let digests = column.as_fixed_size_binary().value_data();
    let mut digits = zeros(digests.len().saturating_mul(2))?;
    hex::encode(digests, &mut digits);
    Ok(Arc::new(texts(digits, 2 * *width as usize, column.nulls().cloned())?))
}

#[pymethods]
impl Batches {
    fn __len__(&self) -> usize {
        self.len()
    }

    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The metadata of the schema.
    #[getter]
    fn metadata(&self) -> std::collections::HashMap<String, String> {
        self.schema.metadata().clone()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        Ok(to_schema_pycapsule(py, self.schema.as_ref())?)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let field = Field::new_struct("", self.schema.fields().clone(), false)
            .with_metadata(self.schema.metadata().clone());
        let field = that_fits(requested_schema, Arc::new(field))?;
        let wanted = field.data_type().clone();
        let batches = self.batches.clone().into_iter();
        let arrays = batches
            .map(move |batch| laid_out(&(Arc::new(StructArray::from(batch)) as ArrayRef), &wanted));
        Ok(to_stream_pycapsule(py, Box::new(ArrayIterator::new(arrays, field)), None)?)
    }

    /// Returns a column as a list of str, bytes, int or None. Times are nanoseconds since 1970.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let place = self.place(name)?;
        let values = PyList::empty(py);
        for batch in &self.batches {
            append(py, &values, batch.column(place))?;
        }
        Ok(values)
    }

    /// Returns the columns with these names, in this order.
    fn select(&self, names: Vec<String>) -> PyResult<Self> {
        let places = names.iter().map(|name| self.place(name)).collect::<PyResult<Vec<_>>>()?;
        let project = |batch: &RecordBatch| batch.project(&places);
        let batches = self.batches.iter().map(project).collect::<Result<_, _>>();
        let schema = self.schema.project(&places).map_err(internal)?;
        Ok(Self { schema: Arc::new(schema), batches: batches.map_err(internal)? })
    }

    /// Returns the same rows with hexadecimal digits in place of digests.
    fn to_hex(&self, py: Python<'_>) -> PyResult<Self> {
        let fields = self.schema.fields().iter().map(|field| match field.data_type() {
            DataType::FixedSizeBinary(_) => {
                Arc::new(Field::clone(field).with_data_type(DataType::Utf8))
            }
            _ => Arc::clone(field),
        });
        let fields = fields.collect::<Vec<_>>();
        let schema = Arc::new(Schema::new_with_metadata(fields, self.schema.metadata().clone()));
        let convert = |batch: &RecordBatch| {
            let columns = batch.columns().iter().map(in_hex).collect::<PyResult<_>>()?;
            RecordBatch::try_new(Arc::clone(&schema), columns).map_err(internal)
        };
        let batches = py.detach(|| self.batches.iter().map(convert).collect::<PyResult<_>>())?;
        Ok(Self { schema, batches })
    }

    /// Joins the rows of tables with the same columns, in order.
    #[staticmethod]
    fn concat(all: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        let Some(first) = all.first() else {
            return Err(PyValueError::new_err("no tables to join"));
        };
        if let Some(other) = all.iter().find(|it| it.schema.fields() != first.schema.fields()) {
            let words = format!(
                "the tables have different columns: {:?}, {:?}",
                first.names(),
                other.names()
            );
            return Err(PyValueError::new_err(words));
        }
        let schema = Arc::clone(&first.schema);
        let batches = all.iter().flat_map(|it| &it.batches);
        // The metadata may differ, and each batch has its own.
        let batches = batches.map(|batch| batch.clone().with_schema(Arc::clone(&schema)));
        Ok(Self {
            schema: Arc::clone(&schema),
            batches: batches.collect::<Result<_, _>>().map_err(internal)?,
        })
    }

    /// Returns the rows with these indices, in this order.
    fn take(&self, py: Python<'_>, rows: Vec<usize>) -> PyResult<Self> {
        let length = self.len();
        if let Some(row) = rows.iter().find(|&&row| row >= length) {
            let words = format!("row {row} does not exist: the table has {length} rows");
            return Err(pyo3::exceptions::PyIndexError::new_err(words));
        }
        let batches: Vec<_> = self.batches.iter().collect();
        let mut ends: Vec<usize> = batches.iter().map(|batch| batch.num_rows()).collect();
        ends.iter_mut().fold(0, |begin, end| {
            *end += begin;
            *end
        });
        let place = |row: usize| {
            let batch = ends.partition_point(|&end| end <= row);
            (batch, if batch == 0 { row } else { row - ends[batch - 1] })
        };
        let taken = py.detach(|| {
            let pieces = rows.chunks(ROWS).map(|rows| {
                let places: Vec<_> = rows.iter().map(|&row| place(row)).collect();
                interleave_record_batch(&batches, &places)
            });
            pieces.collect::<Result<Vec<_>, _>>()
        });
        Ok(Self { schema: Arc::clone(&self.schema), batches: taken.map_err(internal)? })
    }

    /// Returns the same rows with this schema metadata.
    fn with_metadata(&self, metadata: std::collections::HashMap<String, String>) -> PyResult<Self> {
        let schema = Schema::new_with_metadata(self.schema.fields().clone(), metadata);
        let schema = Arc::new(schema);
        let with = |batch: &RecordBatch| batch.clone().with_schema(Arc::clone(&schema));
        let batches = self.batches.iter().map(with).collect::<Result<_, _>>().map_err(internal)?;
        Ok(Self { schema, batches })
    }

    /// Returns the table as a file in the Arrow IPC format.
    pub(crate) fn to_ipc<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let sizes = || self.batches.iter().map(RecordBatch::get_array_memory_size);
        // Arrow builds each batch in memory before it writes it, beside the file.
        let file = room(sizes().sum::<usize>() + FRAME * (self.batches.len() + 1))?;
        require(sizes().max().unwrap_or(0))?;
        let write = || -> Result<Vec<u8>, ArrowError> {
            let mut writer = FileWriter::try_new(file, &self.schema)?;
            self.batches.iter().try_for_each(|batch| writer.write(batch))?;
            writer.into_inner()
        };
        objects::bytes(py, &py.detach(write).map_err(internal)?)
    }

    /// Reads the result of `to_ipc`.
    #[staticmethod]
    pub(crate) fn from_ipc(content: &[u8]) -> PyResult<Self> {
        require(content.len())?;
        // Arrow panics for some invalid contents.
        match unless_it_panics(|| read_ipc(content)) {
            Some(Ok((schema, batches))) => Ok(Self { schema, batches }),
            Some(Err(error)) => {
                Err(PyValueError::new_err(format!("not a table in the Arrow IPC format: {error}")))
            }
            None => Err(PyValueError::new_err(
                "not a table in the Arrow IPC format: its parts are inconsistent",
            )),
        }
    }
}

/// Reads the schema and batches of a file in the Arrow IPC format, without dictionaries.
///
/// Arrow's own reader allocates as much as the file says. If there is not that much memory, it ends
/// the process.
fn read_ipc(content: &[u8]) -> Result<(SchemaRef, Vec<RecordBatch>), ArrowError> {
    let broken = |what: &str| ArrowError::ParseError(what.to_owned());
    let (rest, end) = content.split_last_chunk().ok_or_else(|| broken("too short"))?;
    let start = rest.len().checked_sub(read_footer_length(*end)?);
    let footer = &rest[start.ok_or_else(|| broken("the footer is longer than the file"))?..];
    let footer = root_as_footer(footer).map_err(|error| broken(&error.to_string()))?;
    let schema = footer.schema().ok_or_else(|| broken("no schema"))?;
    let schema = Arc::new(fb_to_schema(schema));
    let decoder = FileDecoder::new(Arc::clone(&schema), footer.version());
    let content = Buffer::from(rest);
    let batch = |block: &Block| {
        let place = || {
            let start = usize::try_from(block.offset()).ok()?;
            let metadata = usize::try_from(block.metaDataLength()).ok()?;
            let length = usize::try_from(block.bodyLength()).ok()?.checked_add(metadata)?;
            let is_there = start.checked_add(length)? <= content.len();
            is_there.then(|| content.slice_with_length(start, length))
        };
        let content = place().ok_or_else(|| broken("a block ends after the file"))?;
        decoder.read_record_batch(block, &content)
    };
    let blocks = footer.recordBatches().ok_or_else(|| broken("no blocks"))?;
    let batches = blocks.iter().filter_map(|block| batch(block).transpose());
    Ok((schema, batches.collect::<Result<_, _>>()?))
}

/// An error of Arrow that no input should cause.
pub(crate) fn internal(error: ArrowError) -> PyErr {
    pyo3::exceptions::PyRuntimeError::new_err(error.to_string())
}

fn append(py: Python<'_>, values: &Bound<'_, PyList>, array: &ArrayRef) -> PyResult<()> {
    match array.data_type() {
        DataType::Utf8 => {
            append_each(values, array.as_string::<i32>().iter(), |it| objects::text(py, it))
        }
        DataType::Binary => {
            append_each(values, array.as_binary::<i32>().iter(), |it| objects::bytes(py, it))
        }
        DataType::FixedSizeBinary(_) => {
            append_each(values, array.as_fixed_size_binary().iter(), |it| objects::bytes(py, it))
        }
        DataType::Int64 => {
            let numbers = array.as_primitive::<Int64Type>().iter();
            append_each(values, numbers, |it| objects::int(py, it))
        }
        DataType::UInt64 => {
            let numbers = array.as_primitive::<UInt64Type>().iter();
            append_each(values, numbers, |it| objects::int(py, it))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            let times = array.as_primitive::<TimestampNanosecondType>().iter();
            append_each(values, times, |it| objects::int(py, it))
        }
        other => Err(PyTypeError::new_err(format!("cannot convert a column of {other} to a list"))),
    }
}

fn append_each<'py, T, O: pyo3::PyTypeInfo>(
    values: &Bound<'py, PyList>,
    mut rows: impl Iterator<Item = Option<T>>,
    object: impl Fn(T) -> PyResult<Bound<'py, O>>,
) -> PyResult<()> {
    rows.try_for_each(|row| values.append(row.map(&object).transpose()?))
}
