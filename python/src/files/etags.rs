//! The ETags that S3 assigns to files.

use std::iter;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use lanesum_checksum::Source;
use lanesum_checksum::engine::Io;
use lanesum_checksum::etag::{self, Input, Outcome};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::batches::Batches;
use super::names;
use super::options::{self, ReadOptions};
use super::rows::{Columns, Row, RowsBuilder};

const NO_FILE: &str = "not a regular file: an ETag may need to read the bytes twice";

/// Returns a row with the ETag of each file, for uploads in parts of one size.
#[pyfunction]
pub(crate) fn etags_of_paths(
    py: Python<'_>,
    paths: &Bound<'_, PyAny>,
    part_size: String,
    reading: ReadOptions<'_>,
) -> PyResult<Batches> {
    let (engine, mut watch) = reading.engine()?;
    if engine.io == Io::Direct {
        let words = "io='direct' is not supported for ETags; use another method";
        return Err(PyValueError::new_err(words));
    }
    let part_sizes = options::part_sizes(&[part_size])?;
    let paths = names::paths(paths)?;
    let mut inputs = paths.into_iter().map(|path| {
        // Special files would be read by the thread that checks for signals.
        let is_special = is_special(&path);
        let source = if is_special { Source::Nothing } else { Source::Path(path.clone()) };
        Input { source, context: (path, is_special) }
    });
    // Without a length, for the reason in `hash.rs`.
    let inputs = iter::from_fn(move || inputs.next());
    let run = py.detach(|| etag::etags(&engine, &part_sizes, inputs));
    let mut rows = RowsBuilder::new(&[], Columns { error: true, etag: true, version: false });
    watch.wait(py, run, |outcome: Outcome<(PathBuf, bool)>| {
        let Outcome { context: (path, is_special), result, .. } = outcome;
        let path = path.as_os_str().as_bytes();
        let found = match result {
            Ok(_) if is_special => return rows.push(&Row::failed(path, NO_FILE)),
            Ok(found) => found,
            Err(error) => return rows.push(&Row::failed(path, &error.to_string())),
        };
        let size = Some(found.size);
        match found.etags.into_iter().next() {
            Some(Ok(etag)) => rows.push(&Row { path, size, etag: Some(etag), ..Row::default() }),
            Some(Err(why)) => {
                rows.push(&Row { path, size, error: Some(&why.to_string()), ..Row::default() })
            }
            None => rows.push(&Row::failed(path, "no ETag was computed")),
        }
    })?;
    rows.finish()
}

/// Directories are not special here: the error of opening one is the reason.
fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir())
}
