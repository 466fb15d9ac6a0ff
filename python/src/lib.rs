//! lanesum for Python: the compiled half of the package `lanesum`. Each file holds what its name
//! says; here they are put together.

use pyo3::prelude::*;

mod backend;
mod files;

/// The compiled half of the package lanesum, which has everything under its own name.
#[pymodule]
mod _lanesum {
    #[pymodule_export]
    use crate::backend::{backend, backends, set_backend};
    #[pymodule_export]
    use crate::files::{
        Batches, algorithm_names, check_lists, compare_sides, etags_of_paths, failed_rows,
        format_list, formats, hash_below, hash_paths, known_rows, now, read_list_content,
        read_list_file, settled_rows, walk_tree,
    };
}
