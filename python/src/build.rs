//! Builds Arrow arrays from Python objects.
//!
//! The arrays may need more memory than there is. Arrow's own builders would end the process then.

use std::sync::Arc;

use arrow_array::{ArrayRef, LargeBinaryArray, LargeStringArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::ArrowError;
use pyo3::prelude::*;

use crate::bytes;

/// Rows of text or bytes.
pub(crate) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<i64>,
    present: Bits,
}

impl Texts {
    /// Creates an array of `rows` rows with about `bytes` bytes. More bytes are allocated as
    /// needed.
    pub(crate) fn new(rows: usize, bytes: usize) -> PyResult<Self> {
        let mut ends = bytes::room(rows.saturating_add(1))?;
        ends.push(0);
        Ok(Self { bytes: bytes::room(bytes)?, ends, present: Bits::new(rows)? })
    }

    /// Appends a row, which may be null.
    pub(crate) fn push(&mut self, row: Option<&[u8]>) -> PyResult<()> {
        if let Some(row) = row {
            bytes::append(&mut self.bytes, row)?;
            self.present.set(self.ends.len() - 1);
        }
        self.ends.push(self.bytes.len() as i64);
        Ok(())
    }

    /// Returns an array of text.
    ///
    /// # Errors
    /// If a row is not UTF-8.
    pub(crate) fn text(self) -> Result<ArrayRef, ArrowError> {
        let (ends, bytes, nulls) = self.parts();
        Ok(Arc::new(LargeStringArray::try_new(ends, bytes, nulls)?))
    }

    pub(crate) fn bytes(self) -> ArrayRef {
        let (ends, bytes, nulls) = self.parts();
        Arc::new(LargeBinaryArray::new(ends, bytes, nulls))
    }

    fn parts(self) -> (OffsetBuffer<i64>, Buffer, Option<NullBuffer>) {
        let ends = OffsetBuffer::new(self.ends.into());
        (ends, Buffer::from_vec(self.bytes), self.present.nulls())
    }
}

/// A bit for each row, 0 at first.
pub(crate) struct Bits {
    bytes: Vec<u8>,
    rows: usize,
}

impl Bits {
    pub(crate) fn new(rows: usize) -> PyResult<Self> {
        Ok(Self { bytes: bytes::zeros(rows.div_ceil(8))?, rows })
    }

    #[inline]
    pub(crate) fn set(&mut self, row: usize) {
        self.bytes[row / 8] |= 1 << (row % 8);
    }

    pub(crate) fn buffer(self) -> BooleanBuffer {
        BooleanBuffer::new(Buffer::from_vec(self.bytes), 0, self.rows)
    }

    /// Returns nulls for the rows whose bit is 0.
    pub(crate) fn nulls(self) -> Option<NullBuffer> {
        Some(NullBuffer::new(self.buffer())).filter(|nulls| nulls.null_count() > 0)
    }
}
