//! File names: Python paths and columns of names.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{BinaryBuilder, StringBuilder};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// Returns the path of a Python object: a str, bytes or os.PathLike.
///
/// # Errors
/// TypeError and ValueError, with the messages of Python.
pub(crate) fn path(given: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let bytes = if let Ok(bytes) = given.cast::<PyBytes>() {
        bytes.as_bytes().to_vec()
    } else if let Some(text) = given.cast::<PyString>().ok().and_then(|it| it.to_str().ok()) {
        text.as_bytes().to_vec()
    } else {
        // A PathLike, or a str with bytes that are not UTF-8.
        let bytes = given.py().import("os")?.call_method1("fsencode", (given,))?;
        bytes.cast::<PyBytes>()?.as_bytes().to_vec()
    };
    if bytes.contains(&0) {
        let name = String::from_utf8_lossy(&bytes).into_owned();
        return Err(PyValueError::new_err(format!("embedded null byte in the path {name:?}")));
    }
    Ok(OsString::from_vec(bytes).into())
}

/// Returns the error for an argument that is not a path.
fn not_a_path(name: &str, given: &Bound<'_, PyAny>) -> PyErr {
    let class = given.get_type();
    let class = class.name().map(|name| name.to_string()).unwrap_or_default();
    PyTypeError::new_err(format!("{name} must be str, bytes or os.PathLike, not {class}"))
}

/// Returns the paths of an iterable.
///
/// # Errors
/// If the argument is a single path or not iterable, or an item is not a path.
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

/// Two columns for names of any bytes: text for names in UTF-8, and bytes for others. The other
/// column is null.
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

    /// Returns the columns of text and bytes.
    pub(crate) fn finish(&mut self) -> [ArrayRef; 2] {
        [Arc::new(self.text.finish()), Arc::new(self.bytes.finish())]
    }
}
