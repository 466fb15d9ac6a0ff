//! The hash of pandas: SipHash-2-4 and a finaliser that mixes its bits again.

use std::borrow::Cow;

use arrow_array::Array as _;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

use crate::algorithm::{Function, Key};
use crate::digests::Digests;
use crate::hash_column::{next, numbers_of};
use crate::input::{self, HASHED};
use crate::items::{self, Item, MESSAGES};

/// The number of objects that are hashed at a time.
const BATCH: usize = 1 << 15;

/// The hash of a missing value if pandas converts the values to categories first.
const MISSING: u64 = u64::MAX;

/// Writes the hashes of objects to a numpy array. Returns false and does nothing if pandas must
/// hash or refuse an object.
#[pyfunction]
pub(crate) fn _pandas_hash_objects(
    objects: &Bound<'_, PyAny>,
    key: Key<'_, '_>,
    may_miss: bool,
    out: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    let py = objects.py();
    let function = Function::named("siphash24", key)?;
    let tuple = items::hold(objects, "values")?;
    let count = tuple.len();
    let mut digests = Digests::new(function.algorithm, count)?;
    let mut missing = Vec::new();
    for start in (0..count).step_by(BATCH) {
        let mut batch = Vec::with_capacity(BATCH.min(count - start));
        for number in start..count.min(start + BATCH) {
            match items::item(&tuple, number, "values", MESSAGES) {
                Ok(Item::Missing)
                    if may_miss && items::is_missing_to_pandas(&tuple.get_item(number)?)? =>
                {
                    missing.push(number);
                    batch.push(Item::Missing);
                }
                Ok(item @ (Item::Text(_) | Item::Bytes(Cow::Borrowed(_)))) => batch.push(item),
                _ => return Ok(false),
            }
        }
        let slices: Vec<&[u8]> =
            batch.iter().map(|item| item.bytes().unwrap_or_default()).collect();
        let places = digests.places(start..start + slices.len());
        py.detach(|| function.hash(slices.iter().copied(), places));
        py.check_signals()?;
    }
    finish(py, digests, missing, out)?;
    Ok(true)
}

/// Like `_pandas_hash_objects`, for an Arrow column of text.
#[pyfunction]
pub(crate) fn _pandas_hash_column(
    column: &Bound<'_, PyAny>,
    key: Key<'_, '_>,
    may_miss: bool,
    out: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    let py = column.py();
    let function = Function::named("siphash24", key)?;
    let mut chunks = input::column(column, "values", &HASHED)?;
    let (mut hashes, mut missing) = (Vec::new(), Vec::new());
    while let Some(chunk) = next(py, &mut chunks)? {
        if let Some(nulls) = chunk.logical_nulls() {
            let first = hashes.len();
            missing
                .extend((0..chunk.len()).filter(|&row| nulls.is_null(row)).map(|row| first + row));
        }
        if !missing.is_empty() && !may_miss {
            return Ok(false);
        }
        let numbers = numbers_of(py, &function, chunk)?;
        hashes.try_reserve(numbers.len()).map_err(|_| PyMemoryError::new_err(()))?;
        hashes.extend(numbers);
    }
    finish(py, Digests::Numbers(hashes), missing, out)?;
    Ok(true)
}

/// Applies the finaliser, and writes the hashes to their array.
fn finish(
    py: Python<'_>,
    digests: Digests,
    missing: Vec<usize>,
    out: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let Digests::Numbers(mut hashes) = digests else { unreachable!("siphash24 has 64 bits") };
    hashes.iter_mut().for_each(|hash| *hash = mix(*hash));
    missing.into_iter().for_each(|number| hashes[number] = MISSING);
    PyBuffer::<u64>::get(out)?.copy_from_slice(py, &hashes)
}

/// The last steps of splitmix64.
const fn mix(mut hash: u64) -> u64 {
    hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 31
}
