//! Hashes many messages that are Python objects.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::algorithm::{Algorithm, Function, Key};
use crate::bytes::{require, room};
use crate::digests::Digests;
use crate::items::{self, MESSAGES};
use crate::objects;
use crate::output::Output;

/// The number of messages that are hashed at a time: enough to fill the lanes with any mix of
/// lengths. Their slices stay in the L2 cache.
const BATCH: usize = 1 << 15;

/// About the number of bytes of bookkeeping for each message.
const NOTES: usize = 64;

/// The number of bytes of messages that are hashed at a time, without the last message.
const BYTES: usize = 64 << 20;

/// Returns the digests of many messages, in their order: a list of bytes, of hexadecimal digits or
/// of numbers.
///
/// Messages are bytes, str (hashed as UTF-8) or any other buffer, in a list, a tuple or another
/// iterable. Tables, dicts, sets and single messages are refused. Messages of any lengths are
/// hashed in parallel, and other threads run meanwhile.
///
/// >>> import lanesum
/// >>> lanesum.hash_many(["a", b"abc"], output="hex")
/// ['0cc175b9c0f1b6a831c399e269772661', '900150983cd24fb0d6963f7d28e17f72']
/// >>> lanesum.hash_many([b"abc"], "siphash24", key=bytes(range(16)), output="uint64")
/// [6754548778392356773]
///
/// Columns of Arrow, pandas or polars go faster through lanesum.hash_column.
#[pyfunction]
#[pyo3(
    signature = (messages, algorithm="md5", *, key=None, output="binary"),
    text_signature = "(messages, algorithm='md5', *, key=None, output='binary')"
)]
pub(crate) fn hash_many<'py>(
    messages: &Bound<'py, PyAny>,
    algorithm: &str,
    key: Key<'_, '_>,
    output: &str,
) -> PyResult<Bound<'py, PyList>> {
    let py = messages.py();
    let function = Function::named(algorithm, key)?;
    let output = Output::named(output, function.algorithm)?;
    let tuple = items::hold(messages, "messages")?;
    let list = PyList::empty(py);
    let count = tuple.len();
    let mut start = 0;
    while start < count {
        let mut bytes = 0;
        let mut batch = room(BATCH.min(count - start))?;
        // Ctrl-C is checked after each batch.
        while batch.len() < BATCH.min(count - start) && bytes < BYTES {
            let item = items::item(&tuple, start + batch.len(), "messages", MESSAGES)?;
            bytes += item.bytes().map_or(0, <[u8]>::len);
            batch.push(item);
        }
        let mut slices: Vec<&[u8]> = room(batch.len())?;
        for (at, item) in batch.iter().enumerate() {
            slices.push(item.bytes().ok_or_else(|| missing(start + at))?);
        }
        let mut digests = Digests::new(function.algorithm, slices.len())?;
        require(slices.len() * NOTES)?;
        let places = digests.places(0..slices.len());
        py.detach(|| function.hash(slices.iter().copied(), places));
        append(&list, output, function.algorithm, &digests)?;
        py.check_signals()?;
        start += batch.len();
    }
    Ok(list)
}

fn missing(number: usize) -> PyErr {
    PyTypeError::new_err(format!(
        "messages[{number}] is a missing value; remove it, or use hash_column, which keeps nulls"
    ))
}

/// Appends the digests to a list, as Python objects.
fn append(
    list: &Bound<'_, PyList>,
    output: Output,
    algorithm: &Algorithm,
    digests: &Digests,
) -> PyResult<()> {
    let append = |digest: &[u8]| append_one(list, output, algorithm, digest);
    match digests {
        Digests::Numbers(numbers) => {
            numbers.iter().try_for_each(|number| append(&number.to_le_bytes()))
        }
        Digests::Bytes { bytes, len } => bytes.chunks_exact(*len).try_for_each(append),
    }
}

#[inline]
fn append_one(
    list: &Bound<'_, PyList>,
    output: Output,
    algorithm: &Algorithm,
    digest: &[u8],
) -> PyResult<()> {
    let py = list.py();
    match output {
        Output::Binary => list.append(objects::bytes(py, digest)?),
        Output::Uint64 => list.append(objects::int(py, algorithm.number(digest))?),
        Output::Hex => {
            let mut digits = [0; 2 * LONGEST];
            let digits = &mut digits[..2 * digest.len()];
            crate::hex::encode(digest, digits);
            list.append(PyString::from_bytes(py, digits)?)
        }
    }
}

/// The number of bytes in the longest digest.
const LONGEST: usize = 64;
