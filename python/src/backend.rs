//! Which instruction set many inputs are hashed with: the best there is, unless tests choose.

use std::sync::{PoisonError, RwLock};

use lanesum_md5::Backend;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

static CHOSEN: RwLock<Option<Backend>> = RwLock::new(None);

/// The one to use.
pub(crate) fn current() -> Backend {
    CHOSEN.read().unwrap_or_else(PoisonError::into_inner).unwrap_or_else(Backend::best)
}

/// The name of the instruction set that many inputs are hashed with.
#[pyfunction]
#[pyo3(name = "_backend")]
pub(crate) fn backend() -> &'static str {
    current().name()
}

/// The names of those that this CPU has.
#[pyfunction]
#[pyo3(name = "_backends")]
pub(crate) fn backends() -> Vec<&'static str> {
    Backend::available().map(Backend::name).collect()
}

/// Chooses one by its name, for tests and comparisons; none gives the choice back.
#[pyfunction]
#[pyo3(name = "_set_backend", signature = (name))]
pub(crate) fn set_backend(name: Option<&str>) -> PyResult<()> {
    let backend = name
        .map(|name| {
            Backend::from_name(name).ok_or_else(|| {
                let known = backends().join(", ");
                PyValueError::new_err(format!("{name:?}: this CPU has {known}"))
            })
        })
        .transpose()?;
    *CHOSEN.write().unwrap_or_else(PoisonError::into_inner) = backend;
    Ok(())
}
