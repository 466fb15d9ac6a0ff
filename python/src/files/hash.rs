//! Hashes files and trees. The result has a row for each file, with its digests or an error.

use std::ffi::OsString;
use std::iter;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::thread;

use lanesum_checksum::engine::{self, Job, Outcome, Source};
use lanesum_checksum::error::message;
use lanesum_checksum::walk::{Entry, walk};
use lanesum_list::Algorithm;
use pyo3::prelude::*;

use super::batches::Batches;
use super::names;
use super::options::{self, ReadOptions, Walking, os_error};
use super::rows::{Columns, Row, RowsBuilder};
use super::watch::Watch;

/// The facts about a job before it runs.
enum About {
    File,
    /// A file with a different name in its row.
    Named(PathBuf),
    /// The file cannot be read, for this reason.
    Failed(PathBuf, String),
    /// The walk skips the file because of its type.
    Skipped(PathBuf, String),
}

/// Python paths, each with a type or an error.
type Reasons = Vec<(OsString, String)>;

/// Hashes files. Returns a row for each path, in order. Relative paths are relative to `folder`, if
/// it is given.
#[pyfunction]
#[pyo3(signature = (paths, algorithms, reading, folder=None))]
pub(crate) fn hash_paths(
    py: Python<'_>,
    paths: &Bound<'_, PyAny>,
    algorithms: Vec<String>,
    reading: ReadOptions<'_>,
    folder: Option<Bound<'_, PyAny>>,
) -> PyResult<Batches> {
    let (mut engine, watch) = reading.engine()?;
    let algorithms = options::algorithms(&algorithms, engine.key.as_ref())?;
    let (paths, folder) = (names::paths(paths)?, options::optional_path(folder.as_ref())?);
    engine.threads = threads(engine.threads, paths.len());
    let items = paths.into_iter().map(move |path| match &folder {
        // An empty path is not a file, and must not become the directory.
        Some(folder) if path.is_relative() && !path.as_os_str().is_empty() => {
            (Source::Path(folder.join(&path)), About::Named(path))
        }
        _ => (Source::Path(path), About::File),
    });
    hash(py, items, &algorithms, &engine, watch).map(|(rows, _)| rows)
}

/// Hashes the files of a tree in byte order of their paths. Returns the rows and the skipped
/// entries.
#[pyfunction]
pub(crate) fn hash_below(
    py: Python<'_>,
    root: &Bound<'_, PyAny>,
    algorithms: Vec<String>,
    walking: Walking,
    reading: ReadOptions<'_>,
) -> PyResult<(Batches, Reasons)> {
    let root = names::path(root)?;
    // An error of the root is an error of the argument, and not a row.
    std::fs::metadata(&root).map_err(|error| os_error(&error, &root))?;
    let (engine, watch) = reading.engine()?;
    let algorithms = options::algorithms(&algorithms, engine.key.as_ref())?;
    let entries = walk(&root, &walking.options()?);
    let items = entries.map(move |entry| item(entry, &root));
    hash(py, items, &algorithms, &engine, watch)
}

/// Returns the files of a tree as Python paths, the entries that cannot be read with errors, and
/// the skipped entries.
#[pyfunction]
pub(crate) fn walk_tree(
    py: Python<'_>,
    root: &Bound<'_, PyAny>,
    walking: Walking,
) -> PyResult<(Vec<OsString>, Reasons, Reasons)> {
    let root = names::path(root)?;
    std::fs::metadata(&root).map_err(|error| os_error(&error, &root))?;
    let mut entries = walk(&root, &walking.options()?);
    let (mut files, mut failed, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        let piece: Vec<_> = py.detach(|| entries.by_ref().take(1000).collect());
        py.check_signals()?;
        if piece.is_empty() {
            return Ok((files, failed, skipped));
        }
        for entry in piece {
            match entry {
                Entry::File(path) => files.push(path.into_os_string()),
                Entry::Skipped { path, why } => {
                    skipped.push((path.into_os_string(), why.to_string()));
                }
                Entry::Failed { path, error } => {
                    failed.push((path.into_os_string(), message(&error)));
                }
            }
        }
    }
}

/// Returns the sizes of regular files, and 0 for all others.
#[pyfunction]
pub(crate) fn file_sizes(py: Python<'_>, paths: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    let paths = names::paths(paths)?;
    let size = |path: &PathBuf| {
        let file = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file);
        file.map_or(0, |file| file.len())
    };
    // Each call takes as long as reading a short file.
    let threads = threads(0, paths.len() / FILES_A_THREAD);
    let mut sizes = Vec::with_capacity(paths.len());
    for paths in paths.chunks(threads * FILES_A_THREAD) {
        let part = paths.len().div_ceil(threads).max(1);
        py.detach(|| {
            thread::scope(|scope| {
                let look = |paths: &'_ [PathBuf]| paths.iter().map(size).collect::<Vec<_>>();
                let parts = paths.chunks(part).map(|paths| scope.spawn(move || look(paths)));
                let parts: Vec<_> = parts.collect();
                sizes.extend(parts.into_iter().flat_map(|part| part.join().expect("no panic")));
            });
        });
        py.check_signals()?;
    }
    Ok(sizes)
}

/// The minimum number of files per thread.
const FILES_A_THREAD: usize = 1000;

fn item(entry: Entry, root: &Path) -> (Source, About) {
    match entry {
        // The argument itself may be any kind of file.
        Entry::File(path) if path.as_os_str() == root.as_os_str() => {
            (Source::Path(path), About::File)
        }
        Entry::File(path) => (Source::Regular(path), About::File),
        Entry::Skipped { path, why } => (Source::Nothing, About::Skipped(path, why.to_string())),
        Entry::Failed { path, error } => (Source::Nothing, About::Failed(path, message(&error))),
    }
}

/// Returns at most one thread per file. 0 lets the engine use one per CPU.
fn threads(asked: usize, files: usize) -> usize {
    let most = files.max(1);
    match asked {
        0 => std::thread::available_parallelism().map_or(1, usize::from).min(most),
        asked => asked.min(most),
    }
}

fn hash(
    py: Python<'_>,
    items: impl Iterator<Item = (Source, About)> + Send + 'static,
    algorithms: &[Algorithm],
    engine: &engine::Options,
    mut watch: Watch,
) -> PyResult<(Batches, Reasons)> {
    let set = options::set(algorithms);
    let mut jobs = items.map(move |(source, context)| Job { source, algorithms: set, context });
    // The iterator has no length. If the engine knew that there is a single job, it would run it on
    // the calling thread, which then could not check for signals.
    let jobs = iter::from_fn(move || jobs.next());
    let run = py.detach(|| engine::run(engine, jobs));
    let mut rows =
        RowsBuilder::new(algorithms, Columns { error: true, version: true, etag: false });
    let mut skipped = Vec::new();
    watch.wait(py, run, |Outcome { source, context, result, .. }| match (context, result) {
        (About::Skipped(path, why), _) => {
            skipped.push((path.into_os_string(), why));
            Ok(())
        }
        (About::Failed(path, why), _) => rows.push(&Row::failed(path.as_os_str().as_bytes(), &why)),
        (about, result) => {
            let path = match &about {
                About::Named(path) => path.as_os_str().as_bytes(),
                _ => name(&source),
            };
            match result {
                Ok(hashed) => rows.push(&Row::hashed(path, &hashed)),
                Err(error) => rows.push(&Row::failed(path, &error.to_string())),
            }
        }
    })?;
    Ok((rows.finish()?, skipped))
}

fn name(source: &Source) -> &[u8] {
    source.path().map_or(&b""[..], |path| path.as_os_str().as_bytes())
}

/// Returns rows with the same error for each of these paths.
#[pyfunction]
pub(crate) fn failed_rows(
    paths: &Bound<'_, PyAny>,
    algorithms: Vec<String>,
    reason: &str,
) -> PyResult<Batches> {
    let algorithms =
        algorithms.iter().map(|name| options::algorithm(name)).collect::<PyResult<Vec<_>>>()?;
    let mut rows =
        RowsBuilder::new(&algorithms, Columns { error: true, version: true, etag: false });
    for path in names::paths(paths)? {
        rows.push(&Row::failed(path.as_os_str().as_bytes(), reason))?;
    }
    rows.finish()
}
