//! The forms of digests, and arrays of them.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, FixedSizeBinaryArray, StringArray, UInt64Array};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::algorithm::Algorithm;
use crate::bytes;
use crate::digests::{Digests, Places};
use crate::hash_column::steps;
use crate::hex;

/// The form of digests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// Bytes.
    Binary,
    /// Hexadecimal digits in lower case.
    Hex,
    /// A number, for algorithms of at most 64 bits.
    Uint64,
}

impl Output {
    /// Returns the output with a name.
    pub(crate) fn named(name: &str, algorithm: &Algorithm) -> PyResult<Self> {
        match name {
            "binary" => Ok(Self::Binary),
            "hex" => Ok(Self::Hex),
            "uint64" if algorithm.has_number() => Ok(Self::Uint64),
            "uint64" => Err(PyValueError::new_err(format!(
                "output=\"uint64\" needs a 64-bit algorithm such as siphash24; {} has {} bits",
                algorithm.name,
                8 * algorithm.digest_len
            ))),
            _ => Err(PyValueError::new_err(format!(
                "unknown output {name:?}; use binary, hex or uint64"
            ))),
        }
    }

    /// Returns the type of its arrays.
    pub(crate) const fn data_type(self, algorithm: &Algorithm) -> DataType {
        match self {
            Self::Binary => DataType::FixedSizeBinary(algorithm.digest_len as i32),
            Self::Hex => DataType::Utf8,
            Self::Uint64 => DataType::UInt64,
        }
    }

    /// Returns the maximum number of rows of an array. Text has 31-bit offsets.
    pub(crate) const fn most_rows(self, algorithm: &Algorithm) -> usize {
        match self {
            Self::Hex => i32::MAX as usize / (2 * algorithm.digest_len),
            Self::Binary | Self::Uint64 => usize::MAX,
        }
    }
}

/// Digests that become an array.
pub(crate) struct Rendering {
    algorithm: &'static Algorithm,
    output: Output,
    content: Content,
}

enum Content {
    Digests(Digests),
    /// The hexadecimal digits of all digests.
    Digits(Vec<u8>),
}

/// Some rows of a [`Rendering`]. Threads fill different parts at the same time.
pub(crate) struct Part<'a> {
    pub(crate) rows: Range<usize>,
    place: Place<'a>,
}

enum Place<'a> {
    Digests(Places<'a>),
    Digits(&'a mut [u8]),
}

impl Rendering {
    /// Allocates the digests of `count` rows.
    ///
    /// # Errors
    /// `MemoryError` if there is not enough memory.
    pub(crate) fn new(
        output: Output,
        algorithm: &'static Algorithm,
        count: usize,
    ) -> PyResult<Self> {
        let content = match output {
            Output::Hex => {
                Content::Digits(bytes::zeros(count.saturating_mul(2 * algorithm.digest_len))?)
            }
            _ => Content::Digests(Digests::new(algorithm, count)?),
        };
        Ok(Self { algorithm, output, content })
    }

    /// Returns the parts of at most `step` rows each.
    pub(crate) fn parts(&mut self, step: usize) -> Vec<Part<'_>> {
        let len = self.algorithm.digest_len;
        match &mut self.content {
            Content::Digests(digests) => {
                let count = digests.len();
                let mut places = digests.places(0..count);
                let part = |rows: Range<usize>| {
                    let place = Place::Digests(places.take_first(rows.len()));
                    Part { rows, place }
                };
                steps(0..count, step).map(part).collect()
            }
            Content::Digits(digits) => {
                let rows = steps(0..digits.len() / (2 * len), step);
                let places = digits.chunks_mut(2 * len * step);
                let part = |(rows, digits)| Part { rows, place: Place::Digits(digits) };
                rows.zip(places).map(part).collect()
            }
        }
    }

    /// Returns the array of all digests.
    ///
    /// # Errors
    /// `MemoryError` if there is not enough memory.
    pub(crate) fn array(self, nulls: Option<NullBuffer>) -> PyResult<ArrayRef> {
        let Self { algorithm, output, content } = self;
        let len = algorithm.digest_len;
        Ok(match (content, output) {
            (Content::Digits(digits), _) => Arc::new(texts(digits, 2 * len, nulls)?),
            (Content::Digests(Digests::Numbers(numbers)), Output::Uint64) => {
                Arc::new(UInt64Array::new(numbers.into(), nulls))
            }
            (Content::Digests(Digests::Bytes { bytes, .. }), Output::Uint64) => {
                let mut numbers: Vec<u64> = bytes::room(bytes.len() / len)?;
                numbers.extend(bytes.chunks_exact(len).map(|digest| algorithm.number(digest)));
                Arc::new(UInt64Array::new(numbers.into(), nulls))
            }
            (Content::Digests(digests), _) => {
                Arc::new(FixedSizeBinaryArray::new(len as i32, buffer(digests), nulls))
            }
        })
    }

    /// Returns the 64-bit numbers of SipHash.
    pub(crate) fn numbers(self) -> Vec<u64> {
        match self.content {
            Content::Digests(Digests::Numbers(numbers)) => numbers,
            _ => unreachable!("an algorithm of 64 bits"),
        }
    }
}

impl Part<'_> {
    /// Calls `hash` with the places of the rows. `some` is memory for digests whose digits are
    /// written.
    ///
    /// # Errors
    /// Those of `hash`, and `MemoryError` if there is not enough memory.
    pub(crate) fn fill(
        self,
        algorithm: &Algorithm,
        some: &mut Option<Digests>,
        hash: impl FnOnce(Range<usize>, Places<'_>) -> PyResult<()>,
    ) -> PyResult<()> {
        let Self { rows, place } = self;
        let digits = match place {
            Place::Digests(places) => return hash(rows, places),
            Place::Digits(digits) => digits,
        };
        let count = rows.len();
        let some = match some {
            Some(some) if some.len() >= count => some,
            some => some.insert(Digests::new(algorithm, count)?),
        };
        hash(rows, some.places(0..count))?;
        match some {
            Digests::Numbers(numbers) => {
                for (number, digits) in numbers.iter().zip(digits.chunks_exact_mut(16)) {
                    hex::encode(&number.to_le_bytes(), digits);
                }
            }
            Digests::Bytes { bytes, len } => hex::encode(&bytes[..count * *len], digits),
        }
        Ok(())
    }
}

/// Returns the bytes of digests.
fn buffer(digests: Digests) -> Buffer {
    match digests {
        Digests::Numbers(mut numbers) => {
            // Does nothing on little-endian CPUs.
            numbers.iter_mut().for_each(|number| *number = number.to_le());
            Buffer::from_vec(numbers)
        }
        Digests::Bytes { bytes, .. } => Buffer::from_vec(bytes),
    }
}

/// Returns texts of one width, at most 2 GiB in total.
pub(crate) fn texts(
    digits: Vec<u8>,
    width: usize,
    nulls: Option<NullBuffer>,
) -> PyResult<StringArray> {
    let mut offsets = bytes::room(digits.len() / width + 1)?;
    offsets.extend((0..=digits.len()).step_by(width).map(|offset| offset as i32));
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let digits = Buffer::from_vec(digits);
    Ok(StringArray::try_new(offsets, digits, nulls).expect("digits are ASCII, at equal distances"))
}
