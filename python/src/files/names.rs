//! Names of files: paths that Python gives, and their columns.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{BinaryBuilder, StringBuilder};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// The path that Python means, as its own functions take them: str, bytes or what has a path.
///
/// # Errors
/// TypeError and ValueError, with Python's own words.
pub(crate) fn path(given: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let bytes = if let Ok(bytes) = given.cast::<PyBytes>() {
        bytes.as_bytes().to_vec()
    } else if let Some(text) = given.cast::<PyString>().ok().and_then(|it| it.to_str().ok()) {
        text.as_bytes().to_vec()
    } else {
        // A path's own, or one with bytes that are no UTF-8.
        let bytes = given.py().import("os")?.call_method1("fsencode", (given,))?;
        bytes.cast::<PyBytes>()?.as_bytes().to_vec()
    };
    if bytes.contains(&0) {
        let name = String::from_utf8_lossy(&bytes).into_owned();
        return Err(PyValueError::new_err(format!("embedded null byte in the path {name:?}")));
    }
    Ok(OsString::from_vec(bytes).into())
}

/// That an argument of this name is no path.
fn not_a_path(name: &str, given: &Bound<'_, PyAny>) -> PyErr {
    let class = given.get_type();
    let class = class.name().map(|name| name.to_string()).unwrap_or_default();
    PyTypeError::new_err(format!("{name} must be str, bytes or os.PathLike, not {class}"))
}

/// The paths of an iterable.
///
/// # Errors
/// It is none, or a single path; or one of them is none.
pub(crate) fn paths(given: &Bound<'_, PyAny>) -> PyResult<Vec<PathBuf>> {
    if given.is_instance_of::<PyString>() || given.is_instance_of::<PyBytes>() {
        let words = "paths must be several paths, not one; write [path]";
        return Err(PyTypeError::new_err(words));
    }
    let named = |(number, given): (usize, PyResult<Bound<'_, PyAny>>)| {
        let given = given?;
        self::path(&given).map_err(|error| match error.is_instance_of::<PyTypeError>(given.py()) {
            true => not_a_path(&format!("paths[{number}]"), &given),
            false => error,
        })
    };
    given.try_iter()?.enumerate().map(named).collect()
}

/// A column of names of any bytes, in two: text where they are UTF-8, and bytes where they are not.
/// The other one is null.
#[derive(Default)]
pub(crate) struct NamesBuilder {
    text: StringBuilder,
    bytes: BinaryBuilder,
}

impl NamesBuilder {
    pub(crate) fn push(&mut self, name: Option<&[u8]>) {
        let text = name.map(std::str::from_utf8);
        self.text.append_option(text.and_then(Result::ok));
        self.bytes.append_option(match text {
            Some(Err(_)) => name,
            _ => None,
        });
    }

    /// The texts and the bytes.
    pub(crate) fn finish(&mut self) -> [ArrayRef; 2] {
        [Arc::new(self.text.finish()), Arc::new(self.bytes.finish())]
    }
}
