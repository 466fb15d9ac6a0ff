//! Pieces of one buffer given by offsets, as in string columns of Apache Arrow.

/// An offset into a buffer: `u32`, `u64`, `usize`, or `i32` and `i64` as in Apache Arrow.
pub trait Offset: Copy + Ord + sealed::Offset {}

mod sealed {
    use super::Offsets;

    pub trait Offset: Sized {
        /// The largest offset.
        const MAX: u64;

        /// Returns the same offsets as unsigned numbers. Negative ones become numbers above `MAX`.
        fn unsigned(offsets: &[Self]) -> Offsets<'_>;
    }
}

/// Offsets of any type as unsigned numbers, so that code for them is compiled once.
#[derive(Clone, Copy, Debug)]
pub enum Offsets<'a> {
    /// Of 32 bits.
    U32(&'a [u32]),
    /// Of 64 bits.
    U64(&'a [u64]),
}

macro_rules! offset {
    ($($number:ty: $unsigned:ident as $variant:ident;)*) => {
        $(impl Offset for $number {}
        impl sealed::Offset for $number {
            const MAX: u64 = <$number>::MAX as u64;

            #[inline]
            fn unsigned(offsets: &[Self]) -> Offsets<'_> {
                const { assert!(size_of::<$number>() == size_of::<$unsigned>()) };
                let (start, count) = (offsets.as_ptr().cast::<$unsigned>(), offsets.len());
                // SAFETY: both types are integers of the same width.
                Offsets::$variant(unsafe { core::slice::from_raw_parts(start, count) })
            }
        })*
    };
}
offset! { u32: u32 as U32; u64: u64 as U64; i32: u32 as U32; i64: u64 as U64; }
#[cfg(target_pointer_width = "64")]
offset! { usize: u64 as U64; }
#[cfg(target_pointer_width = "32")]
offset! { usize: u32 as U32; }

impl<'a> Offsets<'a> {
    /// Returns the number of offsets.
    #[inline(always)]
    const fn len(self) -> usize {
        match self {
            Self::U32(offsets) => offsets.len(),
            Self::U64(offsets) => offsets.len(),
        }
    }

    /// Returns the offset at a place.
    ///
    /// # Panics
    /// Panics if there are fewer offsets.
    #[inline(always)]
    const fn get(self, place: usize) -> u64 {
        match self {
            Self::U32(offsets) => offsets[place] as u64,
            Self::U64(offsets) => offsets[place],
        }
    }

    /// Returns `count` offsets from place `first` on.
    #[inline(always)]
    fn range(self, first: usize, count: usize) -> Self {
        match self {
            Self::U32(offsets) => Self::U32(&offsets[first..][..count]),
            Self::U64(offsets) => Self::U64(&offsets[first..][..count]),
        }
    }
}

/// A buffer and offsets that are not checked yet. Piece `i` is to lie from offset `i` to the next.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// The buffer, as far as its offsets can reach. So negative offsets lie beyond it.
    pub(crate) buffer: &'a [u8],
    pub(crate) offsets: Offsets<'a>,
    /// The length of the whole buffer.
    length: usize,
}

impl<'a> Column<'a> {
    /// Makes a column of one piece less than offsets.
    #[inline]
    #[must_use]
    pub fn new<O: Offset>(buffer: &'a [u8], offsets: &'a [O]) -> Self {
        let length = buffer.len();
        let reached = usize::try_from(O::MAX).map_or(length, |most| most.min(length));
        Self { buffer: &buffer[..reached], offsets: O::unsigned(offsets), length }
    }

    /// Returns the number of pieces.
    #[inline(always)]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Returns whether there are no pieces.
    #[inline(always)]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `count` pieces starting at piece `first`.
    ///
    /// # Panics
    /// Panics if there are fewer pieces.
    #[inline(always)]
    #[must_use]
    pub fn range(&self, first: usize, count: usize) -> Self {
        Self { offsets: self.offsets.range(first, count + 1), ..*self }
    }

    /// Checks the offsets.
    ///
    /// # Panics
    /// Panics if an offset is negative, less than the previous one, or beyond the buffer.
    #[must_use]
    pub fn pieces(self) -> Pieces<'a> {
        let rising = match self.offsets {
            Offsets::U32(offsets) => is_rising(offsets),
            Offsets::U64(offsets) => is_rising(offsets),
        };
        let count = self.offsets.len();
        if !rising || count > 0 && self.offsets.get(count - 1) > self.buffer.len() as u64 {
            self.no_pieces();
        }
        Pieces(self)
    }

    /// Panics with the first invalid offset.
    #[cold]
    fn no_pieces(self) -> ! {
        let (length, most) = (self.length, self.buffer.len() as u64);
        let ends = |place| [self.offsets.get(place), self.offsets.get(place + 1)];
        let is_wrong = |&place: &usize| {
            let [start, end] = ends(place);
            start > end || end > most
        };
        match (0..self.len()).find(is_wrong) {
            Some(place) => {
                panic!(
                    "offsets {place} and {} are no range of a buffer of {length} bytes",
                    place + 1
                )
            }
            None => panic!("offset 0 is not within a buffer of {length} bytes"),
        }
    }
}

/// Returns whether no number is less than the previous one.
fn is_rising<N: Copy + Ord>(numbers: &[N]) -> bool {
    // Without a branch per number, so the compiler compares many at once.
    let mut rising = true;
    for place in 1..numbers.len() {
        rising &= numbers[place - 1] <= numbers[place];
    }
    rising
}

/// Pieces of a buffer, whose offsets are checked. Made by [`Column::pieces`].
#[derive(Clone, Copy, Debug)]
pub struct Pieces<'a>(
    /// The offsets ascend, and the last one is at most the length of the buffer.
    Column<'a>,
);

impl<'a> Pieces<'a> {
    /// Returns `count` pieces starting at piece `first`.
    ///
    /// # Panics
    /// Panics if there are fewer pieces.
    #[inline(always)]
    #[must_use]
    pub fn range(&self, first: usize, count: usize) -> Self {
        Self(self.0.range(first, count))
    }

    /// Returns piece `place`, counted from 0.
    ///
    /// # Panics
    /// Panics if there are fewer pieces.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, place: usize) -> &'a [u8] {
        let [start, end] = [self.0.offsets.get(place), self.0.offsets.get(place + 1)];
        // SAFETY: `Column::pieces` checked that the offsets ascend up to at most the length of the
        // buffer, and borrowed numbers do not change.
        unsafe { self.0.buffer.get_unchecked(start as usize..end as usize) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_lie_between_their_offsets() {
        let buffer = [0, 1, 2, 3, 4, 5, 6, 7];
        let column = Column::new(&buffer, &[1_i32, 1, 4, 8]);
        assert_eq!(column.len(), 3);
        let pieces = column.pieces();
        assert_eq!([0, 1, 2].map(|place| pieces.get(place)), [&[][..], &[1, 2, 3], &[4, 5, 6, 7]]);
        for empty in [Column::new::<u32>(&buffer, &[]), Column::new(&buffer, &[8_u64])] {
            assert!(empty.is_empty());
            let _ = empty.pieces();
        }
    }

    #[test]
    #[should_panic(expected = "index out of bounds")]
    fn index_past_the_last_piece_panics() {
        let _ = Column::new(&[0; 8], &[0_u32, 8]).pieces().get(1);
    }

    fn message(offsets: &'static [i64]) -> String {
        let make = move || _ = Column::new(&[0; 8], offsets).pieces();
        *std::panic::catch_unwind(make).unwrap_err().downcast::<String>().unwrap()
    }

    #[test]
    fn falling_or_out_of_range_offsets_are_refused() {
        let text = |place| {
            format!("offsets {place} and {} are no range of a buffer of 8 bytes", place + 1)
        };
        assert_eq!(message(&[0, 4, 3, 8]), text(1));
        assert_eq!(message(&[0, 4, 9]), text(1));
        assert_eq!(message(&[-1, 4, 8]), text(0));
        assert_eq!(message(&[0, 4, -1]), text(1));
        assert_eq!(message(&[-4, -3, -1]), text(0));
        assert_eq!(message(&[9]), "offset 0 is not within a buffer of 8 bytes");
        assert_eq!(message(&[-1]), "offset 0 is not within a buffer of 8 bytes");
    }

    #[test]
    fn every_offset_type_gives_the_same_pieces() {
        let buffer = [0, 1, 2, 3, 4, 5, 6, 7];
        macro_rules! check {
            ($($number:ty)*) => {
                $(let pieces = Column::new(&buffer, &[1 as $number, 1, 4, 8]).pieces();
                assert_eq!([1, 2].map(|place| pieces.get(place)), [&buffer[1..4], &buffer[4..]]);)*
            };
        }
        check! { u32 u64 usize i32 i64 }
    }
}
