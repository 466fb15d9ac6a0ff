//! Pieces of one buffer by their offsets.

/// An offset into a buffer: `u32`, `u64`, `usize`, and Arrow's `i32` and `i64`.
pub trait Offset: Copy + sealed::Offset {}

mod sealed {
    pub trait Offset {
        /// `None` where memory does not reach: below zero, or beyond the address space.
        fn to_usize(self) -> Option<usize>;
    }
}

macro_rules! offset {
    ($($number:ty)*) => {
        $(impl Offset for $number {}
        impl sealed::Offset for $number {
            #[inline(always)]
            fn to_usize(self) -> Option<usize> {
                self.try_into().ok()
            }
        })*
    };
}
offset! { u32 u64 usize i32 i64 }

/// Piece `place` of a buffer.
///
/// # Panics
/// When its offsets are no range of the buffer.
#[inline(always)]
pub(crate) fn piece<'a, O: Offset>(buffer: &'a [u8], offsets: &[O], place: usize) -> &'a [u8] {
    let range = offsets[place].to_usize().zip(offsets[place + 1].to_usize());
    let piece = range.and_then(|(start, end)| buffer.get(start..end));
    piece.unwrap_or_else(|| no_piece(buffer.len(), place))
}

#[cold]
fn no_piece(buffer: usize, place: usize) -> ! {
    panic!("offsets {place} and {} are no range of a buffer of {buffer} bytes", place + 1)
}
