//! What digests are given as, and their arrays.

use std::sync::Arc;

use arrow_array::{ArrayRef, FixedSizeBinaryArray, StringArray, UInt64Array};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::algorithm::{Digests, Function};
use crate::hex;

/// What a digest is given as.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// Its bytes.
    Binary,
    /// Hexadecimal digits in lower case, in the order of the bytes.
    Hex,
    /// A number, of an algorithm of 64 bits.
    Uint64,
}

impl Output {
    /// The one of a name; `binary` is what a function calls bytes.
    pub(crate) fn named(name: &str, binary: &str, function: &Function) -> PyResult<Self> {
        let algorithm = function.algorithm();
        match name {
            "hex" => Ok(Self::Hex),
            "uint64" if algorithm.digest_len() == 8 => Ok(Self::Uint64),
            "uint64" => Err(PyValueError::new_err(format!(
                "output=\"uint64\" needs an algorithm of 64 bits, as siphash24; {algorithm} has {}",
                8 * algorithm.digest_len()
            ))),
            _ if name == binary => Ok(Self::Binary),
            _ => Err(PyValueError::new_err(format!(
                "unknown output {name:?}; known are {binary}, hex and uint64"
            ))),
        }
    }

    /// The type of its arrays.
    pub(crate) fn data_type(self, function: &Function) -> DataType {
        match self {
            Self::Binary => DataType::FixedSizeBinary(function.algorithm().digest_len() as i32),
            Self::Hex => DataType::Utf8,
            Self::Uint64 => DataType::UInt64,
        }
    }

    /// The most rows that an array may have: the offsets of texts are numbers of 31 bits.
    pub(crate) const fn most_rows(self) -> usize {
        match self {
            Self::Hex => i32::MAX as usize / 32,
            Self::Binary | Self::Uint64 => usize::MAX,
        }
    }

    /// An array of digests.
    pub(crate) fn array(self, digests: Digests, nulls: Option<NullBuffer>) -> ArrayRef {
        match (self, digests) {
            (Self::Uint64, Digests::Narrow(numbers)) => {
                Arc::new(UInt64Array::new(numbers.into(), nulls))
            }
            (Self::Binary, digests) => {
                let (width, bytes) = bytes_of(digests);
                Arc::new(FixedSizeBinaryArray::new(width as i32, bytes, nulls))
            }
            (Self::Hex, digests) => {
                let (width, bytes) = bytes_of(digests);
                Arc::new(hex_array(width, &bytes, nulls))
            }
            (Self::Uint64, Digests::Wide(_)) => unreachable!("refused by its name"),
        }
    }
}

/// The bytes of digests one behind the other, and how many a digest has.
fn bytes_of(digests: Digests) -> (usize, Buffer) {
    match digests {
        Digests::Narrow(mut numbers) => {
            // Nothing where numbers are little-endian anyway.
            numbers.iter_mut().for_each(|number| *number = number.to_le());
            (8, Buffer::from_vec(numbers))
        }
        Digests::Wide(digests) => (16, Buffer::from_vec(digests.into_flattened())),
    }
}

fn hex_array(width: usize, bytes: &[u8], nulls: Option<NullBuffer>) -> StringArray {
    let mut digits = vec![0; 2 * bytes.len()];
    hex::encode(bytes, &mut digits);
    let count = bytes.len() / width;
    let offsets: Vec<i32> = (0..=count).map(|row| (2 * width * row) as i32).collect();
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let digits = Buffer::from_vec(digits);
    StringArray::try_new(offsets, digits, nulls).expect("digits are ASCII, at equal distances")
}
