//! The digest of each row of a column.

use std::ops::Range;
use std::sync::Arc;

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

use crate::algorithm::{Function, Key};
use crate::bytes;
use crate::column::Column;
use crate::digests::{Digests, Places};
use crate::input::{self, Chunks, HASHED};
use crate::output::{Output, Rendering};
use crate::returned::Returned;
use crate::rows::{Rows, is_bytes};
use crate::threads::{self, Threads};

/// The number of rows that a thread hashes at a time. Their digests stay in the L2 cache.
const ROWS: usize = 1 << 14;
/// About the number of bytes of these rows. There are always enough rows for all lanes.
const BYTES: usize = 64 << 20;
const LANES: usize = 64;
/// The number of rows for each value of a dictionary, and the largest number of rows. All its
/// values may be hashed each time.
const ROWS_PER_VALUE: usize = 8;
const DICTIONARY_ROWS: usize = 1 << 22;

/// Returns the digest of each row of a column, as a column of the same library.
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
/// `algorithm` is a name in lanesum.algorithms_available. `key` is the secret of an algorithm with
/// a key: 16 bytes for SipHash, 32 for BLAKE3, and any number except 0 for HMAC.
///
/// `output` is "binary" (of fixed size), "hex" (lower-case hexadecimal digits) or, for algorithms
/// of at most 64 bits, "uint64".
///
/// `threads` is the number of threads from 1 to 1024, or None for one per CPU.
///
/// `returns` is "same" or "arrow". With "same" the result has the type of `column`:
///
/// - for pandas a Series with the same index and name, and with an Arrow type;
/// - for polars a Series with the same name;
/// - for pyarrow an Array or a ChunkedArray;
/// - for everything else a lanesum.Column.
///
/// With "arrow" it is always a lanesum.Column, which all these libraries can read.
///
/// Raises TypeError for a column of another type and for a missing or useless key, and ValueError
/// for an unknown name and for a key of the wrong length.
///
/// >>> import lanesum
/// >>> lanesum.hash_column(["a", None, "abc"], output="hex").to_pylist()
/// ['0cc175b9c0f1b6a831c399e269772661', None, '900150983cd24fb0d6963f7d28e17f72']
/// >>> lanesum.hash_column(["a"], "siphash24", key=bytes(range(16)), output="uint64")
/// <lanesum.Column of 1 UInt64>
#[pyfunction]
#[pyo3(
    signature = (
        column, algorithm="md5", *, key=None, output="binary", threads=Threads(1), returns="same"
    ),
    text_signature = "(column, algorithm='md5', *, key=None, output='binary', threads=1, returns='same')"
)]
pub(crate) fn hash_column<'py>(
    column: &Bound<'py, PyAny>,
    algorithm: &str,
    key: Key<'_, '_>,
    output: &str,
    threads: Threads,
    returns: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let function = Function::named(algorithm, key)?;
    let output = Output::named(output, function.algorithm)?;
    let returned = Returned::named(returns, column)?;
    let chunks = input::column(column, "column", &HASHED)?;
    input::refuse_extension(&chunks.field(), "column", HASHED.types)?;
    let digests = hash(column.py(), &function, output, threads, chunks)?;
    returned.convert(column.py(), digests)
}

/// Returns the digests of a column.
fn hash(
    py: Python<'_>,
    function: &Function,
    output: Output,
    Threads(threads): Threads,
    mut chunks: Chunks,
) -> PyResult<Column> {
    check_type(function, chunks.field().data_type())?;
    let most = output.most_rows(function.algorithm);
    let mut arrays = Vec::new();
    loop {
        let group = next_group(py, &mut chunks, threads)?;
        if group.is_empty() {
            let field = Field::new("", output.data_type(function.algorithm), true);
            return Ok(Column::new(arrays, Arc::new(field)));
        }
        let pieces = |chunk: &ArrayRef| {
            let chunk = Arc::clone(chunk);
            steps(0..chunk.len(), most).map(move |rows| chunk.slice(rows.start, rows.len()))
        };
        let pieces: Vec<ArrayRef> = group.iter().flat_map(pieces).collect();
        let renderings = hash_all(py, function, output, threads, &pieces)?;
        py.detach(|| {
            for (rendering, rows) in renderings.into_iter().zip(&pieces) {
                arrays.push(rendering.array(rows.logical_nulls())?);
            }
            // Freeing the last reference may take a while.
            drop((group, pieces));
            Ok::<_, PyErr>(())
        })?;
    }
}

/// Returns the next arrays of a column: enough rows for all threads, or all that are left.
fn next_group(py: Python<'_>, chunks: &mut Chunks, threads: usize) -> PyResult<Vec<ArrayRef>> {
    let (mut group, mut rows, mut bytes) = (Vec::new(), 0, 0);
    while rows < threads.saturating_mul(ROWS) && bytes < threads.saturating_mul(BYTES) {
        let Some(chunk) = next(py, chunks)? else { break };
        rows += chunk.len();
        bytes += bytes_of(&chunk);
        group.push(chunk);
    }
    Ok(group)
}

/// Returns about the number of bytes of an array of text or bytes.
fn bytes_of(array: &dyn Array) -> usize {
    Rows::of(array).map_or(0, |rows| rows.bytes())
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

/// Returns the digests of the rows of each array. The digests of null rows are undefined.
fn hash_all(
    py: Python<'_>,
    function: &Function,
    output: Output,
    threads: usize,
    arrays: &[ArrayRef],
) -> PyResult<Vec<Rendering>> {
    let new = |array: &ArrayRef| Rendering::new(output, function.algorithm, array.len());
    let mut renderings: Vec<Rendering> = arrays.iter().map(new).collect::<PyResult<_>>()?;
    let mut parts = Vec::new();
    for (number, (rendering, array)) in renderings.iter_mut().zip(arrays).enumerate() {
        parts.extend(rendering.parts(step(array)).into_iter().map(|part| (number, part)));
    }
    threads::fill(py, threads, function.algorithm, parts, |number, rows, places| {
        hash_array(function, &arrays[number].slice(rows.start, rows.len()), places)
    })?;
    Ok(renderings)
}

/// Returns the number of rows of an array that are hashed at a time.
fn step(array: &dyn Array) -> usize {
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        let rows = dictionary.values().len().saturating_mul(ROWS_PER_VALUE);
        return rows.clamp(ROWS, DICTIONARY_ROWS);
    }
    let mean = bytes_of(array) / array.len().max(1);
    ROWS.min((BYTES / mean.max(1)).max(LANES))
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
    array: ArrayRef,
) -> PyResult<Vec<u64>> {
    let renderings = hash_all(py, function, Output::Uint64, 1, &[array])?;
    Ok(renderings.into_iter().flat_map(Rendering::numbers).collect())
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
            let mut digests = Digests::new(function.algorithm, values.len())?;
            hash_array(function, values, digests.places(0..values.len()))?;
            places.copy(&digests, keys.into_iter());
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
    let takes_numbers = function.algorithm.takes_numbers;
    let can_be = |data_type: &DataType| {
        let is_number = matches!(data_type, DataType::Int64 | DataType::UInt64);
        is_bytes(data_type) || *data_type == DataType::Null || is_number && takes_numbers
    };
    let is_fine = match data_type {
        DataType::Dictionary(_, values) => can_be(values),
        other => can_be(other),
    };
    if is_fine {
        return Ok(());
    }
    let kinds = if takes_numbers { "text, bytes and 64-bit integers" } else { "text and bytes" };
    let algorithm = function.algorithm.name;
    let to = match data_type {
        integer if integer.is_signed_integer() && takes_numbers => "int64",
        integer if integer.is_integer() && takes_numbers => "uint64",
        _ => "one of them",
    };
    Err(PyTypeError::new_err(format!(
        "{algorithm} hashes {kinds}, not {data_type}; cast the column to {to} first"
    )))
}
