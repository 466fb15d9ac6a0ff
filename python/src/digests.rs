//! Digests of many inputs, and the places that they are written to.

use std::mem;
use std::ops::Range;

use pyo3::prelude::*;

use crate::algorithm::Algorithm;
use crate::bytes;

/// The digests of many inputs: numbers for SipHash of 64 bits, and otherwise bytes.
pub(crate) enum Digests {
    Numbers(Vec<u64>),
    /// Digests of `len` bytes each, one behind the other.
    Bytes {
        bytes: Vec<u8>,
        len: usize,
    },
}

/// The destination of digests.
pub(crate) enum Places<'a> {
    Numbers(&'a mut [u64]),
    Bytes { bytes: &'a mut [u8], len: usize },
}

impl Digests {
    /// Allocates `count` digests.
    ///
    /// # Errors
    /// `MemoryError` if there is not enough memory.
    pub(crate) fn new(algorithm: &Algorithm, count: usize) -> PyResult<Self> {
        let len = algorithm.digest_len;
        if algorithm.takes_numbers && len == size_of::<u64>() {
            return Ok(Self::Numbers(bytes::zeros(count)?));
        }
        Ok(Self::Bytes { bytes: bytes::zeros(count.saturating_mul(len))?, len })
    }

    /// Returns the places of a range of digests.
    pub(crate) fn places(&mut self, range: Range<usize>) -> Places<'_> {
        match self {
            Self::Numbers(numbers) => Places::Numbers(&mut numbers[range]),
            Self::Bytes { bytes, len } => {
                let bytes = &mut bytes[range.start * *len..range.end * *len];
                Places::Bytes { bytes, len: *len }
            }
        }
    }

    /// Returns the number of digests.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Bytes { bytes, len } => bytes.len() / len,
        }
    }
}

impl<'a> Places<'a> {
    /// Returns the number of digests that fit.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Bytes { bytes, len } => bytes.len() / len,
        }
    }

    /// Splits off the first places: `count`, or all if there are fewer.
    pub(crate) fn take_first(&mut self, count: usize) -> Self {
        let count = count.min(self.count());
        match self {
            Self::Numbers(numbers) => {
                let (first, rest) = mem::take(numbers).split_at_mut(count);
                *numbers = rest;
                Self::Numbers(first)
            }
            Self::Bytes { bytes, len } => {
                let (first, rest) = mem::take(bytes).split_at_mut(count * *len);
                *bytes = rest;
                Self::Bytes { bytes: first, len: *len }
            }
        }
    }

    /// Returns the places of numbers.
    ///
    /// # Panics
    /// If the places are for bytes.
    pub(crate) fn numbers(self) -> &'a mut [u64] {
        match self {
            Self::Numbers(numbers) => numbers,
            Self::Bytes { .. } => unreachable!("digests of another function"),
        }
    }

    /// Returns the places of digests with `len` bytes each.
    ///
    /// # Panics
    /// If the places are for other digests.
    pub(crate) fn bytes(self, length: usize) -> impl Iterator<Item = &'a mut [u8]> {
        match self {
            Self::Bytes { bytes, len } if len == length => bytes.chunks_exact_mut(length),
            _ => unreachable!("digests of another function"),
        }
    }

    /// Copies the digests with these indices, in this order.
    pub(crate) fn copy(self, from: &Digests, numbers: impl Iterator<Item = usize>) {
        match (self, from) {
            (Places::Numbers(out), Digests::Numbers(digests)) => {
                out.iter_mut().zip(numbers).for_each(|(place, number)| *place = digests[number]);
            }
            (places, Digests::Bytes { bytes, len }) => {
                for (place, number) in places.bytes(*len).zip(numbers) {
                    place.copy_from_slice(&bytes[number * len..][..*len]);
                }
            }
            _ => unreachable!("digests of another function"),
        }
    }
}
