//! Creates Python objects, and raises `MemoryError` if there is not enough memory. Most functions
//! of pyo3 would panic.

use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::panics::unless_it_panics;

pub(crate) fn bytes<'py>(py: Python<'py>, content: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, content.len(), |place| {
        place.copy_from_slice(content);
        Ok(())
    })
}

pub(crate) fn text<'py>(py: Python<'py>, content: &str) -> PyResult<Bound<'py, PyString>> {
    PyString::from_bytes(py, content.as_bytes())
}

pub(crate) fn int<'py>(
    py: Python<'py>,
    number: impl IntoPyObject<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let made = unless_it_panics(|| number.into_bound_py_any(py));
    made.unwrap_or_else(|| Err(PyMemoryError::new_err(())))
}
