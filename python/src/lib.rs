//! lanesum for Python: the compiled half of the package `lanesum`. Each file holds what its name
//! says; here they are put together.

use pyo3::prelude::*;

mod backend;

/// The compiled half of the package lanesum, which has everything under its own name.
#[pymodule]
mod _lanesum {
    #[pymodule_export]
    use crate::backend::{backend, backends, set_backend};
}
