//! What every reading function of the package is told, as the engine has it.

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

/// In bytes, of SipHash and of BLAKE3.
const KEY_LENGTHS: [usize; 2] = [16, 32];

/// How files are read. A dict in Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ReadOptions<'py> {
    threads: usize,
    io: String,
    key: Option<Vec<u8>>,
    progress: Bound<'py, PyAny>,
}

impl ReadOptions<'_> {
    /// As the engine has it, with somebody who looks at it.
    ///
    /// # Errors
    /// ValueError.
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

    /// `auto` is what a guest in somebody else's process may do: mapped files need a handler for
    /// SIGBUS, which is the process's own.
    fn io(&self) -> PyResult<Io> {
        let io = match &*self.io {
            "auto" => Io::Read,
            name => Io::ALL.into_iter().find(|io| io.name() == name).ok_or_else(|| {
                let known = Io::ALL.map(Io::name).join(", ");
                PyValueError::new_err(format!("io={name:?}: the ways to read are {known}"))
            })?,
        };
        io.check().map(|()| io).map_err(|error| os_error(&error, Path::new("io_uring")))
    }

    fn key(&self) -> PyResult<Option<Key>> {
        let Some(key) = &self.key else { return Ok(None) };
        let parsed = KEY_LENGTHS.contains(&key.len()).then(|| Key::from_bytes(key)).flatten();
        parsed.map(Some).ok_or_else(|| {
            let words =
                format!("a key of {} bytes: siphash takes 16 bytes, blake3 takes 32", key.len());
            PyValueError::new_err(words)
        })
    }
}

/// How folders are walked. A dict in Python.
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
    /// ValueError of a pattern that is none.
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

/// The algorithms of these names, in their order, all of which can be computed with this key.
///
/// # Errors
/// As [`named`]; TypeError where there is a key too many or none, ValueError where it has another
/// length.
pub(crate) fn algorithms(names: &[String], key: Option<&Key>) -> PyResult<Vec<Algorithm>> {
    let found = named(names)?;
    for algorithm in &found {
        let Some(bytes) = algorithm.key_len() else { continue };
        match key {
            None if algorithm.needs_key() => {
                let words = format!("{algorithm} takes a key of {bytes} bytes: give key=");
                return Err(PyTypeError::new_err(words));
            }
            Some(key) if !key.fits(*algorithm) => {
                let other = KEY_LENGTHS.into_iter().find(|length| *length != bytes);
                let other = other.expect("there are two");
                let words = format!("{algorithm} takes a key of {bytes} bytes, not of {other}");
                return Err(PyValueError::new_err(words));
            }
            _ => {}
        }
    }
    if key.is_some() && !found.iter().any(|algorithm| algorithm.key_len().is_some()) {
        let names = names.join(", ");
        return Err(PyTypeError::new_err(format!(
            "key= does nothing for {names}; none of these takes one"
        )));
    }
    Ok(found)
}

/// The algorithms of these names, in their order.
///
/// # Errors
/// ValueError where there is none, or that names one that is unknown or stands there twice.
pub(crate) fn named(names: &[String]) -> PyResult<Vec<Algorithm>> {
    let mut found = Vec::new();
    for name in names {
        let algorithm = algorithm(name)?;
        if found.contains(&algorithm) {
            return Err(PyValueError::new_err(format!(
                "algorithms: {algorithm} stands there twice"
            )));
        }
        found.push(algorithm);
    }
    if found.is_empty() {
        return Err(PyValueError::new_err("algorithms: name at least one, like 'md5'"));
    }
    Ok(found)
}

/// The names of the algorithms of these names, as columns have them.
#[pyfunction]
pub(crate) fn algorithms_named(names: Vec<String>) -> PyResult<Vec<&'static str>> {
    Ok(named(&names)?.into_iter().map(Algorithm::name).collect())
}

/// # Errors
/// ValueError that says what there is.
pub(crate) fn algorithm(name: &str) -> PyResult<Algorithm> {
    crate::algorithm::parse(name).ok_or_else(|| {
        let known = Algorithm::ALL.map(Algorithm::name).join(", ");
        PyValueError::new_err(format!("unknown algorithm {name:?}; there are {known}"))
    })
}

/// The names of all algorithms.
#[pyfunction]
pub(crate) fn algorithm_names() -> Vec<&'static str> {
    Algorithm::ALL.map(Algorithm::name).to_vec()
}

/// As a set.
pub(crate) fn set(algorithms: &[Algorithm]) -> Algorithms {
    algorithms.iter().copied().collect()
}

/// The format of a name, of which lists are read.
///
/// # Errors
/// ValueError that says what there is.
pub(crate) fn read_format(name: &str) -> PyResult<Kind> {
    format(name, Kind::ALL.into_iter())
}

/// The format of a name; messages name the known ones.
///
/// # Errors
/// ValueError that says what there is.
pub(crate) fn format(name: &str, known: impl Iterator<Item = Kind>) -> PyResult<Kind> {
    name.to_ascii_lowercase().parse().map_err(|_| {
        let known: Vec<_> = known.map(Kind::name).collect();
        let known = known.join(", ");
        PyValueError::new_err(format!("unknown format {name:?}; there are {known}"))
    })
}

/// # Errors
/// ValueError that names the wrong one.
pub(crate) fn part_sizes(texts: &[String]) -> PyResult<Vec<PartSize>> {
    let parse = |text: &String| {
        let bad = |error| PyValueError::new_err(format!("part_size={text:?}: {error}"));
        text.parse().map_err(bad)
    };
    texts.iter().map(parse).collect()
}

/// The system's refusal as Python has it: the exception of its number, with the file's name.
pub(crate) fn os_error(error: &io::Error, path: &Path) -> PyErr {
    let message = lanesum_checksum::error::message(error);
    let path = path.as_os_str().to_owned();
    match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, message, path)),
        None => PyOSError::new_err(format!("{}: {message}", path.display())),
    }
}

/// A path of Python's, where one may be missing.
pub(crate) fn optional_path(given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<PathBuf>> {
    given.map(names::path).transpose()
}
