//! The digest of each row of a column.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{
    AnyDictionaryArray, Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray, downcast_integer_array,
};
use arrow_buffer::{ArrowNativeType as _, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3_arrow::error::PyArrowError;

use crate::algorithm::{Digests, Function, Key, Places};
use crate::bytes;
use crate::column::Column;
use crate::input::{self, Chunks, HASHED};
use crate::output::{Output, Rendering};
use crate::panics::unless_it_panics;
use crate::rows::{Rows, is_bytes};
use crate::signals::LOOK;

/// The number of rows between checks for signals.
const ROWS: usize = 1 << 16;
/// About the number of bytes of these rows. There are always enough rows for all lanes.
const BYTES: usize = 64 << 20;
const LANES: usize = 64;
/// The number of rows of a dictionary. All its values may be hashed each time.
const DICTIONARY_ROWS: usize = 1 << 22;

/// Returns the digest of each row of a column, as an Arrow column.
///
/// `column` is an Arrow column of pyarrow, polars, pandas, DuckDB or arro3, a numpy array, or a
/// sequence of objects. Its rows are:
///
/// - text, which is hashed as UTF-8, or bytes, also in dictionaries;
/// - for SipHash also 64-bit integers, which are hashed as eight little-endian bytes.
///
/// Other types are refused, including extension types such as UUIDs that are stored as bytes or
/// integers. Cast them first. Nulls stay null. Only values in numpy arrays and Python objects are
/// copied. Other threads run meanwhile.
///
/// `output` is "binary" (of fixed size), "hex" or, for 64-bit algorithms, "uint64". The same
/// libraries can read the result: pyarrow.array(it), polars.Series(it), and in pandas
/// `frame["digest"] = it`, which assigns by position. Its to_pandas() has its own index.
///
/// >>> import lanesum
/// >>> lanesum.hash_column(["a", None, "abc"], output="hex").to_pylist()
/// ['0cc175b9c0f1b6a831c399e269772661', None, '900150983cd24fb0d6963f7d28e17f72']
/// >>> lanesum.hash_column(["a"], "siphash24", key=bytes(range(16)), output="uint64")
/// <lanesum.Column of 1 UInt64>
#[pyfunction]
#[pyo3(
    signature = (column, algorithm="md5", *, key=None, output="binary"),
    text_signature = "(column, algorithm='md5', *, key=None, output='binary')"
)]
pub(crate) fn hash_column(
    column: &Bound<'_, PyAny>,
    algorithm: &str,
    key: Key<'_, '_>,
    output: &str,
) -> PyResult<Column> {
    let function = Function::named(algorithm, key)?;
    let output = Output::named(output, "binary", &function)?;
    let chunks = input::column(column, "column", &HASHED)?;
    input::refuse_extension(&chunks.field(), "column", HASHED.types)?;
    hash(column.py(), &function, output, chunks)
}

/// Returns the digests of a column.
pub(crate) fn hash(
    py: Python<'_>,
    function: &Function,
    output: Output,
    mut chunks: Chunks,
) -> PyResult<Column> {
    check_type(function, chunks.field().data_type())?;
    let mut arrays = Vec::new();
    while let Some(chunk) = next(py, &mut chunks)? {
        for range in steps(0..chunk.len(), output.most_rows()) {
            let rows = chunk.slice(range.start, range.len());
            let rendering = Rendering::new(output, function, rows.len())?;
            let rendering = hash_into(py, function, &rows, rendering)?;
            arrays.push(py.detach(|| rendering.array(rows.logical_nulls()))?);
        }
        // Freeing the last reference may take a while.
        py.detach(|| drop(chunk));
    }
    let field = Field::new("", output.data_type(function), true);
    Ok(Column::new(arrays, Arc::new(field)))
}

/// Returns the next array of a column.
pub(crate) fn next(py: Python<'_>, chunks: &mut Chunks) -> PyResult<Option<ArrayRef>> {
    let chunk = py.detach(|| chunks.next().map(|chunk| chunk.map(|rows| (is_sound(&rows), rows))));
    let chunk = chunk.transpose().map_err(|error| match error {
        // A Python exception that went through Arrow.
        ArrowError::ExternalError(_) => PyArrowError::from(error).into(),
        error => PyRuntimeError::new_err(format!("cannot read the column: {error}")),
    })?;
    match chunk {
        Some((false, rows)) => Err(PyValueError::new_err(format!(
            "invalid array of {}: its offsets, views or indices are out of bounds",
            rows.data_type()
        ))),
        chunk => Ok(chunk.map(|(_, rows)| rows)),
    }
}

/// Returns whether all references of an array's rows are valid. Not all producers ensure that.
fn is_sound(array: &dyn Array) -> bool {
    if let Some(rows) = Rows::of(array) {
        return rows.are_sound();
    }
    match array.data_type() {
        DataType::Struct(_) => array.as_struct().columns().iter().all(|column| is_sound(column)),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let (keys, values) = (dictionary.keys(), dictionary.values());
            let are_within = downcast_integer_array!(
                keys => are_below(keys, values.len()),
                _ => false,
            );
            are_within && is_sound(values)
        }
        _ => true,
    }
}

/// Returns whether all keys are below `count`. Null rows may have any key.
fn are_below<T: ArrowPrimitiveType>(keys: &PrimitiveArray<T>, count: usize) -> bool {
    // A negative key is larger than any count.
    let mut beyond = keys.values().iter().enumerate().filter(|(_, key)| key.as_usize() >= count);
    beyond.all(|(row, _)| keys.is_null(row))
}

/// Returns the digest of each row. The digests of null rows are undefined.
fn hash_into(
    py: Python<'_>,
    function: &Function,
    array: &dyn Array,
    mut rendering: Rendering,
) -> PyResult<Rendering> {
    let is_dictionary = matches!(array.data_type(), DataType::Dictionary(..));
    let step = if is_dictionary { DICTIONARY_ROWS } else { rendering.step(ROWS) };
    let mean = Rows::of(array).map_or(0, |rows| rows.bytes() / rows.len().max(1));
    let step = step.min((BYTES / mean.max(1)).max(LANES));
    let mut ranges = steps(0..array.len(), step);
    loop {
        let is_at_end = py.detach(|| {
            let begin = Instant::now();
            for range in ranges.by_ref() {
                let rows = array.slice(range.start, range.len());
                let fill = |places: Places<'_>| hash_array(function, &rows, places);
                unless_it_changes(|| rendering.fill(range, fill))??;
                if begin.elapsed() >= LOOK {
                    return Ok::<_, PyErr>(false);
                }
            }
            Ok(true)
        })?;
        py.check_signals()?;
        if is_at_end {
            return Ok(rendering);
        }
    }
}

/// Returns the result of hashing rows in the memory of another library.
///
/// # Errors
/// `ValueError` if bounds no longer hold, because another thread wrote to the rows.
pub(crate) fn unless_it_changes<T>(hash: impl FnOnce() -> T) -> PyResult<T> {
    let words = "the rows changed while they were hashed; pass a copy of them";
    unless_it_panics(hash).ok_or_else(|| PyValueError::new_err(words))
}

/// Splits a range into steps of a maximum length.
pub(crate) fn steps(range: Range<usize>, step: usize) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(step).map(move |start| start..end.min(start.saturating_add(step)))
}

/// Returns the 64-bit hash of each row. The hashes of null rows are undefined.
pub(crate) fn numbers_of(
    py: Python<'_>,
    function: &Function,
    array: &dyn Array,
) -> PyResult<Vec<u64>> {
    let rendering = Rendering::new(Output::Uint64, function, array.len())?;
    match hash_into(py, function, array, rendering)? {
        Rendering::Digests(_, Digests::Narrow(numbers)) => Ok(numbers),
        _ => unreachable!("an algorithm of 64 bits"),
    }
}

fn hash_array(function: &Function, array: &dyn Array, places: Places<'_>) -> PyResult<()> {
    if let Some(rows) = Rows::of(array) {
        rows.hash(function, places);
        return Ok(());
    }
    match array.data_type() {
        DataType::UInt64 => {
            function.hash_numbers(array.as_primitive::<UInt64Type>().values(), places);
        }
        DataType::Int64 => {
            let numbers = array.as_primitive::<Int64Type>().values();
            // Both types have the same bytes.
            let numbers = ScalarBuffer::<u64>::from(numbers.inner().clone());
            function.hash_numbers(&numbers, places);
        }
        DataType::Dictionary(..) => hash_dictionary(function, array, places)?,
        // All rows are null.
        _ => {}
    }
    Ok(())
}

/// Hashes each value of a dictionary once, or each row, whichever is fewer. A few rows may come
/// with all values of a large table.
fn hash_dictionary(function: &Function, array: &dyn Array, places: Places<'_>) -> PyResult<()> {
    let dictionary = array.as_any_dictionary();
    let values = dictionary.values();
    if values.is_empty() {
        return Ok(());
    }
    let keys = places_of(dictionary)?;
    match Rows::of(values) {
        Some(rows) if rows.len() > keys.len() => {
            rows.hash_some(function, keys.into_iter(), places);
        }
        _ => {
            let mut digests = Digests::new(function, values.len())?;
            hash_array(function, values, digests.places(0..values.len()))?;
            places.take(&digests, keys.into_iter());
        }
    }
    Ok(())
}

/// Returns the index of each row's value in a dictionary that is not empty. The indices of null
/// rows are valid but undefined. Each key is read only once and limited to the dictionary, because
/// other threads may write to the keys.
///
/// # Errors
/// `MemoryError` if there is not enough memory.
pub(crate) fn places_of(dictionary: &dyn AnyDictionaryArray) -> PyResult<Vec<usize>> {
    let (keys, last) = (dictionary.keys(), dictionary.values().len() - 1);
    let mut places = bytes::room(keys.len())?;
    downcast_integer_array!(
        keys => places.extend(keys.values().iter().map(|key| key.as_usize().min(last))),
        _ => unreachable!("keys are integers"),
    );
    Ok(places)
}

/// # Errors
/// `TypeError` for a column of a type that cannot be hashed.
fn check_type(function: &Function, data_type: &DataType) -> PyResult<()> {
    let is_md5 = matches!(function, Function::Md5);
    let can_be = |data_type: &DataType| {
        let is_number = matches!(data_type, DataType::Int64 | DataType::UInt64);
        is_bytes(data_type) || *data_type == DataType::Null || is_number && !is_md5
    };
    let is_fine = match data_type {
        DataType::Dictionary(_, values) => can_be(values),
        other => can_be(other),
    };
    if is_fine {
        return Ok(());
    }
    let kinds = if is_md5 { "text and bytes" } else { "text, bytes and 64-bit integers" };
    let algorithm = function.algorithm();
    let to = match data_type {
        integer if integer.is_signed_integer() && !is_md5 => "int64",
        integer if integer.is_integer() && !is_md5 => "uint64",
        _ => "one of them",
    };
    Err(PyTypeError::new_err(format!(
        "{algorithm} hashes {kinds}, not {data_type}; cast the column to {to} first"
    )))
}
