//! The bytes of Python's objects, of which some may be changed by others while they are looked at.
//!
//! `bytes` never change, so they are hashed where they are, without the GIL. Anything else
//! (`bytearray`, `memoryview`, `array`, numpy's) is copied first, by Python itself and with the
//! GIL, a piece at a time: whoever writes to it meanwhile gets some digest or other, as with
//! hashlib, and nothing worse.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PySlice, PyString};

/// Up to here a buffer is copied whole; longer ones go in pieces of so many bytes.
const PIECE: usize = 256 << 10;

/// Calls a function with all bytes of an object, in pieces.
///
/// # Errors
/// `TypeError` for text and for what is no buffer, `BufferError` for one that is not contiguous;
/// and those of the function.
pub(crate) fn for_each_piece(
    object: &Bound<'_, PyAny>,
    mut take: impl FnMut(&[u8]) -> PyResult<()>,
) -> PyResult<()> {
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return take(bytes.as_bytes());
    }
    let buffer = buffer(object)?;
    let length = buffer.len_bytes();
    if length <= PIECE {
        return take(&buffer.to_vec(object.py())?);
    }
    // The buffer is held, so the object keeps its length.
    let view = flat(object)?;
    let mut copy = vec![0; PIECE];
    for start in (0..length).step_by(PIECE) {
        let end = length.min(start + PIECE);
        let part = view.get_item(PySlice::new(object.py(), start as isize, end as isize, 1))?;
        let copy = &mut copy[..end - start];
        PyBuffer::<u8>::get(&part)?.copy_to_slice(object.py(), copy)?;
        take(copy)?;
    }
    Ok(())
}

/// A copy of all bytes of an object that is not `bytes`.
pub(crate) fn copy(object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    buffer(object)?.to_vec(object.py())
}

/// The buffer of an object as bytes, whatever its elements are.
fn buffer(object: &Bound<'_, PyAny>) -> PyResult<PyBuffer<u8>> {
    let buffer = match PyBuffer::<u8>::get(object) {
        Ok(buffer) => buffer,
        // Elements of several bytes, or none.
        Err(_) => PyBuffer::<u8>::get(&flat(object)?)?,
    };
    if !buffer.is_c_contiguous() {
        return Err(PyBufferError::new_err(
            "the bytes do not lie one behind the other; take a copy, as by bytes(...)",
        ));
    }
    Ok(buffer)
}

/// A view of an object's bytes in one dimension.
fn flat<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if object.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("strings must be encoded before they are hashed"));
    }
    let view = PyMemoryView::from(object)?.into_any();
    if view.getattr("nbytes")?.extract::<usize>()? == 0 {
        // A shape with a zero in it cannot be cast.
        return Ok(PyMemoryView::from(&PyBytes::new(object.py(), b""))?.into_any());
    }
    if !view.getattr("c_contiguous")?.is_truthy()? {
        return Err(PyBufferError::new_err(
            "the bytes do not lie one behind the other; take a copy, as by bytes(...)",
        ));
    }
    view.call_method1("cast", ("B",))
}
