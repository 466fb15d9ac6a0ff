//! The compiled half of the Python package `lanesum`. This file registers the contents of the
//! others.

use pyo3::prelude::*;

mod algorithm;
mod backend;
mod build;
mod bytes;
mod capsule;
mod column;
mod digest;
mod digests;
mod files;
mod hash_column;
mod hashes;
mod hex;
mod input;
mod items;
mod many;
mod objects;
mod output;
mod pandas;
mod panics;
mod requested;
mod returned;
mod rows;
mod signals;
mod singles;
mod surrogate;
mod threads;
mod words;

/// The compiled half of the package lanesum, which exports its public names.
#[pymodule]
mod _lanesum {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::backend::{backend, backends, set_backend};
    #[pymodule_export]
    use crate::column::Column;
    #[pymodule_export]
    use crate::digest::{
        Hash, md5, new, sha1, sha256, sha512, siphash13, siphash13_128, siphash24, siphash24_128,
    };
    #[pymodule_export]
    use crate::files::{
        Batches, algorithm_names, algorithms_named, check_lists, compare_sides, etags_of_paths,
        failed_rows, file_sizes, format_list, formats, hash_below, hash_paths, known_rows, now,
        read_list_content, read_list_file, settled_rows, walk_tree,
    };
    #[pymodule_export]
    use crate::hash_column::hash_column;
    #[pymodule_export]
    use crate::many::hash_many;
    #[pymodule_export]
    use crate::pandas::{_pandas_hash_column, _pandas_hash_objects};
    #[pymodule_export]
    use crate::surrogate::surrogate_key;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("algorithms_available", crate::digest::available(module.py())?)?;
        // The package's own `__init__` defines the public names.
        module.dict().del_item("__all__")
    }
}
