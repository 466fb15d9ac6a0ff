//! The bytes of Python objects.
//!
//! A `bytes` object never changes, so it is hashed in place, without the GIL. Other threads may
//! write to all other buffers (`bytearray`, `memoryview`, `array`, numpy arrays). Python copies
//! these first, with the GIL, one piece at a time. If another thread writes meanwhile, the digest
//! is undefined, as with hashlib, but memory stays safe.

use bytemuck::Zeroable;
use bytemuck::allocation::try_zeroed_slice_box;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyBufferError, PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::type_object::PyTypeInfo as _;
use pyo3::types::{PyBytes, PyMemoryView, PySlice, PyString};

/// Shorter buffers are copied whole. Longer ones are copied in pieces of this many bytes.
const PIECE: usize = 256 << 10;

/// The maximum number of pieces. Pieces of very long buffers are longer.
const MOST_PIECES: usize = 1 << 16;

/// All bytes of an object. No Python code runs while they are hashed. Otherwise such code, for
/// example a finaliser, could use the hash object that is being updated.
pub(crate) enum Pieces<'a> {
    Bytes(&'a [u8]),
    Buffers { buffers: Vec<PyBuffer<u8>>, longest: usize },
}

impl<'a> Pieces<'a> {
    /// # Errors
    /// `TypeError` for text and for objects without a buffer, `BufferError` for buffers that are
    /// not contiguous.
    pub(crate) fn of(object: &'a Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.as_bytes()));
        }
        let whole = buffer(object)?;
        let length = whole.len_bytes();
        if length <= PIECE {
            return Ok(Self::Buffers { buffers: vec![whole], longest: length });
        }
        // An object cannot change its length while its buffer is held.
        let view = flat(object)?;
        let longest = PIECE.max(length.div_ceil(MOST_PIECES));
        let piece = |start: usize| {
            let end = length.min(start + longest);
            // `PySlice::new` of pyo3 0.30 leaks its numbers.
            let part = view.get_item(PySlice::type_object(object.py()).call1((start, end))?)?;
            PyBuffer::get(&part)
        };
        let buffers = (0..length).step_by(longest).map(piece).collect::<PyResult<_>>()?;
        Ok(Self::Buffers { buffers, longest })
    }

    /// Calls a function with each piece.
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

/// Returns a copy of the bytes of an object that is not `bytes`.
pub(crate) fn copy(object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let buffer = buffer(object)?;
    let mut copy = zeros(buffer.len_bytes())?;
    buffer.copy_to_slice(object.py(), &mut copy)?;
    Ok(copy)
}

/// Allocates `count` zeros. For amounts that depend on the caller's data.
///
/// # Errors
/// `MemoryError` if there is not enough memory. Rust's own vectors would end the process.
pub(crate) fn zeros<T: Zeroable>(count: usize) -> PyResult<Vec<T>> {
    let zeros = try_zeroed_slice_box(count).map_err(|()| PyMemoryError::new_err(()))?;
    Ok(zeros.into_vec())
}

/// Allocates an empty vector for `count` items.
///
/// # Errors
/// `MemoryError` if there is not enough memory.
pub(crate) fn room<T>(count: usize) -> PyResult<Vec<T>> {
    let mut room = Vec::new();
    room.try_reserve_exact(count).map_err(|_| PyMemoryError::new_err(()))?;
    Ok(room)
}

/// Checks that `count` bytes can be allocated. Called before code that would end the process if
/// they cannot.
///
/// # Errors
/// `MemoryError` if they cannot.
pub(crate) fn require(count: usize) -> PyResult<()> {
    room::<u8>(count).map(drop)
}

/// Appends bytes to a vector.
///
/// # Errors
/// `MemoryError` if there is not enough memory.
#[inline]
pub(crate) fn append(bytes: &mut Vec<u8>, more: &[u8]) -> PyResult<()> {
    if bytes.capacity() - bytes.len() < more.len() {
        grow(bytes, more.len())?;
    }
    bytes.extend_from_slice(more);
    Ok(())
}

/// Reserves memory for more bytes. Doubles the capacity, so that this is rare, or takes less if
/// there is not enough memory for that.
#[cold]
fn grow(bytes: &mut Vec<u8>, more: usize) -> PyResult<()> {
    let room = bytes.capacity();
    let mut spares = [room, room / 8, 0].into_iter();
    let is_made = spares.any(|spare| {
        more.checked_add(spare).is_some_and(|room| bytes.try_reserve_exact(room).is_ok())
    });
    if is_made { Ok(()) } else { Err(PyMemoryError::new_err(())) }
}

/// Returns the buffer of an object as bytes, for any type of elements.
fn buffer(object: &Bound<'_, PyAny>) -> PyResult<PyBuffer<u8>> {
    let buffer = match PyBuffer::<u8>::get(object) {
        Ok(buffer) => buffer,
        // The elements have several bytes, or there is no buffer.
        Err(_) => PyBuffer::<u8>::get(&flat(object)?)?,
    };
    if !buffer.is_c_contiguous() {
        return Err(scattered());
    }
    Ok(buffer)
}

/// Copies the bytes of a numpy array without a buffer format, such as an array of datetimes.
/// hashlib does not need the format. Returns None for arrays of Python objects.
fn without_format<'py>(object: &Bound<'py, PyAny>) -> Option<PyResult<Bound<'py, PyAny>>> {
    let has_objects = object.getattr("dtype").ok()?.getattr("hasobject").ok()?;
    if has_objects.is_truthy().ok()? {
        return None;
    }
    if !object.getattr("flags").ok()?.getattr("c_contiguous").ok()?.is_truthy().ok()? {
        return Some(Err(scattered()));
    }
    // Python's own copy does not ask for the format.
    PyBytes::new(object.py(), b"").call_method1("join", ((object,),)).ok().map(Ok)
}

fn scattered() -> PyErr {
    PyBufferError::new_err("the buffer is not contiguous; pass a copy, for example bytes(...)")
}

/// Returns whether a buffer format has addresses of objects. Names of fields are between colons.
fn has_objects(format: &str) -> bool {
    format.split(':').step_by(2).any(|codes| codes.contains('O'))
}

/// Returns a one-dimensional view of an object's bytes.
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
        return Err(PyTypeError::new_err("an array of Python objects cannot be hashed"));
    }
    if view.getattr("nbytes")?.extract::<usize>()? == 0 {
        // A shape that contains a zero cannot be cast.
        return Ok(PyMemoryView::from(&PyBytes::new(object.py(), b""))?.into_any());
    }
    if !view.getattr("c_contiguous")?.is_truthy()? {
        return Err(scattered());
    }
    view.call_method1("cast", ("B",))
}
