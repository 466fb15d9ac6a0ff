//! The options of all functions that read files.

use lanesum_checksum::Key;
use lanesum_checksum::engine::{self, Io};
use lanesum_checksum::etag::PartSize;
use lanesum_checksum::walk::{Exclude, WalkOptions};
use lanesum_list::formats::Kind;
use lanesum_list::{Algorithm, Algorithms};
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::io;
use std::path::{Path, PathBuf};

use super::names;
use super::watch::Watch;
use crate::backend;

/// The key lengths of SipHash and BLAKE3 in bytes.
const KEY_LENGTHS: [usize; 2] = [16, 32];

/// How to read files. A dict in Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ReadOptions<'py> {
    threads: usize,
    io: String,
    key: Option<Vec<u8>>,
    progress: Bound<'py, PyAny>,
}

impl ReadOptions<'_> {
    /// Returns the options of the engine, and the watch for signals and progress.
    ///
    /// # Errors
    /// ValueError for an unknown read method or a key of the wrong length.
    pub(crate) fn engine(&self) -> PyResult<(engine::Options, Watch)> {
        let callback = (!self.progress.is_none()).then(|| self.progress.clone().unbind());
        let watch = Watch::new(callback);
        let mut options = engine::Options::default();
        options.threads = self.threads;
        options.io = self.io()?;
        options.backend = backend::current();
        options.key = self.key()?;
        options.progress = Some(watch.progress());
        Ok((options, watch))
    }

    /// `auto` avoids mapped files, because these need a handler for SIGBUS in the whole process.
    fn io(&self) -> PyResult<Io> {
        let io = match &*self.io {
            "auto" => Io::Read,
            name => Io::ALL.into_iter().find(|io| io.name() == name).ok_or_else(|| {
                let known = Io::ALL.map(Io::name).join(", ");
                PyValueError::new_err(format!("unknown read method io={name:?}; use {known}"))
            })?,
        };
        io.check().map(|()| io).map_err(|error| os_error(&error, Path::new("io_uring")))
    }

    fn key(&self) -> PyResult<Option<Key>> {
        let Some(key) = &self.key else { return Ok(None) };
        let parsed = KEY_LENGTHS.contains(&key.len()).then(|| Key::from_bytes(key)).flatten();
        parsed.map(Some).ok_or_else(|| {
            let words =
                format!("key has {} bytes; siphash takes 16 bytes, blake3 takes 32", key.len());
            PyValueError::new_err(words)
        })
    }
}

/// How to walk directories. A dict in Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Walking {
    exclude: Vec<PathBuf>,
    gitignore: bool,
    follow: bool,
    one_file_system: bool,
}

impl Walking {
    /// # Errors
    /// ValueError for an invalid pattern.
    pub(crate) fn options(&self) -> PyResult<WalkOptions> {
        let mut options = WalkOptions::default();
        options.follow = self.follow;
        options.one_file_system = self.one_file_system;
        options.gitignore = self.gitignore;
        options.git = Some("git".into());
        options.exclude = Exclude::new(&self.exclude)
            .map_err(|error| PyValueError::new_err(format!("exclude: {error}")))?;
        Ok(options)
    }
}

/// Returns the algorithms with these names, in order. All of them can be computed with this key.
///
/// # Errors
/// As [`named`]. Also TypeError for a missing or useless key, and ValueError for a key of the wrong
/// length.
pub(crate) fn algorithms(names: &[String], key: Option<&Key>) -> PyResult<Vec<Algorithm>> {
    let found = named(names)?;
    for algorithm in &found {
        let Some(bytes) = algorithm.key_len() else { continue };
        match key {
            None if algorithm.needs_key() => {
                let words = format!("{algorithm} needs key=, a secret of {bytes} bytes");
                return Err(PyTypeError::new_err(words));
            }
            Some(key) if !key.fits(*algorithm) => {
                let other = KEY_LENGTHS.into_iter().find(|length| *length != bytes);
                let other = other.expect("there are two lengths");
                let words = format!("{algorithm} needs a key of {bytes} bytes, not {other}");
                return Err(PyValueError::new_err(words));
            }
            _ => {}
        }
    }
    if key.is_some() && !found.iter().any(|algorithm| algorithm.key_len().is_some()) {
        let names = names.join(", ");
        return Err(PyTypeError::new_err(format!(
            "key= has no effect for {names}; use siphash24 or blake3"
        )));
    }
    Ok(found)
}

/// Returns the algorithms with these names, in order.
///
/// # Errors
/// ValueError for no name, an unknown one, or one that occurs twice.
pub(crate) fn named(names: &[String]) -> PyResult<Vec<Algorithm>> {
    let mut found = Vec::new();
    for name in names {
        let algorithm = algorithm(name)?;
        if found.contains(&algorithm) {
            return Err(PyValueError::new_err(format!("algorithms: {algorithm} occurs twice")));
        }
        found.push(algorithm);
    }
    if found.is_empty() {
        return Err(PyValueError::new_err(
            "algorithms is empty; pass at least one, for example 'md5'",
        ));
    }
    Ok(found)
}

/// Returns the column names of the algorithms with these names.
#[pyfunction]
pub(crate) fn algorithms_named(names: Vec<String>) -> PyResult<Vec<&'static str>> {
    Ok(named(&names)?.into_iter().map(Algorithm::name).collect())
}

/// # Errors
/// ValueError, which lists the known names.
pub(crate) fn algorithm(name: &str) -> PyResult<Algorithm> {
    crate::algorithm::of_files(name).ok_or_else(|| {
        let known = Algorithm::ALL.map(Algorithm::name).join(", ");
        PyValueError::new_err(format!("unknown algorithm {name:?}; use one of {known}"))
    })
}

/// Returns the names of all algorithms.
#[pyfunction]
pub(crate) fn algorithm_names() -> Vec<&'static str> {
    Algorithm::ALL.map(Algorithm::name).to_vec()
}

/// Returns a set of algorithms.
pub(crate) fn set(algorithms: &[Algorithm]) -> Algorithms {
    algorithms.iter().copied().collect()
}

/// Returns the format with a name, for reading.
///
/// # Errors
/// ValueError, which lists the known names.
pub(crate) fn read_format(name: &str) -> PyResult<Kind> {
    format(name, Kind::ALL.into_iter())
}

/// Returns the format with a name. Messages list the known ones.
///
/// # Errors
/// ValueError, which lists the known names.
pub(crate) fn format(name: &str, known: impl Iterator<Item = Kind>) -> PyResult<Kind> {
    name.to_ascii_lowercase().parse().map_err(|_| {
        let known: Vec<_> = known.map(Kind::name).collect();
        let known = known.join(", ");
        PyValueError::new_err(format!("unknown format {name:?}; use one of {known}"))
    })
}

/// # Errors
/// ValueError, which names the invalid size.
pub(crate) fn part_sizes(texts: &[String]) -> PyResult<Vec<PartSize>> {
    let parse = |text: &String| {
        let bad = |error| PyValueError::new_err(format!("part_size={text:?}: {error}"));
        text.parse().map_err(bad)
    };
    texts.iter().map(parse).collect()
}

/// Returns the Python exception of a system error, with the number and the file name.
pub(crate) fn os_error(error: &io::Error, path: &Path) -> PyErr {
    let message = lanesum_checksum::error::message(error);
    let path = path.as_os_str().to_owned();
    match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, message, path)),
        None => PyOSError::new_err(format!("{}: {message}", path.display())),
    }
}

/// Returns an optional path.
pub(crate) fn optional_path(given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<PathBuf>> {
    given.map(names::path).transpose()
}
