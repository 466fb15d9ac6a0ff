//! Compares two lists or trees. The result has a row for each file of either side.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use arrow_array::builder::{Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use lanesum_checksum::check::{List, ListError};
use lanesum_checksum::compare::{
    Basis, Class, Comparison, Difference, Differences, Doubts, Input, Options, SideError,
};
use lanesum_list::{Algorithm, Dialect, Ending};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use super::batches::{Batches, internal};
use super::names::{self, NamesBuilder};
use super::options::{self, ReadOptions, Walking, os_error};
use super::watch::Watch;
use crate::words::{self, SAYS, counted};

/// The options of a comparison. A dict in Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Comparing {
    quick: bool,
    strip: bool,
    algorithm: Option<String>,
    from: Option<String>,
    part_sizes: Vec<String>,
    zero: bool,
}

/// Compares two sides, each a directory or a list. Returns the rows, messages about the sides, and
/// whether both are equal. `opened` has the path to open for each side.
#[pyfunction]
pub(crate) fn compare_sides(
    py: Python<'_>,
    sides: &Bound<'_, PyAny>,
    opened: &Bound<'_, PyAny>,
    comparing: Comparing,
    walking: Walking,
    reading: ReadOptions<'_>,
) -> PyResult<(Batches, Vec<String>, bool)> {
    let (engine, mut watch) = reading.engine()?;
    let (inputs, opened) = (inputs(sides)?, inputs(opened)?);
    let options = options(&comparing, &walking)?;
    let (dialect, is_told) = (options.dialect, comparing.algorithm.is_some());
    let mut comparison = prepare(py, &inputs, opened, options, &mut watch)?;
    let mut problems = Vec::new();
    let is_usable = tell_doubts(&inputs, &comparison, &mut problems);
    if is_usable {
        let mut raised = Ok(());
        let is_read = py.detach(|| {
            comparison.read_while(&engine, || {
                raised = Python::attach(|py| watch.look(py));
                raised.is_ok()
            })
        });
        raised?;
        watch.look(py)?;
        debug_assert!(is_read, "only an exception ends it early");
    }
    let differences = py.detach(|| comparison.finish());
    let are_doubts = differences.doubts().iter().any(Doubts::are_there);
    let is_well = is_usable && is_all_equal(&differences) && !are_doubts;
    tell_other_algorithms(&inputs, &differences, dialect, is_told, &mut problems);
    if differences.iter().next().is_none() {
        problems.push("nothing was compared: neither side has files".to_owned());
    }
    // If one side is unusable, nothing is known about any file.
    let rows = if is_usable { rows(differences.iter()) } else { rows(std::iter::empty()) };
    Ok((rows?, problems, is_well))
}

fn inputs(given: &Bound<'_, PyAny>) -> PyResult<[Input; 2]> {
    let [before, now] = given.extract::<[Bound<'_, PyAny>; 2]>()?;
    Ok([input(&before)?, input(&now)?])
}

/// A directory is a tree, and any other file is a list.
fn input(given: &Bound<'_, PyAny>) -> PyResult<Input> {
    let path = names::path(given)?;
    let metadata = std::fs::metadata(&path).map_err(|error| os_error(&error, &path))?;
    Ok(if metadata.is_dir() { Input::Tree(path) } else { Input::List(List::Path(path)) })
}

fn path(input: &Input) -> &Path {
    match input {
        Input::List(List::Path(path)) | Input::Tree(path) => path,
        _ => Path::new(""),
    }
}

fn options(comparing: &Comparing, walking: &Walking) -> PyResult<Options> {
    let mut options = Options::default();
    options.quick = comparing.quick;
    options.strip = comparing.strip;
    if let Some(name) = &comparing.algorithm {
        let algorithm = options::algorithm(name)?;
        if algorithm.needs_key() {
            let words =
                format!("compare() does not support the keyed algorithm {algorithm}; use check()");
            return Err(PyValueError::new_err(words));
        }
        options.algorithms = algorithm.into();
        options.dialect = Dialect::untagged_as(algorithm);
    }
    if comparing.zero {
        options.dialect = options.dialect.with_ending(Ending::Nul);
    }
    options.from = comparing.from.as_deref().map(options::read_format).transpose()?;
    options.part_sizes = options::part_sizes(&comparing.part_sizes)?;
    options.walk = walking.options()?;
    Ok(options)
}

/// Reads lists and walks directories in a thread. Messages name the paths of `inputs`. If the
/// caller is interrupted, the thread ends by itself later; it holds only memory.
fn prepare(
    py: Python<'_>,
    inputs: &[Input; 2],
    opened: [Input; 2],
    options: Options,
    watch: &mut Watch,
) -> PyResult<Comparison> {
    let (send, mut receive) = mpsc::channel();
    // The caller may no longer wait.
    let work = move || drop(send.send(Comparison::prepare(&opened, &options)));
    let walker = thread::Builder::new().name("compare".to_owned()).spawn(work);
    walker.map_err(|error| os_error(&error, path(&inputs[0])))?;
    loop {
        // It moves there and back, because only one thread at a time may have it.
        let (back, prepared) = py.detach(move || {
            let prepared = receive.recv_timeout(Duration::from_millis(50));
            (receive, prepared)
        });
        receive = back;
        watch.look(py)?;
        match prepared {
            Ok(prepared) => return prepared.map_err(|why| side_error(&why, inputs)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let words = "internal error: the thread that reads the sides panicked";
                return Err(PyRuntimeError::new_err(words));
            }
        }
    }
}

fn side_error(why: &SideError, inputs: &[Input; 2]) -> PyErr {
    let path = path(&inputs[why.side]);
    match &why.error {
        ListError::Open(error) | ListError::Read(error) => os_error(error, path),
        error => PyValueError::new_err(format!("{}: {}", path.display(), words::of_list(error))),
    }
}

/// Reports problems of the sides. Returns whether both are usable.
fn tell_doubts(inputs: &[Input; 2], comparison: &Comparison, problems: &mut Vec<String>) -> bool {
    let mut is_usable = true;
    let sides = inputs.iter().zip(comparison.doubts()).zip(comparison.entries());
    for ((input, doubts), entries) in sides {
        let side = path(input).display();
        for (path, why) in &doubts.skipped {
            problems.push(format!("{}: {why}", path.display()));
        }
        if !doubts.would_be_seen_from.is_empty() {
            let prefix = String::from_utf8_lossy(&doubts.would_be_seen_from);
            let words = "from its names, more of its files exist";
            problems.push(format!("{side}: with strip=True, which removes {prefix} {words}"));
        }
        if doubts.unknown > 0 {
            let names: Vec<_> = doubts.unknown_algorithms.iter().map(String::as_str).collect();
            let (lines, names) = (counted(doubts.unknown, "line"), names.join(", "));
            problems.push(format!("{side}: {lines} not compared: unknown algorithm {names}"));
        }
        if let Some((line, why)) = &doubts.first_malformed {
            problems.push(match doubts.malformed {
                1 => format!("{side}: line {line}: {why}"),
                lines => format!("{side}: {lines} invalid lines; first: line {line}: {why}"),
            });
        }
        let is_list = matches!(input, Input::List(_));
        if is_list && entries == 0 {
            problems.push(format!(
                "{side}: contains no checksum lines; a side must be a list or a directory"
            ));
        }
        is_usable &= entries > 0 || !is_list;
    }
    is_usable
}

/// Reports a list of which no digest matches. It may have another algorithm or key.
fn tell_other_algorithms(
    inputs: &[Input; 2],
    differences: &Differences,
    dialect: Dialect,
    is_told: bool,
    problems: &mut Vec<String>,
) {
    let doubtful = differences.doubtful();
    for (input, doubts) in inputs.iter().zip(differences.doubts()) {
        let Input::List(list) = input else { continue };
        let mut tell = |words: &str| problems.push(format!("{}: {words}", path(input).display()));
        for taken_for in doubts.untagged.intersection(doubtful).iter().filter(|_| !is_told) {
            if let Some(doubt) = SAYS.of_untagged(list, dialect, taken_for, false) {
                tell(&words::of_doubt(doubt));
            }
        }
        if doubtful.contains(Algorithm::Blake3) {
            tell("no BLAKE3 digest matches; if they were made with a key, use check() with key=");
        }
    }
}

/// A comparison without files is not equal.
fn is_all_equal(differences: &Differences) -> bool {
    let is_same = |it: Difference<'_>| matches!(it.class, Class::Equal | Class::Alike);
    differences.iter().next().is_some() && differences.iter().all(is_same)
}

fn basis(it: &Difference<'_>) -> Option<&'static str> {
    Some(match it.basis? {
        Basis::Digest => "digest",
        Basis::Size => "size",
        Basis::SizeAndTime => "size and time",
        Basis::Name => "name",
        _ => return None,
    })
}

fn rows<'a>(differences: impl Iterator<Item = Difference<'a>>) -> PyResult<Batches> {
    let (mut names, mut from) = (NamesBuilder::default(), NamesBuilder::default());
    let [mut classes, mut bases, mut reasons] = [(); 3].map(|()| StringBuilder::new());
    let (mut size_before, mut size) = (Int64Builder::new(), Int64Builder::new());
    let number = |size: Option<u64>| size.and_then(|size| i64::try_from(size).ok());
    for it in differences {
        names.push(Some(it.name));
        from.push(it.from);
        classes.append_value(it.class.name());
        size_before.append_option(number(it.size_before));
        size.append_option(number(it.size));
        bases.append_option(basis(&it));
        reasons.append_option(it.reason.map(words::of_reason));
    }
    let ([path, path_bytes], [from, from_bytes]) = (names.finish(), from.finish());
    let columns: [(&str, ArrayRef); 9] = [
        ("path", path),
        ("class", Arc::new(classes.finish())),
        ("from", from),
        ("size_before", Arc::new(size_before.finish())),
        ("size", Arc::new(size.finish())),
        ("basis", Arc::new(bases.finish())),
        ("reason", Arc::new(reasons.finish())),
        ("path_bytes", path_bytes),
        ("from_bytes", from_bytes),
    ];
    let columns = columns.map(|(name, column)| (name, column, true));
    Ok(Batches::one(RecordBatch::try_from_iter_with_nullable(columns).map_err(internal)?))
}
