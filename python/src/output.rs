//! The forms of digests, and arrays of them.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, FixedSizeBinaryArray, StringArray, UInt64Array};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::algorithm::{Digests, Function, Places};
use crate::bytes;
use crate::hex;

/// The form of digests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// Bytes.
    Binary,
    /// Hexadecimal digits in lower case.
    Hex,
    /// A number, for 64-bit algorithms.
    Uint64,
}

impl Output {
    /// Returns the output with a name. `binary` is the function's name for bytes.
    pub(crate) fn named(name: &str, binary: &str, function: &Function) -> PyResult<Self> {
        let algorithm = function.algorithm();
        match name {
            "hex" => Ok(Self::Hex),
            "uint64" if algorithm.digest_len() == 8 => Ok(Self::Uint64),
            "uint64" => Err(PyValueError::new_err(format!(
                "output=\"uint64\" needs a 64-bit algorithm such as siphash24; {algorithm} has {} bits",
                8 * algorithm.digest_len()
            ))),
            _ if name == binary => Ok(Self::Binary),
            _ => Err(PyValueError::new_err(format!(
                "unknown output {name:?}; use {binary}, hex or uint64"
            ))),
        }
    }

    /// Returns the output of surrogate keys with a name.
    pub(crate) fn of_key(name: &str) -> PyResult<Self> {
        match name {
            "hex" => Ok(Self::Hex),
            "binary" => Ok(Self::Binary),
            _ => Err(PyValueError::new_err(format!(
                "unknown output {name:?} of surrogate keys; use hex or binary"
            ))),
        }
    }

    /// Returns the type of its arrays.
    pub(crate) fn data_type(self, function: &Function) -> DataType {
        match self {
            Self::Binary => DataType::FixedSizeBinary(function.algorithm().digest_len() as i32),
            Self::Hex => DataType::Utf8,
            Self::Uint64 => DataType::UInt64,
        }
    }

    /// Returns the maximum number of rows of an array. Text has 31-bit offsets.
    pub(crate) const fn most_rows(self) -> usize {
        match self {
            Self::Hex => i32::MAX as usize / 32,
            Self::Binary | Self::Uint64 => usize::MAX,
        }
    }
}

/// Digests that become an array.
pub(crate) enum Rendering {
    Digests(Output, Digests),
    Digits {
        /// The digits of all digests, each of `width` bytes.
        digits: Vec<u8>,
        width: usize,
        /// The digests of some rows, before their digits are written.
        some: Digests,
    },
}

/// The number of rows that are hashed before their digits are written. Their digests stay in the L2
/// cache.
const SOME: usize = 1 << 16;

impl Rendering {
    /// Allocates the digests of `count` rows.
    ///
    /// # Errors
    /// `MemoryError` if there is not enough memory.
    pub(crate) fn new(output: Output, function: &Function, count: usize) -> PyResult<Self> {
        if output == Output::Hex {
            let width = function.algorithm().digest_len();
            let digits = bytes::zeros(count.saturating_mul(2 * width))?;
            return Ok(Self::Digits { digits, width, some: Digests::new(function, 0)? });
        }
        Ok(Self::Digests(output, Digests::new(function, count)?))
    }

    /// Returns the number of rows to hash at a time, at most `most`.
    pub(crate) const fn step(&self, most: usize) -> usize {
        match self {
            Self::Digests(..) => most,
            Self::Digits { .. } => SOME,
        }
    }

    /// Calls `hash` with the destination of a range of rows.
    pub(crate) fn fill<E>(
        &mut self,
        range: Range<usize>,
        hash: impl FnOnce(Places<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::Digests(_, digests) => hash(digests.places(range)),
            Self::Digits { digits, width, some } => {
                some.make_room(range.len());
                hash(some.places(0..range.len()))?;
                let digits = &mut digits[2 * *width * range.start..2 * *width * range.end];
                match some {
                    Digests::Narrow(numbers) => {
                        let places = digits.chunks_exact_mut(16);
                        for (number, digits) in numbers.iter().zip(places) {
                            hex::encode(&number.to_le_bytes(), digits);
                        }
                    }
                    Digests::Wide(some) => {
                        hex::encode(some[..range.len()].as_flattened(), digits);
                    }
                }
                Ok(())
            }
        }
    }

    /// Returns the array of all digests.
    ///
    /// # Errors
    /// `MemoryError` if there is not enough memory.
    pub(crate) fn array(self, nulls: Option<NullBuffer>) -> PyResult<ArrayRef> {
        Ok(match self {
            Self::Digests(Output::Uint64, Digests::Narrow(numbers)) => {
                Arc::new(UInt64Array::new(numbers.into(), nulls))
            }
            Self::Digests(_, Digests::Narrow(mut numbers)) => {
                // Does nothing on little-endian CPUs.
                numbers.iter_mut().for_each(|number| *number = number.to_le());
                Arc::new(FixedSizeBinaryArray::new(8, Buffer::from_vec(numbers), nulls))
            }
            Self::Digests(_, Digests::Wide(digests)) => {
                let bytes = Buffer::from_vec(digests.into_flattened());
                Arc::new(FixedSizeBinaryArray::new(16, bytes, nulls))
            }
            Self::Digits { digits, width, .. } => Arc::new(texts(digits, 2 * width, nulls)?),
        })
    }
}

/// Returns texts of one width.
fn texts(digits: Vec<u8>, width: usize, nulls: Option<NullBuffer>) -> PyResult<StringArray> {
    let mut offsets = bytes::room(digits.len() / width + 1)?;
    offsets.extend((0..=digits.len()).step_by(width).map(|offset| offset as i32));
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let digits = Buffer::from_vec(digits);
    Ok(StringArray::try_new(offsets, digits, nulls).expect("digits are ASCII, at equal distances"))
}
