//! The capsules in which Arrow's arrays come, and whether somebody took what is in them.
//!
//! Whoever takes an array out of its capsule sets its `release` to null and leaves the rest as it
//! was: pointers to memory that may be anything by now. Neither pyo3-arrow nor arrow looks at it.
//!
//! The schemas are here, too, since arrow's fields leave out what the values of dictionaries mean.

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

/// That what these capsules hold was not taken.
///
/// # Errors
/// `ValueError` if it was, or if they are capsules of something else.
pub(crate) fn require_untaken(
    schema: &Bound<'_, PyCapsule>,
    array: &Bound<'_, PyCapsule>,
) -> PyResult<()> {
    let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<Schema>();
    let array = array.pointer_checked(Some(c"arrow_array"))?.cast::<Array>();
    // SAFETY: a capsule of this name holds a pointer to such a structure, as the Arrow PyCapsule
    // interface says, which lives as long as the capsule. Nothing but one field is read.
    let releases = unsafe { [(*schema.as_ptr()).release, (*array.as_ptr()).release] };
    if releases.iter().any(|release| release.is_null()) {
        let words = "what is handed over as Arrow was taken before; hand the array itself over";
        return Err(PyValueError::new_err(words));
    }
    Ok(())
}

/// The schema that a capsule holds, which was not taken.
pub(crate) fn schema<'a>(capsule: &'a Bound<'_, PyCapsule>) -> PyResult<&'a FFI_ArrowSchema> {
    let schema = capsule.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    // SAFETY: as above, and it does not change as long as it is borrowed: whoever takes an array
    // out leaves its schema in its capsule.
    Ok(unsafe { schema.as_ref() })
}

/// The schema of a stream that a capsule holds. None of one that was taken, or that does not tell:
/// whoever takes it next says so.
pub(crate) fn schema_of_stream(
    capsule: &Bound<'_, PyCapsule>,
) -> PyResult<Option<FFI_ArrowSchema>> {
    let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    let stream = stream.cast::<FFI_ArrowArrayStream>().as_ptr();
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: a capsule of this name holds a pointer to such a structure. What was taken has no
    // `release`, and nothing else of it is read. Of any other the function may be called as often
    // as one likes; it fills the schema in where it returns 0, and leaves it empty otherwise.
    let is_told = unsafe {
        match ((*stream).release, (*stream).get_schema) {
            (Some(_), Some(get_schema)) => get_schema(stream, &raw mut schema) == 0,
            _ => false,
        }
    };
    Ok(is_told.then_some(schema))
}
