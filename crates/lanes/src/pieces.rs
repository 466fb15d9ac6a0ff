//! Pieces of one buffer given by offsets, as in string columns of Apache Arrow.

/// An offset into a buffer: `u32`, `u64`, `usize`, or `i32` and `i64` as in Apache Arrow.
pub trait Offset: Copy + Ord + sealed::Offset {}

mod sealed {
    pub trait Offset {
        /// The unsigned number of the same width.
        type Distance: Copy + Ord + Into<u64>;

        /// Returns the offset as a number. Negative offsets become numbers larger than any buffer.
        fn to_u64(self) -> u64;

        /// Returns the distance to `other`, modulo the width.
        fn distance_to(self, other: Self) -> Self::Distance;
    }
}

macro_rules! offset {
    ($($number:ty: $distance:ty;)*) => {
        $(impl Offset for $number {}
        impl sealed::Offset for $number {
            type Distance = $distance;

            #[inline(always)]
            fn to_u64(self) -> u64 {
                // Sign extension turns negative numbers into 2^63 and above.
                self as u64
            }

            #[inline(always)]
            fn distance_to(self, other: Self) -> $distance {
                (other as $distance).wrapping_sub(self as $distance)
            }
        })*
    };
}
offset! { u32: u32; u64: u64; usize: u64; i32: u32; i64: u64; }

/// Pieces of a buffer: piece `i` lies from `offsets[i]` to `offsets[i + 1]`.
#[derive(Clone, Copy, Debug)]
pub struct Pieces<'a, O> {
    buffer: &'a [u8],
    /// Ascending, and the last one is at most the length of the buffer.
    offsets: &'a [O],
}

impl<'a, O: Offset> Pieces<'a, O> {
    /// Makes one piece for each two consecutive offsets, so one piece less than offsets.
    ///
    /// # Panics
    /// Panics if an offset is negative, less than the previous one, or beyond the buffer.
    #[inline]
    #[must_use]
    pub fn new(buffer: &'a [u8], offsets: &'a [O]) -> Self {
        // Without a branch per offset, so the compiler compares many at once.
        let rising = offsets.windows(2).fold(true, |all, pair| all & (pair[0] <= pair[1]));
        // The first offset is at most the last one, so it is not negative if its bits are not
        // greater.
        let ends = offsets.first().map(|o| o.to_u64()).zip(offsets.last().map(|o| o.to_u64()));
        let within = ends.is_none_or(|(first, last)| first <= last && last <= buffer.len() as u64);
        if !rising || !within {
            no_pieces(buffer, offsets);
        }
        Self { buffer, offsets }
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
        Self { buffer: self.buffer, offsets: &self.offsets[first..][..=count] }
    }

    /// Returns piece `place`, counted from 0.
    ///
    /// # Panics
    /// Panics if there are fewer pieces.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, place: usize) -> &'a [u8] {
        let [start, end] = [self.offsets[place], self.offsets[place + 1]];
        // SAFETY: `new` checked that the offsets ascend up to at most the length of the buffer, and
        // borrowed numbers do not change.
        unsafe { self.buffer.get_unchecked(start.to_u64() as usize..end.to_u64() as usize) }
    }
}

/// Panics with the first invalid offset.
#[cold]
fn no_pieces<O: Offset>(buffer: &[u8], offsets: &[O]) -> ! {
    let is_wrong = |pair: &[O]| {
        let [start, end] = [pair[0].to_u64(), pair[1].to_u64()];
        start > end || end > buffer.len() as u64
    };
    let length = buffer.len();
    match offsets.windows(2).position(is_wrong) {
        Some(place) => {
            panic!("offsets {place} and {} are no range of a buffer of {length} bytes", place + 1)
        }
        None => panic!("offset 0 is not within a buffer of {length} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::sealed::Offset as _;
    use super::*;

    #[test]
    fn pieces_lie_between_their_offsets() {
        let buffer = [0, 1, 2, 3, 4, 5, 6, 7];
        let pieces = Pieces::new(&buffer, &[1_i32, 1, 4, 8]);
        assert_eq!(pieces.len(), 3);
        assert_eq!([0, 1, 2].map(|place| pieces.get(place)), [&[][..], &[1, 2, 3], &[4, 5, 6, 7]]);
        assert!(Pieces::<u32>::new(&buffer, &[]).is_empty());
        assert!(Pieces::new(&buffer, &[8_u64]).is_empty());
    }

    #[test]
    #[should_panic(expected = "index out of bounds")]
    fn index_past_the_last_piece_panics() {
        let _ = Pieces::new(&[0; 8], &[0_u32, 8]).get(1);
    }

    fn message(offsets: &'static [i64]) -> String {
        let make = move || _ = Pieces::new(&[0; 8], offsets);
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
    fn every_offset_type_converts_to_u64() {
        macro_rules! check {
            ($($number:ty)*) => {
                $(let far = <$number>::MAX / 2;
                assert_eq!(far.to_u64(), (<$number>::MAX / 2) as u64);
                assert_eq!(u64::from((far - 7).distance_to(far)), 7);
                assert_eq!(<$number>::MAX.wrapping_add(3).distance_to(<$number>::MIN + 5), 3);)*
            };
        }
        check! { u32 u64 usize i32 i64 }
        assert_eq!(((-1_i32).to_u64(), (-1_i64).to_u64()), (u64::MAX, u64::MAX));
    }
}
