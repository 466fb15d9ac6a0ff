//! The backend that hashes many inputs: the best one, unless a test chooses another one.

use std::sync::{PoisonError, RwLock};

use lanesum_md5::Backend;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

static CHOSEN: RwLock<Option<Backend>> = RwLock::new(None);

/// Returns the backend in use.
pub(crate) fn current() -> Backend {
    CHOSEN.read().unwrap_or_else(PoisonError::into_inner).unwrap_or_else(Backend::best)
}

/// Returns the name of the backend in use.
#[pyfunction]
#[pyo3(name = "_backend")]
pub(crate) fn backend() -> &'static str {
    current().name()
}

/// Returns the names of the backends that this CPU supports.
#[pyfunction]
#[pyo3(name = "_backends")]
pub(crate) fn backends() -> Vec<&'static str> {
    Backend::available().map(Backend::name).collect()
}

/// Chooses a backend by name, for tests and comparisons. None restores the default.
#[pyfunction]
#[pyo3(name = "_set_backend", signature = (name))]
pub(crate) fn set_backend(name: Option<&str>) -> PyResult<()> {
    let backend = name
        .map(|name| {
            Backend::from_name(name).ok_or_else(|| {
                let known = backends().join(", ");
                PyValueError::new_err(format!(
                    "unknown backend {name:?}; this CPU supports {known}"
                ))
            })
        })
        .transpose()?;
    *CHOSEN.write().unwrap_or_else(PoisonError::into_inner) = backend;
    Ok(())
}
