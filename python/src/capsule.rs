//! The capsules in which Arrow's arrays come, and whether somebody took what is in them.
//!
//! Whoever takes an array out of its capsule sets its `release` to null and leaves the rest as it
//! was: pointers to memory that may be anything by now. Neither pyo3-arrow nor arrow looks at it.

#![allow(unsafe_code, reason = "a capsule holds a pointer")]

use std::ffi::c_void;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

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
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?.cast::<Schema>();
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
