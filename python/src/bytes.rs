//! The bytes of Python's objects, of which some may be changed by others while they are looked at.
//!
//! `bytes` never change, so they are hashed where they are, without the GIL. Anything else
//! (`bytearray`, `memoryview`, `array`, numpy's) is copied first, by Python itself and with the
//! GIL, a piece at a time: whoever writes to it meanwhile gets some digest or other, as with
//! hashlib, and nothing worse.

use bytemuck::Zeroable;
use bytemuck::allocation::try_zeroed_slice_box;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyBufferError, PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::type_object::PyTypeInfo as _;
use pyo3::types::{PyBytes, PyMemoryView, PySlice, PyString};

/// Up to here a buffer is copied whole; longer ones go in pieces of so many bytes.
const PIECE: usize = 256 << 10;

/// There are no more pieces than this: they grow with what is longer.
const MOST_PIECES: usize = 1 << 16;

/// All bytes of an object, held so that none of Python's code runs while they are taken: what would
/// run then, a finaliser as well, may want the very object that takes them.
pub(crate) enum Pieces<'a> {
    Bytes(&'a [u8]),
    Buffers { buffers: Vec<PyBuffer<u8>>, longest: usize },
}

impl<'a> Pieces<'a> {
    /// # Errors
    /// `TypeError` for text and for what is no buffer, `BufferError` for one that is not
    /// contiguous.
    pub(crate) fn of(object: &'a Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.as_bytes()));
        }
        let whole = buffer(object)?;
        let length = whole.len_bytes();
        if length <= PIECE {
            return Ok(Self::Buffers { buffers: vec![whole], longest: length });
        }
        // A buffer that is held keeps the length of its object.
        let view = flat(object)?;
        let longest = PIECE.max(length.div_ceil(MOST_PIECES));
        let piece = |start: usize| {
            let end = length.min(start + longest);
            // Not `PySlice::new`, which in pyo3 0.30 keeps its numbers for ever.
            let part = view.get_item(PySlice::type_object(object.py()).call1((start, end))?)?;
            PyBuffer::get(&part)
        };
        let buffers = (0..length).step_by(longest).map(piece).collect::<PyResult<_>>()?;
        Ok(Self::Buffers { buffers, longest })
    }

    /// Calls a function with each of them.
    pub(crate) fn for_each(&self, py: Python<'_>, mut take: impl FnMut(&[u8])) -> PyResult<()> {
        match self {
            Self::Bytes(bytes) => take(bytes),
            Self::Buffers { buffers, longest } => {
                let mut copy = zeros(*longest)?;
                for buffer in buffers {
                    let copy = &mut copy[..buffer.len_bytes()];
                    buffer.copy_to_slice(py, copy)?;
                    take(copy);
                }
            }
        }
        Ok(())
    }
}

/// A copy of all bytes of an object that is not `bytes`.
pub(crate) fn copy(object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let buffer = buffer(object)?;
    let mut copy = zeros(buffer.len_bytes())?;
    buffer.copy_to_slice(object.py(), &mut copy)?;
    Ok(copy)
}

/// So many zeros, for what is as large as somebody's data.
///
/// # Errors
/// `MemoryError` where there is no room for them: Rust's own vectors end the process then.
pub(crate) fn zeros<T: Zeroable>(count: usize) -> PyResult<Vec<T>> {
    let zeros = try_zeroed_slice_box(count).map_err(|()| PyMemoryError::new_err(()))?;
    Ok(zeros.into_vec())
}

/// Room for so many items, of which there is none yet.
///
/// # Errors
/// `MemoryError` where there is none.
pub(crate) fn room<T>(count: usize) -> PyResult<Vec<T>> {
    let mut room = Vec::new();
    room.try_reserve_exact(count).map_err(|_| PyMemoryError::new_err(()))?;
    Ok(room)
}

/// That there is room for so many bytes, for what makes vectors of its own of them and would end
/// the process where there is none.
///
/// # Errors
/// `MemoryError` where there is not.
pub(crate) fn require(count: usize) -> PyResult<()> {
    room::<u8>(count).map(drop)
}

/// Appends bytes to others.
///
/// # Errors
/// `MemoryError` where there is no room for them.
#[inline]
pub(crate) fn append(bytes: &mut Vec<u8>, more: &[u8]) -> PyResult<()> {
    if bytes.capacity() - bytes.len() < more.len() {
        grow(bytes, more.len())?;
    }
    bytes.extend_from_slice(more);
    Ok(())
}

/// Makes room for more bytes: for as many again, so that this is seldom, or for less where there is
/// not so much.
#[cold]
fn grow(bytes: &mut Vec<u8>, more: usize) -> PyResult<()> {
    let room = bytes.capacity();
    let mut spares = [room, room / 8, 0].into_iter();
    let is_made = spares.any(|spare| {
        more.checked_add(spare).is_some_and(|room| bytes.try_reserve_exact(room).is_ok())
    });
    if is_made { Ok(()) } else { Err(PyMemoryError::new_err(())) }
}

/// The buffer of an object as bytes, whatever its elements are.
fn buffer(object: &Bound<'_, PyAny>) -> PyResult<PyBuffer<u8>> {
    let buffer = match PyBuffer::<u8>::get(object) {
        Ok(buffer) => buffer,
        // Elements of several bytes, or none.
        Err(_) => PyBuffer::<u8>::get(&flat(object)?)?,
    };
    if !buffer.is_c_contiguous() {
        return Err(scattered());
    }
    Ok(buffer)
}

/// A copy of the bytes of an array of numpy's that cannot say in a buffer what its elements are, as
/// moments; hashlib does not ask. None where others are in the way, or objects' addresses.
fn without_format<'py>(object: &Bound<'py, PyAny>) -> Option<PyResult<Bound<'py, PyAny>>> {
    let has_objects = object.getattr("dtype").ok()?.getattr("hasobject").ok()?;
    if has_objects.is_truthy().ok()? {
        return None;
    }
    if !object.getattr("flags").ok()?.getattr("c_contiguous").ok()?.is_truthy().ok()? {
        return Some(Err(scattered()));
    }
    // Python's own, which asks for nothing but bytes.
    PyBytes::new(object.py(), b"").call_method1("join", ((object,),)).ok().map(Ok)
}

fn scattered() -> PyErr {
    PyBufferError::new_err(
        "the bytes do not lie one behind the other; take a copy, as by bytes(...)",
    )
}

/// Whether objects' addresses are among the elements of a buffer of this format, in which the names
/// of fields stand between colons.
fn has_objects(format: &str) -> bool {
    format.split(':').step_by(2).any(|codes| codes.contains('O'))
}

/// A view of an object's bytes in one dimension.
fn flat<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if object.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("strings must be encoded before they are hashed"));
    }
    let view = match PyMemoryView::from(object) {
        Err(error) if error.is_instance_of::<PyValueError>(object.py()) => {
            PyMemoryView::from(&without_format(object).ok_or(error)??)?.into_any()
        }
        view => view?.into_any(),
    };
    if has_objects(&view.getattr("format")?.extract::<String>()?) {
        return Err(PyTypeError::new_err("the addresses of objects, as in an array of numpy's"));
    }
    if view.getattr("nbytes")?.extract::<usize>()? == 0 {
        // A shape with a zero in it cannot be cast.
        return Ok(PyMemoryView::from(&PyBytes::new(object.py(), b""))?.into_any());
    }
    if !view.getattr("c_contiguous")?.is_truthy()? {
        return Err(scattered());
    }
    view.call_method1("cast", ("B",))
}
