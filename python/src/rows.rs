//! The rows of Arrow columns of text and bytes, in place.
//!
//! Arrays of other libraries are checked before use, to know that all rows are within their
//! buffers. Lookups still check bounds. Rows that are null are never looked up, because their
//! offsets may be anything.

use arrow_array::cast::AsArray as _;
use arrow_array::types::ByteViewType;
use arrow_array::{Array, GenericByteArray, GenericByteViewArray, types::ByteArrayType};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer};
use arrow_schema::DataType;

use crate::algorithm::Function;
use crate::digests::Places;
use crate::hashes::Offsets;

/// The longest value that is stored in its view.
const INLINE: usize = 12;

/// The rows of an array of bytes.
pub(crate) struct Rows<'a> {
    layout: Layout<'a>,
    /// The nulls of this array. Those of a dictionary's values are separate.
    nulls: Option<&'a NullBuffer>,
    len: usize,
}

/// The location of the rows.
enum Layout<'a> {
    Offsets(&'a [u8], &'a [i32]),
    LargeOffsets(&'a [u8], &'a [i64]),
    /// Views of 16 bytes each, and the buffers of long values.
    Views(&'a [u8], &'a [Buffer]),
    /// Rows of equal length.
    Fixed(&'a [u8], usize),
}

impl<'a> Rows<'a> {
    /// Returns None for arrays of other types; see [`is_bytes`].
    pub(crate) fn of(array: &'a dyn Array) -> Option<Self> {
        let layout = match array.data_type() {
            DataType::Utf8 => offsets(array.as_string::<i32>(), Layout::Offsets),
            DataType::Binary => offsets(array.as_binary::<i32>(), Layout::Offsets),
            DataType::LargeUtf8 => offsets(array.as_string::<i64>(), Layout::LargeOffsets),
            DataType::LargeBinary => offsets(array.as_binary::<i64>(), Layout::LargeOffsets),
            DataType::Utf8View => views(array.as_string_view()),
            DataType::BinaryView => views(array.as_binary_view()),
            DataType::FixedSizeBinary(width) => {
                let array = array.as_fixed_size_binary();
                Layout::Fixed(array.value_data(), usize::try_from(*width).ok()?)
            }
            _ => return None,
        };
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
        Some(Self { layout, nulls, len: array.len() })
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Returns about the total length of all rows.
    pub(crate) fn bytes(&self) -> usize {
        match self.layout {
            Layout::Offsets(_, offsets) => extent(offsets),
            Layout::LargeOffsets(_, offsets) => extent(offsets),
            // A view starts with the length of its row.
            Layout::Views(views, _) => {
                let lengths =
                    views.as_chunks::<16>().0.iter().map(|view| {
                        u32::from_ne_bytes([view[0], view[1], view[2], view[3]]) as usize
                    });
                lengths.take(self.len).sum()
            }
            Layout::Fixed(_, width) => self.len * width,
        }
    }

    /// Returns whether all rows except nulls are within their buffers.
    pub(crate) fn are_sound(&self) -> bool {
        match self.layout {
            Layout::Offsets(bytes, offsets) => ascend(bytes, offsets),
            Layout::LargeOffsets(bytes, offsets) => ascend(bytes, offsets),
            Layout::Views(views, buffers) => (0..self.len).all(|row| {
                self.nulls.is_some_and(|nulls| nulls.is_null(row))
                    || viewed(views, buffers, row).is_some()
            }),
            Layout::Fixed(bytes, width) => {
                self.len.checked_mul(width).is_some_and(|length| length <= bytes.len())
            }
        }
    }

    /// Returns the bytes of a row, or None if it is null.
    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<&'a [u8]> {
        if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return None;
        }
        Some(match self.layout {
            Layout::Offsets(bytes, offsets) => between(bytes, offsets, row),
            Layout::LargeOffsets(bytes, offsets) => between(bytes, offsets, row),
            Layout::Views(views, buffers) => viewed(views, buffers, row).expect("sound views"),
            Layout::Fixed(bytes, width) => &bytes[row * width..][..width],
        })
    }

    /// Writes the digest of each row to its place. The digests of null rows are undefined.
    pub(crate) fn hash(&self, function: &Function, places: Places<'_>) {
        match self.layout {
            // The bytes of null rows are hashed, too, and the digests ignored. The offsets are
            // copied, so that other threads cannot change them between check and use.
            Layout::Offsets(bytes, offsets) => {
                let offsets = offsets.to_vec();
                function.hash_offsets(bytes, Offsets::Small(&offsets), places);
            }
            Layout::LargeOffsets(bytes, offsets) => {
                let offsets = offsets.to_vec();
                function.hash_offsets(bytes, Offsets::Large(&offsets), places);
            }
            Layout::Fixed(bytes, width) if width > 0 => {
                function.hash(bytes.chunks_exact(width).take(self.len), places);
            }
            _ => self.hash_some(function, 0..self.len, places),
        }
    }

    /// Like [`hash`](Self::hash), for the rows with these indices.
    pub(crate) fn hash_some(
        &self,
        function: &Function,
        numbers: impl ExactSizeIterator<Item = usize>,
        places: Places<'_>,
    ) {
        function.hash(numbers.map(|row| self.get(row).unwrap_or_default()), places);
    }
}

/// Returns whether a column of this type, or a dictionary of it, has rows of bytes.
pub(crate) fn is_bytes(data_type: &DataType) -> bool {
    use DataType::*;
    matches!(data_type, Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView)
        || matches!(data_type, FixedSizeBinary(_))
}

fn offsets<'a, T: ByteArrayType>(
    array: &'a GenericByteArray<T>,
    layout: impl Fn(&'a [u8], &'a [T::Offset]) -> Layout<'a>,
) -> Layout<'a> {
    layout(array.value_data(), array.value_offsets())
}

fn views<T: ByteViewType>(array: &GenericByteViewArray<T>) -> Layout<'_> {
    Layout::Views(array.views().inner().as_slice(), array.data_buffers())
}

fn extent<O: ArrowNativeType>(offsets: &[O]) -> usize {
    let [first, .., last] = offsets else { return 0 };
    last.as_usize().saturating_sub(first.as_usize())
}

/// Returns whether offsets never decrease and end within the bytes.
fn ascend<O: ArrowNativeType>(bytes: &[u8], offsets: &[O]) -> bool {
    if offsets.len() < 2 {
        // An array without rows may have an offset, but no bytes.
        return true;
    }
    // Compares all pairs without an early exit, so that the compiler vectorises it.
    let do_rise = offsets.windows(2).fold(true, |rise, ends| rise & (ends[0] <= ends[1]));
    // A negative offset is beyond the end.
    let is_within = |offset: Option<&O>| offset.is_none_or(|at| at.as_usize() <= bytes.len());
    do_rise && is_within(offsets.first()) && is_within(offsets.last())
}

#[inline]
fn between<'a, O: ArrowNativeType>(bytes: &'a [u8], offsets: &[O], row: usize) -> &'a [u8] {
    &bytes[offsets[row].as_usize()..offsets[row + 1].as_usize()]
}

/// Returns the value of a view, or None if it is out of bounds. A view starts with the length. A
/// short value follows directly. For a long value its first four bytes follow, then the index of a
/// buffer and an offset in it. All numbers have 32 bits.
#[inline]
fn viewed<'a>(views: &'a [u8], buffers: &'a [Buffer], row: usize) -> Option<&'a [u8]> {
    let view: &'a [u8; 16] = &views.as_chunks().0[row];
    let number = |at: usize| {
        let bytes = [view[at], view[at + 1], view[at + 2], view[at + 3]];
        u32::from_ne_bytes(bytes) as usize
    };
    let length = number(0);
    if length <= INLINE {
        Some(&view[4..][..length])
    } else {
        buffers.get(number(8))?.get(number(12)..)?.get(..length)
    }
}
