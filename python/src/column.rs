//! An Arrow column of results, which other libraries can read.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, RecordBatch, new_empty_array};
use arrow_schema::{DataType, FieldRef, Schema};
use arrow_select::concat::concat;
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyIterator, PyList, PyTuple};
use pyo3_arrow::error::{PyArrowError, PyArrowResult};
use pyo3_arrow::ffi::{
    ArrayIterator, to_array_pycapsules, to_schema_pycapsule, to_stream_pycapsule,
};

use crate::files::Batches;
use crate::objects;
use crate::requested::{laid_out, that_fits};
use crate::signals::Turns;

/// An Arrow column of results, which pyarrow, polars, pandas, DuckDB and arro3 can read.
///
/// It has the chunks of the input column, without empty ones.
#[pyclass(frozen, module = "lanesum")]
pub(crate) struct Column {
    chunks: Vec<ArrayRef>,
    field: FieldRef,
}

impl Column {
    pub(crate) const fn new(chunks: Vec<ArrayRef>, field: FieldRef) -> Self {
        Self { chunks, field }
    }

    fn len(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    /// Returns whether one array holds all rows as they are.
    pub(crate) const fn has_one_chunk(&self) -> bool {
        self.chunks.len() <= 1
    }
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.len()
    }

    fn __repr__(&self) -> String {
        format!("<lanesum.Column of {} {}>", self.len(), self.field.data_type())
    }

    /// The number of null rows.
    #[getter]
    fn null_count(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.null_count()).sum()
    }

    /// The number of chunks.
    #[getter]
    fn num_chunks(&self) -> usize {
        self.chunks.len()
    }

    /// Returns the rows as Python objects: bytes, str, int or None.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        let mut turns = Turns::new();
        for chunk in &self.chunks {
            for row in 0..chunk.len() {
                turns.turn(0)?;
                list.append(object(py, chunk, row)?)?;
            }
        }
        Ok(list)
    }

    /// Returns the row with an index. Negative indices count from the end.
    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        row: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let len = self.len();
        let beyond = || {
            PyIndexError::new_err(format!("row {row} does not exist: the column has {len} rows"))
        };
        let row = row.extract::<isize>().map_err(|error| {
            if error.is_instance_of::<PyOverflowError>(py) { beyond() } else { error }
        })?;
        let from_start = if row < 0 { row.checked_add_unsigned(len) } else { Some(row) };
        let mut at = from_start.and_then(|at| usize::try_from(at).ok()).filter(|at| *at < len);
        for chunk in &self.chunks {
            match at {
                Some(row) if row < chunk.len() => return object(py, chunk, row),
                _ => at = at.map(|row| row - chunk.len()),
            }
        }
        Err(beyond())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.to_pylist(py)?.try_iter()
    }

    /// Converts the column to a pyarrow ChunkedArray.
    fn to_pyarrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.call_method1("chunked_array", (slf,))
    }

    /// Converts the column to a polars Series.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("Series", (slf,))
    }

    /// Converts the column to a pandas Series with Arrow types, in which numbers stay exact next to
    /// nulls. The series has its own index from 0 on. In a frame with another index, for example a
    /// sorted or filtered one, pandas would match its rows by index. `frame["d"] = column` assigns
    /// by position instead.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let types = PyDict::new(slf.py());
        types.set_item("types_mapper", slf.py().import("pandas")?.getattr("ArrowDtype")?)?;
        Self::to_pyarrow(slf)?.call_method("to_pandas", (), Some(&types))
    }

    /// Pickles the column as a table with one column.
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let schema = Arc::new(Schema::new([Arc::clone(&self.field)]));
        let batch =
            |chunk: &ArrayRef| RecordBatch::try_new(Arc::clone(&schema), vec![Arc::clone(chunk)]);
        let batches = self.chunks.iter().map(batch).collect::<Result<_, _>>();
        let table = Batches { batches: batches.map_err(PyArrowError::from)?, schema };
        let again = py.import("lanesum.table")?.getattr("_unpickled_column")?;
        Ok((again, (table.to_ipc(py)?,)))
    }

    /// Returns the only column of the result of `Batches.to_ipc`.
    #[staticmethod]
    fn _from_ipc(content: &[u8]) -> PyResult<Self> {
        let Batches { schema, batches } = Batches::from_ipc(content)?;
        let [field] = &schema.fields()[..] else {
            return Err(PyValueError::new_err("a pickled column must be a table with one column"));
        };
        let chunks = batches.iter().map(|batch| Arc::clone(batch.column(0))).collect();
        Ok(Self::new(chunks, Arc::clone(field)))
    }

    /// Returns the rows as a numpy array, which pandas also accepts as a column. It has numbers if
    /// there are no nulls, and objects otherwise, because numpy has no null numbers.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            return Err(PyValueError::new_err(
                "a numpy array of this column is always a copy; leave copy=False out",
            ));
        }
        let is_number = *self.field.data_type() == DataType::UInt64 && self.null_count() == 0;
        let own = if is_number { "uint64" } else { "object" };
        let rows = self.to_pylist(py)?;
        let array = py.import("numpy")?.call_method1("array", (rows, own))?;
        match dtype {
            Some(dtype) => array.call_method1("astype", (dtype,)),
            None => Ok(array),
        }
    }

    /// Returns the Arrow schema; see the Arrow PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyArrowResult<Bound<'py, PyCapsule>> {
        to_schema_pycapsule(py, self.field.as_ref())
    }

    /// Returns all rows as one array. Several chunks are copied into one.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyArrowResult<Bound<'py, PyTuple>> {
        let array = match &self.chunks[..] {
            [] => new_empty_array(self.field.data_type()),
            [chunk] => chunk.clone(),
            chunks => {
                let chunks: Vec<&dyn Array> = chunks.iter().map(AsRef::as_ref).collect();
                py.detach(|| concat(&chunks)).map_err(|_| of_chunks())?
            }
        };
        let field = that_fits(requested_schema, Arc::clone(&self.field))?;
        let array = py.detach(|| laid_out(&array, field.data_type()))?;
        to_array_pycapsules(py, field, &array, None)
    }

    /// Returns the chunks as a stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyArrowResult<Bound<'py, PyCapsule>> {
        let field = that_fits(requested_schema, Arc::clone(&self.field))?;
        let wanted = field.data_type().clone();
        let chunks = self.chunks.clone().into_iter().map(move |chunk| laid_out(&chunk, &wanted));
        to_stream_pycapsule(py, Box::new(ArrayIterator::new(chunks, field)), None)
    }
}

/// Returns a row as a Python object.
fn object<'py>(py: Python<'py>, chunk: &ArrayRef, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if chunk.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    match chunk.data_type() {
        DataType::UInt64 => objects::int(py, chunk.as_primitive::<UInt64Type>().value(row)),
        DataType::FixedSizeBinary(_) => {
            Ok(objects::bytes(py, chunk.as_fixed_size_binary().value(row))?.into_any())
        }
        DataType::Utf8 => Ok(objects::text(py, chunk.as_string::<i32>().value(row))?.into_any()),
        other => {
            let problem = format!("cannot convert {other} to Python objects");
            Err(PyTypeError::new_err(problem))
        }
    }
}

/// An Arrow array has at most 2 GiB of text.
fn of_chunks() -> PyErr {
    PyOverflowError::new_err(
        "the column has more text than one array can hold; use to_pyarrow() or \
         pyarrow.chunked_array(column)",
    )
}
