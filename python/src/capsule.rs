//! The capsules that hold Arrow arrays, and whether an array was already taken.
//!
//! The consumer of an array sets `release` in its capsule to null. It leaves the other fields
//! unchanged, so they are pointers to memory that may be freed. Neither pyo3-arrow nor arrow checks
//! `release`.
//!
//! Schemas are read here, too, because arrow's fields lose the metadata of dictionary values.

#![allow(unsafe_code, reason = "a capsule holds a pointer")]

use std::ffi::{CStr, c_void};

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

const SCHEMA: &CStr = c"arrow_schema";

/// `struct ArrowSchema` of Arrow's C data interface.
#[repr(C)]
struct Schema {
    _strings: [*const c_void; 3],
    _numbers: [i64; 2],
    _others: [*const c_void; 2],
    release: *const c_void,
}

/// `struct ArrowArray` of the same.
#[repr(C)]
struct Array {
    _numbers: [i64; 5],
    _others: [*const c_void; 3],
    release: *const c_void,
}

/// Checks that the contents of these capsules were not taken.
///
/// # Errors
/// `ValueError` if they were taken, or if the capsules hold something else.
pub(crate) fn require_untaken(
    schema: &Bound<'_, PyCapsule>,
    array: &Bound<'_, PyCapsule>,
) -> PyResult<()> {
    let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<Schema>();
    let array = array.pointer_checked(Some(c"arrow_array"))?.cast::<Array>();
    // SAFETY: by the Arrow PyCapsule interface, a capsule of this name holds a pointer to this
    // structure, which lives as long as the capsule. Only one field is read.
    let releases = unsafe { [(*schema.as_ptr()).release, (*array.as_ptr()).release] };
    if releases.iter().any(|release| release.is_null()) {
        let words = "this Arrow capsule was already consumed; pass the array itself";
        return Err(PyValueError::new_err(words));
    }
    Ok(())
}

/// Returns the schema in a capsule that was not taken.
pub(crate) fn schema<'a>(capsule: &'a Bound<'_, PyCapsule>) -> PyResult<&'a FFI_ArrowSchema> {
    let schema = capsule.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    // SAFETY: as above. The schema does not change while it is borrowed, because the consumer of an
    // array leaves its schema in its capsule.
    Ok(unsafe { schema.as_ref() })
}

/// Returns the schema of a stream in a capsule. Returns None if the stream was taken, or returns an
/// error; its next consumer reports that.
pub(crate) fn schema_of_stream(
    capsule: &Bound<'_, PyCapsule>,
) -> PyResult<Option<FFI_ArrowSchema>> {
    let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    let stream = stream.cast::<FFI_ArrowArrayStream>().as_ptr();
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: a capsule of this name holds a pointer to this structure. A stream that was taken has
    // no `release`, and no other field of it is read. The function of any other stream may be
    // called any number of times. It fills the schema in if it returns 0, and otherwise leaves it
    // empty.
    let is_told = unsafe {
        match ((*stream).release, (*stream).get_schema) {
            (Some(_), Some(get_schema)) => get_schema(stream, &raw mut schema) == 0,
            _ => false,
        }
    };
    Ok(is_told.then_some(schema))
}
