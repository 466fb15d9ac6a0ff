//! The algorithms of hash objects and columns, with their keys.

use std::ops::Range;

use lanesum_list::Algorithm;
use lanesum_md5::md5_many_into_with;
use lanesum_siphash::{KEY_LEN, Offset, SipHash, SipHash13, SipHash24, WithBackend};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::backend;
use crate::bytes;

/// The number of inputs that SipHash hashes at a time, unless all inputs come at once. Their slices
/// stay in the L2 cache.
const GROUP: usize = 4096;

/// An algorithm, with its key if it takes one.
#[derive(Clone, Copy)]
pub(crate) enum Function {
    Md5,
    Siphash24(SipHash24),
    Siphash13(SipHash13),
    Siphash24Wide(SipHash24),
    Siphash13Wide(SipHash13),
}

/// The algorithms of [`Function`], in the order of messages.
pub(crate) const ALL: [Algorithm; 5] = [
    Algorithm::Md5,
    Algorithm::Siphash24,
    Algorithm::Siphash13,
    Algorithm::Siphash24Wide,
    Algorithm::Siphash13Wide,
];

/// Returns the algorithm with a name. `_` may stand for `-`, because Python's identifiers have no
/// `-`.
pub(crate) fn parse(name: &str) -> Option<Algorithm> {
    name.parse().or_else(|_| name.replace('_', "-").parse()).ok()
}

/// The key argument of a Python function.
pub(crate) type Key<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

impl Function {
    /// Returns the function with a name.
    pub(crate) fn named(name: &str, key: Key<'_, '_>) -> PyResult<Self> {
        let found = parse(name).filter(|found| ALL.contains(found));
        Self::new(found.ok_or_else(|| unknown(name))?, key)
    }

    /// # Errors
    /// `TypeError` for a missing or useless key, `ValueError` for a key of the wrong length.
    pub(crate) fn new(algorithm: Algorithm, key: Key<'_, '_>) -> PyResult<Self> {
        if algorithm == Algorithm::Md5 {
            return match key {
                None => Ok(Self::Md5),
                Some(_) => {
                    Err(PyTypeError::new_err("md5 takes no key; use siphash24 for keyed hashes"))
                }
            };
        }
        let key = key_of(algorithm, key)?;
        Ok(match algorithm {
            Algorithm::Siphash24 => Self::Siphash24(SipHash::new(&key)),
            Algorithm::Siphash13 => Self::Siphash13(SipHash::new(&key)),
            Algorithm::Siphash24Wide => Self::Siphash24Wide(SipHash::new(&key)),
            Algorithm::Siphash13Wide => Self::Siphash13Wide(SipHash::new(&key)),
            other => return Err(unknown(other.name())),
        })
    }

    pub(crate) const fn algorithm(&self) -> Algorithm {
        match self {
            Self::Md5 => Algorithm::Md5,
            Self::Siphash24(_) => Algorithm::Siphash24,
            Self::Siphash13(_) => Algorithm::Siphash13,
            Self::Siphash24Wide(_) => Algorithm::Siphash24Wide,
            Self::Siphash13Wide(_) => Algorithm::Siphash13Wide,
        }
    }

    /// Writes the digest of each row to its place.
    ///
    /// # Panics
    /// If the number of places differs, or they are not from [`Digests::new`] for this function.
    pub(crate) fn hash<'a>(
        &self,
        rows: impl ExactSizeIterator<Item = &'a [u8]>,
        places: Places<'_>,
    ) {
        match (self, places) {
            (Self::Md5, Places::Wide(out)) => md5_many_into_with(backend::current(), rows, out),
            (Self::Siphash24(sip), Places::Narrow(out)) => narrow(sip, rows, out),
            (Self::Siphash13(sip), Places::Narrow(out)) => narrow(sip, rows, out),
            (Self::Siphash24Wide(sip), Places::Wide(out)) => wide(sip, rows, out),
            (Self::Siphash13Wide(sip), Places::Wide(out)) => wide(sip, rows, out),
            _ => unreachable!("digests of another function"),
        }
    }

    /// Like [`hash`](Self::hash), for the pieces of a buffer between adjacent offsets.
    ///
    /// # Panics
    /// As [`Function::hash`], and if offsets decrease or are outside the buffer.
    pub(crate) fn hash_offsets<O: Offset>(
        &self,
        buffer: &[u8],
        offsets: &[O],
        at: impl Fn(&O) -> usize,
        places: Places<'_>,
    ) {
        let backend = backend::current();
        match (self, places) {
            (Self::Siphash24(sip), Places::Narrow(out)) => {
                sip.with_backend(backend).hash_offsets(buffer, offsets, out);
            }
            (Self::Siphash13(sip), Places::Narrow(out)) => {
                sip.with_backend(backend).hash_offsets(buffer, offsets, out);
            }
            (_, places) => {
                let pieces = offsets.windows(2).map(|ends| &buffer[at(&ends[0])..at(&ends[1])]);
                self.hash(pieces, places);
            }
        }
    }

    /// Like [`hash`](Self::hash), for the eight little-endian bytes of each number.
    pub(crate) fn hash_numbers(&self, numbers: &[u64], places: Places<'_>) {
        let backend = backend::current();
        match (self, places) {
            (Self::Siphash24(sip), Places::Narrow(out)) => {
                sip.with_backend(backend).hash_u64s(numbers, out);
            }
            (Self::Siphash13(sip), Places::Narrow(out)) => {
                sip.with_backend(backend).hash_u64s(numbers, out);
            }
            (_, places) => {
                let numbers: Vec<[u8; 8]> = numbers.iter().map(|n| n.to_le_bytes()).collect();
                self.hash(numbers.iter().map(|bytes| &bytes[..]), places);
            }
        }
    }
}

fn narrow<'a, const C: usize, const D: usize>(
    sip: &SipHash<C, D>,
    rows: impl ExactSizeIterator<Item = &'a [u8]>,
    out: &mut [u64],
) {
    let lanes = sip.with_backend(backend::current());
    in_groups(&lanes, rows, out, |hashes, out| out.copy_from_slice(hashes));
}

fn wide<'a, const C: usize, const D: usize>(
    sip: &SipHash<C, D>,
    rows: impl ExactSizeIterator<Item = &'a [u8]>,
    out: &mut [[u8; 16]],
) {
    let lanes = sip.with_backend(backend::current());
    in_groups(&lanes, rows, out, |hashes: &[u128], out| {
        for (place, hash) in out.iter_mut().zip(hashes) {
            *place = hash.to_le_bytes();
        }
    });
}

/// Hashes rows group by group, and passes each group's hashes and places to `put`.
fn in_groups<'a, H: lanesum_siphash::Output, T, const C: usize, const D: usize>(
    lanes: &WithBackend<C, D>,
    mut rows: impl ExactSizeIterator<Item = &'a [u8]>,
    out: &mut [T],
    put: impl Fn(&[H], &mut [T]),
) {
    assert_eq!(rows.len(), out.len(), "rows and digests");
    let mut slices = Vec::with_capacity(GROUP.min(out.len()));
    let mut hashes = vec![H::default(); GROUP.min(out.len())];
    for places in out.chunks_mut(GROUP) {
        slices.clear();
        slices.extend(rows.by_ref().take(places.len()));
        let hashes = &mut hashes[..places.len()];
        lanes.hash_many(&slices, hashes);
        put(hashes, places);
    }
}

/// The digests of many inputs: numbers if they have 64 bits, bytes if they have 128.
pub(crate) enum Digests {
    Narrow(Vec<u64>),
    Wide(Vec<[u8; 16]>),
}

/// The destination of digests.
pub(crate) enum Places<'a> {
    Narrow(&'a mut [u64]),
    Wide(&'a mut [[u8; 16]]),
}

impl Digests {
    /// Allocates `count` digests.
    ///
    /// # Errors
    /// `MemoryError` if there is not enough memory.
    pub(crate) fn new(function: &Function, count: usize) -> PyResult<Self> {
        Ok(match function.algorithm().digest_len() {
            8 => Self::Narrow(bytes::zeros(count)?),
            _ => Self::Wide(bytes::zeros(count)?),
        })
    }

    /// Grows to at least `count` digests.
    pub(crate) fn make_room(&mut self, count: usize) {
        match self {
            Self::Narrow(numbers) if numbers.len() < count => numbers.resize(count, 0),
            Self::Wide(digests) if digests.len() < count => digests.resize(count, [0; 16]),
            _ => {}
        }
    }

    pub(crate) fn places(&mut self, range: Range<usize>) -> Places<'_> {
        match self {
            Self::Narrow(numbers) => Places::Narrow(&mut numbers[range]),
            Self::Wide(bytes) => Places::Wide(&mut bytes[range]),
        }
    }
}

impl Places<'_> {
    /// Copies the digests with these indices, in this order.
    pub(crate) fn take(self, from: &Digests, numbers: impl Iterator<Item = usize>) {
        match (self, from) {
            (Places::Narrow(out), Digests::Narrow(digests)) => {
                out.iter_mut().zip(numbers).for_each(|(place, number)| *place = digests[number]);
            }
            (Places::Wide(out), Digests::Wide(digests)) => {
                out.iter_mut().zip(numbers).for_each(|(place, number)| *place = digests[number]);
            }
            _ => unreachable!("digests of another function"),
        }
    }
}

fn unknown(name: &str) -> PyErr {
    let [names @ .., last] = &ALL.map(Algorithm::name);
    let names = names.join(", ");
    let elsewhere = match parse(name) {
        Some(_) => "; hash_files() and hash_tree() support it for files",
        None => "",
    };
    PyValueError::new_err(format!("unknown algorithm {name:?}; use {names} or {last}{elsewhere}"))
}

fn key_of(algorithm: Algorithm, key: Key<'_, '_>) -> PyResult<[u8; KEY_LEN]> {
    let key = key.ok_or_else(|| {
        PyTypeError::new_err(format!("{algorithm} needs key=, a secret of {KEY_LEN} bytes"))
    })?;
    let bytes = bytes::copy(key).map_err(|error| {
        if !error.is_instance_of::<PyTypeError>(key.py()) {
            return error;
        }
        match key.get_type().name() {
            Ok(class) => PyTypeError::new_err(format!("key must be bytes, not {class}")),
            Err(error) => error,
        }
    })?;
    <[u8; KEY_LEN]>::try_from(&bytes[..]).map_err(|_| {
        let found = bytes.len();
        PyValueError::new_err(format!("{algorithm} needs a key of {KEY_LEN} bytes, not {found}"))
    })
}
