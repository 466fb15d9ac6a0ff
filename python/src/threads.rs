//! Hashes the rows of columns on one thread or several.

use std::num::NonZero;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::algorithm::Algorithm;
use crate::digests::Places;
use crate::output::Part;
use crate::panics::unless_it_panics;
use crate::signals::LOOK;

/// The largest number of threads.
const MOST: usize = 1024;

/// A number of threads, as an argument.
pub(crate) struct Threads(pub(crate) usize);

impl FromPyObject<'_, '_> for Threads {
    type Error = PyErr;

    /// Takes an int, or None for one thread per CPU.
    fn extract(given: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if given.is_none() {
            return Ok(Self(thread::available_parallelism().map_or(1, NonZero::get)));
        }
        let class = given.get_type().name()?;
        if class != "int" {
            let problem = format!("threads must be an int or None, not {class}");
            return Err(PyTypeError::new_err(problem));
        }
        let count = given.extract().ok().filter(|count| (1..=MOST).contains(count));
        count.map(Self).ok_or_else(|| {
            PyValueError::new_err(format!(
                "threads={} must be from 1 to {MOST}, or None for one per CPU",
                *given
            ))
        })
    }
}

/// Fills parts of arrays, each with the number of its array. `hash` writes the digests of rows of
/// an array.
///
/// # Errors
/// The first error of `hash`, an exception of a signal handler, and `ValueError` if bounds no
/// longer hold, because another thread wrote to the rows.
pub(crate) fn fill(
    py: Python<'_>,
    threads: usize,
    algorithm: &Algorithm,
    parts: Vec<(usize, Part<'_>)>,
    hash: impl Fn(usize, Range<usize>, Places<'_>) -> PyResult<()> + Sync,
) -> PyResult<()> {
    let threads = threads.min(parts.len());
    let queue = Mutex::new(parts.into_iter());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = |is_caller: bool| {
        let mut some = None;
        let mut looked = Instant::now();
        while let Some((array, part)) = next() {
            let fill = || part.fill(algorithm, &mut some, |rows, places| hash(array, rows, places));
            let filled = unless_it_panics(fill).unwrap_or_else(|| Err(of_changes()));
            let filled = filled.and_then(|()| {
                if is_caller && looked.elapsed() >= LOOK {
                    looked = Instant::now();
                    return Python::attach(|py| py.check_signals());
                }
                Ok(())
            });
            if filled.is_err() {
                // The other threads end, too.
                while next().is_some() {}
                return filled;
            }
        }
        Ok(())
    };
    py.detach(|| {
        thread::scope(|scope| {
            // If the system has no more threads, those that started do the work.
            let start = |_| thread::Builder::new().spawn_scoped(scope, || work(false)).ok();
            let others: Vec<_> = (1..threads).filter_map(start).collect();
            let own = work(true);
            let others = others.into_iter().map(|thread| thread.join().expect("panics are caught"));
            others.fold(own, Result::and)
        })
    })?;
    py.check_signals()
}

fn of_changes() -> PyErr {
    PyValueError::new_err("the rows changed while they were hashed; pass a copy of them")
}
